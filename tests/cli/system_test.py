#!/usr/bin/python3
"""A user's own equations: in a configuration file, on the command line, in what info says."""

import json
import re

import support
from support import ProgramTest

GOOD = """output = "model.kalmia"

[data]
file = "swing.csv"
measure = ["y1"]

[model]
noise = 0.1
hidden = 0

[system]
states = ["angle", "rate"]
substeps = 2

[system.parameters]
gravity = {value = 5, learn = true, lower = 0}
damping = 0.1

[system.define]
push = "-gravity*sin(angle)"
brake = "damping*rate"
force = "push - brake"

[system.ode]
angle = "rate"
rate = "force"

[system.measure]
y1 = "angle"

[system.initial]
rate = {mean = 0, std = 3}
"""

# The same on the command line.
OPTIONS = ("--measure", "y1", "--noise", "0.1", "--hidden", "0", "--states", "angle,rate",
           "--substeps", "2", "--parameter", "gravity = 5 in 0..", "--parameter", "damping=0.1",
           "--define", "push = -gravity*sin(angle)", "--define", "brake = damping*rate", "--define",
           "force = push - brake", "--ode", "angle = rate", "--ode", "rate = force",
           "--measure-as", "y1 = angle", "--initial", "rate = 0 +- 3")


class SystemTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.succeed("simulate", "pendulum", "--steps", 400, "-o", "swing.csv")

    def write(self, text):
        (self.folder / "fit.toml").write_text(text)

    def changed(self, *replacements):
        """GOOD with replacements, each of which must have something to replace."""
        text = GOOD
        for old, new in replacements:
            self.assertIn(old, text)
            text = text.replace(old, new)
        return text

    def line(self, text, part):
        """`fit.toml:N: ` of the first line that begins with `part`."""
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith(part):
                return f"kalmia fit: fit.toml:{number}: "
        raise AssertionError(f"no line begins with {part}")

    def refuse(self, replacements, part, *fragments):
        """The file is refused with one line that names the line that begins with `part`."""
        text = self.changed(*replacements)
        self.write(text)
        said = self.fail_with(2, ["fit", "fit.toml"], [self.line(text, part), *fragments])
        self.assertEqual(len(said.splitlines()), 1, said)

    def refuse_options(self, options, *fragments):
        said = self.fail_with(2, ["fit", "swing.csv", "-o", "a.kalmia", *options], fragments)
        self.assertEqual(len(said.splitlines()), 1, said)

    def parameters(self, model):
        info = json.loads(self.succeed("info", model, "--json"))
        return {each["name"]: each for each in info["theta"]}


class Configuration(SystemTest):
    def test_learns_the_parameter_and_says_so(self):
        self.write(GOOD)
        text = self.succeed("fit", "fit.toml")
        self.assertRegex(text, r"(?m)^learned: gravity (9\.\d+|10|10\.\d+) \+- 0\.\d+$")
        summary = json.loads(self.succeed("fit", "fit.toml", "--json"))
        self.assertEqual([each["name"] for each in summary["static"]["parameters"]], ["gravity"])
        self.assertEqual(summary["static"]["parameters"][0]["lower"], 0)
        self.assertIsNone(summary["static"]["parameters"][0]["upper"])
        self.assertEqual(summary["static"]["prior"], "system")
        # By theory: twice the frequency times sqrt(damping / 20 s), 0.44.
        self.assertEqual(summary["static"]["parameters"][0]["state"], "determined")
        self.assertAlmostEqual(summary["static"]["parameters"][0]["standard_error"], 0.44, delta=0.2)
        found = self.parameters("model.kalmia")
        self.assertEqual(list(found), ["gravity", "damping"])
        # Its standard error: twice the frequency times sqrt(damping / 20 s), 0.44.
        self.assertAlmostEqual(found["gravity"]["value"], 9.81, delta=1)
        self.assertEqual(found["gravity"]["value"], summary["static"]["parameters"][0]["value"])
        self.assertEqual(found["damping"], {"name": "damping", "value": 0.1, "learned": False,
                                            "lower": None, "upper": None})

    def test_info_shows_equations_and_parameters(self):
        self.write(GOOD)
        self.succeed("fit", "fit.toml")
        text = self.succeed("info", "model.kalmia")
        self.assertRegex(text, r"(?m)^parameters: +gravity [\d.]+ \+- [\d.]+ \(learned, in 0\.\.\), damping 0.1$")
        for line in ("push = -gravity*sin(angle)", "dangle/dt = rate", "drate/dt = force",
                     "measured y1 = angle", "initial rate = 0 +- 3"):
            self.assertRegex(text, rf"(?m)^ +{re.escape(line)}$")

    def test_definitions_keep_their_order(self):
        # Neither the alphabet's order nor its reverse.
        self.write(self.changed(("push =", "m ="), ("brake =", "z ="), ("force =", "a ="),
                                ('"push - brake"', '"m - z"'), ('"force"', '"a"')))
        self.succeed("fit", "fit.toml")
        self.refuse([("push =", "m ="), ("brake =", "z ="), ('"push - brake"', '"m - later"')],
                    "force =", 'system.define.force = "m - later", character 5')

    def test_numbers_stand_for_expressions(self):
        self.write(self.changed(("learn = true, lower = 0", "learn = false"),
                                ('rate = "force"', "rate = -2"), ('y1 = "angle"', 'y1 = "2*angle"'),
                                ('brake = "damping*rate"', "brake = 1.5e-7")))
        self.succeed("fit", "fit.toml")
        self.assertIn("drate/dt = -2", self.succeed("info", "model.kalmia"))
        self.assertIn("brake = 1.5e-07", self.succeed("info", "model.kalmia"))

    def test_matrix_and_next(self):
        ode = 'angle = "rate"\nrate = "force"\n'
        self.write(self.changed(("[system.ode]\n" + ode, ""),
                                ("substeps = 2", 'matrix = [[0, 1.0], ["-gravity", "-damping"]]')))
        self.succeed("fit", "fit.toml")
        self.assertIn("row of drate/dt: -gravity, -damping", self.succeed("info", "model.kalmia"))
        self.write(self.changed(("[system.ode]", "[system.next]"), ("substeps = 2", ""),
                                ('angle = "rate"', 'angle = "angle + dt*rate"'),
                                ('rate = "force"', 'rate = "rate + dt*force"')))
        self.succeed("fit", "fit.toml")
        self.assertIn("next angle = angle + dt*rate", self.succeed("info", "model.kalmia"))

    def test_a_measurement_that_is_not_linear_is_used(self):
        self.write(self.changed(('y1 = "angle"', 'y1 = "sin(angle)"'),
                                ("rate = {mean", "angle = {mean = 0.5, std = 1}\nrate = {mean")))
        self.succeed("fit", "fit.toml")
        header, *rows = self.succeed("smooth", "model.kalmia", "swing.csv").splitlines()
        column = header.split(",").index("angle_std")
        deviations = sorted(float(row.split(",")[column]) for row in rows)
        self.assertLess(deviations[len(deviations) // 2], 0.2)

    def test_states_may_be_left_out(self):
        self.write(GOOD)
        self.succeed("fit", "fit.toml")
        before = (self.folder / "model.kalmia").read_bytes()
        self.write(self.changed(('states = ["angle", "rate"]\n', "")))
        self.succeed("fit", "fit.toml")
        self.assertEqual((self.folder / "model.kalmia").read_bytes(), before)

    def test_inputs(self):
        lines = (self.folder / "swing.csv").read_text().splitlines()
        (self.folder / "swing.csv").write_text(
            "\n".join([lines[0] + ",torque", *(f"{line},0.5" if k % 2 else f"{line},-0.5"
                                               for k, line in enumerate(lines[1:]))]) + "\n")
        data = ('measure = ["y1"]', 'measure = ["y1"]\ninputs = ["torque"]')
        force = ('"push - brake"', '"push - brake + torque"')
        self.write(self.changed(data, force))
        self.succeed("fit", "fit.toml")
        left_out = (self.folder / "model.kalmia").read_bytes()
        named = ("substeps = 2", 'substeps = 2\ninputs = ["torque"]')
        self.write(self.changed(data, force, named))
        self.succeed("fit", "fit.toml")
        self.assertEqual((self.folder / "model.kalmia").read_bytes(), left_out)
        self.refuse([named], "inputs =", 'system.inputs: "torque" is no input column')


class Mistakes(SystemTest):
    def test_unknown_keys(self):
        self.refuse([("learn = true", "lern = true, learn = true")], "gravity =",
                    "unknown key system.parameters.gravity.lern; did you mean "
                    "system.parameters.gravity.learn?")
        self.refuse([("std = 3", "sd = 2, std = 3")], "rate = {", "unknown key system.initial.rate.sd",
                    "did you mean system.initial.rate.std?")
        self.refuse([("substeps", "substep")], "substep",
                    "unknown key system.substep; did you mean system.substeps?")
        self.refuse([("[system.define]", "[system.defined]")], "[system.defined",
                    "unknown key system.defined; did you mean system.define?")

        self.refuse([("mean = 0", "colour = 0")], "rate = {", "unknown key system.initial.rate.colour\n")
        self.refuse([("substeps = 2", "train = 2")], "train",
                    "unknown key system.train; did you mean train?")

    def test_wrong_types(self):
        expression = "but it must be an expression as text, or a number"
        self.refuse([('rate = "force"', "rate = true")], "rate = true",
                    "system.ode.rate = true, " + expression)
        self.refuse([('rate = "force"', "rate = inf")], "rate = inf", "system.ode.rate = inf, ")
        self.refuse([("damping = 0.1", "damping = '0.1'")], "damping",
                    "system.parameters.damping = '0.1', but it must be a number or a table")
        self.refuse([("learn = true", "learn = 1")], "gravity",
                    "system.parameters.gravity.learn = 1, but it must be true or false")
        self.refuse([("{mean = 0, std = 3}", "3")], "rate = 3",
                    "system.initial.rate = 3, but it must be a table: {mean = 0, std = 1}")
        self.refuse([("substeps = 2", "substeps = 2.5")], "substeps",
                    "system.substeps = 2.5, but it must be a whole number")
        self.refuse([("substeps = 2", "matrix = [1, 2]")], "matrix",
                    "system.matrix = [ 1, 2 ], but it must be an array of rows")
        self.refuse([("substeps = 2", "matrix = [[1, 2], [3, true]]")], "matrix",
                    "system.matrix, row 2, column 2 = true, " + expression)
        self.refuse([('[system.measure]\ny1 = "angle"', ""), ("substeps = 2", "measure = 3")],
                    "measure = 3", "system.measure = 3, but it must be a table: [system.measure]")

    def test_incomplete_entries(self):
        self.refuse([("value = 5, ", "")], "gravity", "system.parameters.gravity has no value")
        self.refuse([("learn = true, ", "")], "gravity",
                    "system.parameters.gravity has bounds, but it is not learned; add learn = true")
        self.refuse([(", std = 3", "")], "rate = {", "system.initial.rate has no std")

    def test_all_at_once_in_the_order_of_the_file(self):
        self.write(self.changed(("std = 3", "sd = 3"), ("damping = 0.1", "damping = true"),
                                ("hidden = 0", "hiden = 0")))
        said = self.fail_with(2, ["fit", "fit.toml"])
        lines = [int(number) for number in re.findall(r"fit\.toml:(\d+):", said)]
        self.assertEqual(len(lines), 4, said)
        self.assertEqual(lines, sorted(lines), said)

    def test_expressions(self):
        self.refuse([('"push - brake"', '"push - brke"')], "force",
                    'system.define.force = "push - brke", character 8', "did you mean brake?")
        self.refuse([('"force"', '"1/0"')], 'rate = "1/0"',
                    'system.ode.rate = "1/0", character 2: division by zero')
        self.refuse([('"force"', '"force +"')], 'rate = "force', 'system.ode.rate = "force +"')
        self.refuse([('y1 = "angle"', 'y1 = "angel"')], "y1", 'system.measure.y1 = "angel"')

    def test_shapes(self):
        ode = '[system.ode]\nangle = "rate"\nrate = "force"\n'
        self.refuse([(ode, ""), ("substeps = 2", "matrix = [[0, 1], [2]]")], "matrix",
                    "system.matrix, row 2 has 1 entries, but there are 2 states")
        self.refuse([(ode, ""), ("substeps = 2", "matrix = [\n[0, 1],\n[2, 3],\n[4, 5]]")], "matrix",
                    "system.matrix has 3 rows, but there are 2 states")
        self.refuse([('rate = "force"\n', "")], "[system.ode]",
                    "system.ode: the equation of state rate is missing")
        self.refuse([(ode, "")], "[system]", "system: none of ode, matrix and next is given")
        self.refuse([("y1 = \"angle\"", "y2 = \"angle\"")], "y2",
                    "system.measure.y2: the data have no measured column of that name")

    def test_a_column_that_nothing_explains(self):
        (self.folder / "swing.csv").write_text("y1,y10\n1,2\n2,3\n3,4\n")
        # At the table; the entry y1 is another.
        self.refuse([('["y1"]', '["y1", "y10"]')], "[system.measure]", "system.measure.y10 is missing")

    def test_a_state_that_nothing_shows(self):
        self.refuse([('"angle", "rate"', '"angle", "rate", "w"'),
                     ('rate = "force"', 'rate = "force"\nw = "-w"')], "states",
                    "system: state w cannot be seen")

    def test_noise_that_is_no_covariance(self):
        (self.folder / "swing.csv").write_text(
            "y1,y2\n" + "\n".join(f"{k % 7},{k % 5}" for k in range(100)) + "\n")
        two = [('["y1"]', '["y1", "y2"]'), ('y1 = "angle"', 'y1 = "angle"\ny2 = "rate"')]
        self.refuse([*two, ("noise = 0.1", "noise = [[1, 2], [2, 1]]")], "noise",
                    'model.noise = "1,2;2,1": ', "positive definite")
        self.refuse([*two, ("noise = 0.1", "noise = [[1, 2]]")], "noise",
                    "model.noise = [ [ 1, 2 ] ], but it must be")

    def test_values(self):
        self.refuse([("lower = 0", "lower = 6")], "gravity",
                    "system.parameters.gravity: the value is 5, but learning must start between the "
                    "bounds 6 and inf")
        self.refuse([("substeps = 2", "substeps = -1")], "substeps", "system.substeps = -1, but it must be")
        self.refuse([("substeps = 2", "flow = 'euler'")], "flow", 'system.flow = "euler", but it must be')
        self.refuse([("gravity =", "sin =")], "[system.parameters]", '"sin" is taken by the function')

    def test_a_learned_parameter_that_nothing_uses(self):
        self.refuse([('"force"', '"-angle"')], "gravity",
                    "system.parameters.gravity: it is to be learned, but no equation uses it")

    def test_equations_that_run_away(self):
        self.write(self.changed(("learn = true, lower = 0", "learn = false"),
                                ('"force"', '"1e300*exp(100*angle)"')))
        for tails in ("gaussian", "4"):
            self.fail_with(4, ["fit", "fit.toml", "-q", "--tails", tails],
                           ["kalmia fit: fit.toml: the likelihood is not finite at the starting point",
                            "the states run away"])

    def test_equations_that_are_not_defined_where_the_states_start(self):
        self.write(self.changed(("learn = true, lower = 0", "learn = false"),
                                ('"force"', '"force/rate"')))
        text = (self.folder / "fit.toml").read_text()
        line = text[:text.index('rate = "force/rate"')].count("\n") + 1
        self.fail_with(4, ["fit", "fit.toml", "-q"],
                       [f"kalmia fit: fit.toml:{line}: system.ode.rate: the expression or its derivative "
                        "is not finite where the states start (angle = ", "rate = 0); does it divide by "
                        "zero there?"])

    def test_parts_are_added_to_equations(self):
        self.write(self.changed(("hidden = 0", 'hidden = 0\nprior = "system + memory(2)"')))
        said = self.succeed("fit", "fit.toml")
        self.assertIn("static model (system + memory(2)): loss ", said)
        self.assertIn("found: system, variations that last ", said)
        shown = self.succeed("info", "model.kalmia")
        self.assertIn("    y1: memory, 40 steps\n", shown)
        header = self.succeed("smooth", "model.kalmia", "swing.csv", "--parts").splitlines()[0]
        self.assertEqual([name for name in header.split(",") if not name.endswith("_std")],
                         ["t", "y1", "angle", "rate", "y1_memory", "y1:system", "y1:memory"])
        self.succeed("fit", "swing.csv", *OPTIONS, "--prior", "system + memory(2)", "-o",
                     "other.kalmia")
        self.assertEqual((self.folder / "model.kalmia").read_bytes(),
                         (self.folder / "other.kalmia").read_bytes())
        # A file's equations stay where an option adds parts to them.
        self.succeed("fit", "fit.toml", "--prior", "system; y1: level", "-o", "level.kalmia")
        self.assertIn("y1: level\n", self.succeed("info", "level.kalmia"))
        self.fail_with(2, ["fit", "fit.toml", "--prior", "system + levl"],
                       ['--prior: part "levl", but a part must be level'])
        self.fail_with(2, ["fit", "fit.toml", "--prior", "lorenz + level", "--parameter", "damping=0.1"],
                       ['add parts to the equations: --prior "system + level"'])

    def test_contradictions(self):
        self.refuse([("hidden = 0", "prior = 'lorenz'")], "prior",
                    'model.prior = "lorenz", but the file has equations in [system]')
        self.refuse([("hidden = 0", "substeps = 4")], "substeps = 4",
                    "model.substeps does not apply to the equations in [system]")


class Options(SystemTest):
    def test_the_same_as_the_file(self):
        self.write(GOOD)
        self.succeed("fit", "fit.toml")
        self.succeed("fit", "swing.csv", *OPTIONS, "-o", "other.kalmia")
        self.assertEqual((self.folder / "model.kalmia").read_bytes(),
                         (self.folder / "other.kalmia").read_bytes())

    def test_override_the_file(self):
        self.write(GOOD)
        self.succeed("fit", "fit.toml", "--parameter", "gravity = 9.81", "--parameter",
                     "damping = 0.2 in 0..1")
        found = self.parameters("model.kalmia")
        self.assertEqual(list(found), ["gravity", "damping"])
        self.assertEqual((found["gravity"]["value"], found["gravity"]["learned"]), (9.81, False))
        self.assertEqual((found["damping"]["lower"], found["damping"]["upper"]), (0, 1))
        self.succeed("fit", "fit.toml", "--define", "push = -gravity*angle", "--flow", "taylor",
                     "--order", 3)
        info = self.succeed("info", "model.kalmia")
        self.assertRegex(info, r"(?m)^ +push = -gravity\*angle\n +brake = ")
        self.assertRegex(info, r"(?m)^ +flow: +taylor\n +order: +3$")
        self.succeed("fit", "fit.toml", "--prior", "constant-velocity")
        self.assertNotIn("gravity", self.succeed("info", "model.kalmia"))

    def test_states_are_those_of_the_equations(self):
        self.succeed("fit", "swing.csv", "--hidden", 0, "--ode", "y1 = v", "--ode",
                     "v = -k*sin(y1)", "--parameter", "k = 5 learn", "-o", "a.kalmia")
        self.assertAlmostEqual(self.parameters("a.kalmia")["k"]["value"], 9.81, delta=1)
        self.succeed("fit", "swing.csv", "--hidden", 0, "--next", "y1 = 0.9*y1", "-o", "a.kalmia")

    def test_parameter_grammar(self):
        rest = ("--hidden", 0, "--next", "y1 = k*y1", "-o", "a.kalmia")
        for text, value, learned, lower, upper in (
                ("k = 0.9", 0.9, False, None, None), ("k=-1e-1", -0.1, False, None, None),
                ("k = 0.5 learn", None, True, None, None), ("k = 0.5 in 0..1", None, True, 0, 1),
                ("k = 0.5 in ..1.5", None, True, None, 1.5),
                ("k = 0.5 in -2.5 ..", None, True, -2.5, None)):
            with self.subTest(text=text):
                self.succeed("fit", "swing.csv", "--parameter", text, *rest)
                found = self.parameters("a.kalmia")["k"]
                if value is not None:
                    self.assertEqual(found["value"], value)
                self.assertEqual((found["learned"], found["lower"], found["upper"]),
                                 (learned, lower, upper))

    def test_bad_grammar(self):
        for option, text, why in (
                ("--ode", "x1 sigma", "there is no =, but it must be NAME = EXPRESSION"),
                ("--ode", "= 3", "there is no name before the ="),
                ("--next", "x =", "there is nothing after the ="),
                ("--parameter", "k = two", '"two" is no number'),
                ("--parameter", "k = 2 learned", '"learned" follows the number'),
                ("--parameter", "k = 2 in 5", '"5" is no range'),
                ("--parameter", "k = 2 in ..", "the range has no bound"),
                ("--parameter", "k = 2 in a..b", '"a" is no number'),
                ("--parameter", "k = inf", '"inf" is no number'),
                ("--initial", "v = 3", "there is no +-, but it must be NAME = MEAN +- STD"),
                ("--initial", "v = 3 +-", "a number is missing")):
            with self.subTest(text=text):
                self.refuse_options([option, text], f'kalmia fit: {option} "{text}": {why}')

    def test_mistakes_name_the_option(self):
        self.refuse_options(["--ode", "y1 = 1/0"], '--ode y1 = "1/0", character 2: division by zero')
        self.refuse_options(["--ode", "y1 = y1", "--parameter", "k = 5 in 0..1"],
                            "kalmia fit: --parameter k: the value is 5")
        self.refuse_options(["--ode", "y1 = -y1", "--initial", "w = 0 +- 1"],
                            "kalmia fit: --initial w: there is no state")
        self.refuse_options(["--ode", "y1 = -y1", "--measure-as", "y3 = y1"], "--measure-as y3: ")
        self.refuse_options(["--states", "y1,w", "--ode", "y1 = -y1"],
                            "--ode: the equation of state w is missing")
        self.refuse_options(["--parameter", "k = 5"], "system.states is empty")
        self.refuse_options(["--ode", "y1 = -y1", "--prior", "lorenz"],
                            "--prior lorenz and --ode: states move by a prior or by equations")
        self.refuse_options(["--ode", "y1 = -y1", "--substeps", "101"], "kalmia fit: --substeps")
        self.write(GOOD)
        self.fail_with(2, ["fit", "fit.toml", "--ode", "rate = forc"],
                       ['kalmia fit: --ode rate = "forc", character 1'])
        self.fail_with(2, ["fit", "fit.toml", "--noise", "0.1,0.2"],
                       ['kalmia fit: --noise = "0.1,0.2"'])
        self.fail_with(4, ["fit", "fit.toml", "--measure-as", "y1 = angle/rate", "-q"],
                       ["kalmia fit: --measure-as y1: the expression or its derivative is not finite"])
        (self.folder / "two.csv").write_text(
            "y1,y2\n" + "\n".join(f"{k % 7},{k % 5}" for k in range(100)) + "\n")
        two = ["fit", "two.csv", "-o", "m.kalmia"]
        self.fail_with(2, [*two, "--noise", "1,2;2,1"],
                       ['kalmia fit: --noise = "1,2;2,1": R has the eigenvalue -1, but it must be '
                        "positive definite"])
        self.fail_with(2, [*two, "--ode", "y1 = -y1"],
                       ["system.measure.y2 is missing: the measured column y2 is no state"])
        self.fail_with(2, [*two, "--ode", "a = -a", "--measure-as", "y1 = a"],
                       ["kalmia fit: --measure-as y2 is missing: the measured column y2 is no state"])


if __name__ == "__main__":
    support.main()
