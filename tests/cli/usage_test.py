#!/usr/bin/python3
"""Wrong commands, options and arguments: exit code 2 and a message that helps."""

import support
from support import COMMANDS, ProgramTest


class Suggestions(ProgramTest):
    def test_command(self):
        self.fail_with(2, ["smoth"], ["kalmia: unknown command smoth; did you mean smooth?"])
        self.fail_with(2, ["fti"], ["did you mean fit?"])
        self.assertNotIn("did you mean", self.fail_with(2, ["zzz"], ["unknown command zzz"]))

    def test_option(self):
        self.fail_with(2, ["fit", "x.csv", "--hiden", "8"],
                       ["kalmia fit: unknown option --hiden; did you mean --hidden?"])
        self.fail_with(2, ["fit", "--learning_rate=1", "x.csv"], ["did you mean --learning-rate?"])
        self.fail_with(2, ["--versoin"], ["did you mean --version?"])

    def test_system(self):
        self.fail_with(2, ["simulate", "lorentz"], ["unknown system lorentz; did you mean lorenz?"])

    def test_prior(self):
        self.track()
        self.fail_with(2, ["fit", "track.csv", "-o", "m", "--prior", "constant-velocty"],
                       ["constant-velocty", "constant-velocity"])


class Arguments(ProgramTest):
    def test_missing_and_extra(self):
        for command in COMMANDS:
            if command not in ("simulate", "bench"):
                with self.subTest(command=command):
                    self.fail_with(2, [command], ["is required", f"usage: kalmia {command}"])
        self.fail_with(2, ["simulate"], ["SYSTEM is required"])
        self.fail_with(2, ["info", "a", "b"], ['"b" is one argument too many'])
        self.fail_with(2, ["fit", "x.csv", "--window"], ["--window needs a value"])

    def test_values(self):
        for option, value, rule in (("--window", "abc", "whole number"),
                                    ("--window", "3.5", "whole number"),
                                    ("--window", "99999999999", "whole number"),
                                    ("--seed", "-1", "whole number >= 0"),
                                    ("--learning-rate", "fast", "a number"),
                                    ("--learning-rate", "1e999", "a number"),
                                    ("--learning-rate", "nan", "a number"),
                                    ("--decoder", "8,x", "whole numbers")):
            with self.subTest(option=option, value=value):
                self.fail_with(2, ["fit", "x.csv", option, value], [option, value.split(",")[-1], rule])
        self.model()
        self.fail_with(2, ["forecast", "track.kalmia", "track.csv", "--horizon", "0"], [">= 1"])
        self.fail_with(2, ["sample", "track.kalmia", "track.csv", "--count", "0"], [">= 1"])
        self.fail_with(2, ["evaluate", "track.kalmia", "track.csv", "--hide", "2"], ["hide", "2"])

    def test_an_instruction_set_that_is_none_is_refused_by_every_command(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                self.fail_with(2, [command, "--isa", "sse9"],
                               [f"kalmia {command}: --isa = \"sse9\", but it must be one of portable, "
                                "avx2, avx512"])
        self.fail_with(2, ["fit", "x.csv", "--isa"], ["--isa needs a value"])

    def test_options_out_of_range_are_all_named_before_the_data_are_read(self):
        message = self.fail_with(
            2, ["fit", "absent.csv", "-o", "m", "--window", "0", "--learning-rate", "-1"])
        self.assertRegex(message, r"\n  --learning-rate = -1, but it must be above 0 and at most 1; left out, it is 0.003\n")
        self.assertRegex(message, r"\n  --window = 0, but it must be in 2..4096")

    def test_what_does_not_go_together(self):
        self.fail_with(2, ["simulate", "lorenz", "--json"], ["-o FILE"])
        self.fail_with(2, ["smooth", "m", "d", "--json"], ["-o FILE"])
        self.fail_with(2, ["simulate", "replay", "-o", "x.csv"], ["--from"])
        self.fail_with(2, ["simulate", "replay", "--from", "a.csv", "--steps", "3"], ["--steps"])
        self.fail_with(2, ["simulate", "lorenz", "--from", "a.csv"], ["replay only"])

    def test_the_last_of_repeated_options_counts_and_lists_add_up(self):
        self.succeed("simulate", "lorenz", "--steps", "5", "--steps", "7", "-o", "a.csv")
        self.assertEqual(len((self.folder / "a.csv").read_text().splitlines()), 8)
        self.succeed("simulate", "replay", "--from", "a.csv", "--measure", "y1", "--measure", "y3",
                     "-o", "b.csv")
        self.assertEqual((self.folder / "b.csv").read_text().splitlines()[0],
                         "t,y1,y3,true_y1,true_y3")


class WithoutEffect(ProgramTest):
    def refuse(self, options, message, start=("fit", "track.csv", "-o", "m.kalmia")):
        self.fail_with(2, [*start, *options.split()], [f"kalmia {start[0]}: {message}"])

    def test_options_of_fit_are_refused_before_the_data_are_read(self):
        for options, message in (
                ("--order 5", "--order = 5 has no effect: it is for the priors ar, lorenz and"),
                ("--flow rk4 --substeps 9", "--flow = rk4 has no effect: it is for the priors lorenz"),
                ("--prior constant-position --departure 0.1", "--departure = 0.1 has no effect: "),
                ("--departure 0 --departure-degree 2", "--departure-degree = 2 has no effect: "),
                ("--taps 4", "--taps = 4 has no effect: it is for encoder = conv, transf"),
                ("--keep-smoother", "--keep-smoother = true has no effect: "),
                ("--hidden 0 --encoder lstm", "--encoder = lstm has no effect: hidden = 0, so"),
                ("--hidden 0 --smoother fused", "--smoother = fused has no effect: hidden = 0, so"),
                ("--hidden 0 --updates 5", "--updates = 5 has no effect: hidden = 0, so"),
                ("--holdout 0.3 --validation b.csv", "--holdout = 0.3 has no effect: the validation")):
            with self.subTest(options=options):
                self.refuse(options, message)
        # All of them at once, and those of equations under the names that they were given by.
        message = self.fail_with(2, ["fit", "absent.csv", "-o", "m", "--flow", "rk4", "--taps", "3"])
        self.assertEqual(message.count("has no effect"), 2)
        self.fail_with(2, ["fit", "absent.csv", "-o", "m", "--ode", "x = -x", "--order", "3"],
                       ["--order = 3 has no effect: the flow is rk4"])
        self.fail_with(2, ["fit", "absent.csv", "-o", "m", "--next", "x = 0.5*x", "--substeps", "3"],
                       ["--substeps = 3 has no effect: next gives the map"])

    def test_a_configuration_is_told_its_line(self):
        (self.folder / "fit.toml").write_text(
            'output = "m.kalmia"\n[data]\nfile = "absent.csv"\n[model]\nhidden = 0\n'
            "[train]\nupdates = 5\n")
        self.fail_with(2, ["fit", "fit.toml"],
                       ["kalmia fit: fit.toml:7: train.updates = 5 has no effect: hidden = 0"])
        # What an option overrides is another matter: the data are looked for.
        (self.folder / "fit.toml").write_text(
            'output = "m.kalmia"\n[data]\nfile = "absent.csv"\n[train]\nupdates = 5\n')
        self.fail_with(1, ["fit", "fit.toml", "--hidden", "0"], ["absent.csv"])
        self.fail_with(2, ["fit", "fit.toml", "--hidden", "0", "--window", "8"],
                       ["kalmia fit: --window = 8 has no effect: hidden = 0"])

    def test_what_only_the_data_show_is_said(self):
        rows = [f"{k % 7},{k % 3}" for k in range(60)]
        support.write_rows(self.folder / "driven.csv", "y,u", rows)
        fit = ("fit", "driven.csv", "--hidden", "0", "-o", "m.kalmia")
        self.assertIn("inputs u have no effect: the map of constant-velocity does not read them",
                      self.succeed(*fit, "--prior", "constant-velocity"))
        said = self.succeed(*fit, "--next", "y = 0.5*y + u", "--define", "w = 2*u", "--parameter",
                            "k = 3")
        self.assertIn("k, w: no equation uses what has this name", said)
        self.assertNotIn("inputs u", said)
        self.assertIn("departure = 0.1 has no effect: the map of system has no entry to depart from",
                      self.succeed(*fit, "--next", "y = y + u", "--departure", "0.1"))

    def test_options_of_the_other_commands(self):
        self.model()
        for command in ("filter", "smooth", "forecast", "sample"):
            self.refuse("--truth true_y1,true_y2", "--truth has no effect: only evaluate reads",
                        (command, "track.kalmia", "track.csv"))
        for command in ("smooth", "evaluate"):
            self.refuse("--iterations 3", "--iterations = 3 has no effect: the model is linear",
                        (command, "track.kalmia", "track.csv"))
        self.fail_with(2, ["evaluate", "track.kalmia", "track.csv", "--hide-run", "5"],
                       ["hide_run = 5 has no effect: nothing is hidden"])
        self.fail_with(2, ["stream", "track.kalmia", "--json", "--no-header"],
                       ["--no-header has no effect"])


class Output(ProgramTest):
    def test_a_model_needs_a_place(self):
        self.track()
        self.fail_with(2, ["fit", "track.csv"], ["-o"])
        self.fail_with(2, ["fit", "track.csv", "-o", "-"], ["-o -"])

    def test_input_is_never_overwritten(self):
        self.model()
        (self.folder / "link.csv").symlink_to("track.csv")
        for arguments in (["fit", "track.csv", "-o", "track.csv"],
                          ["fit", "track.csv", "-o", "./track.csv"],
                          ["smooth", "track.kalmia", "track.csv", "-o", "link.csv"],
                          ["filter", "track.kalmia", "track.csv", "-o", "track.kalmia"],
                          ["simulate", "replay", "--from", "track.csv", "-o", "track.csv"]):
            with self.subTest(arguments=arguments):
                self.fail_with(2, arguments, ["is both input and output"])

    def test_a_name_without_a_format_is_found_before_the_work(self):
        self.fail_with(2, ["smooth", "m", "d", "-o", "out.xlsx"], ["out.xlsx", ".csv", ".npz"])
        self.fail_with(2, ["simulate", "lorenz", "-o", "out.docx"], ["out.docx", ".csv"])

    def test_a_missing_folder_is_found_before_the_work(self):
        # The data do not exist either: the output is looked at first.
        self.fail_with(1, ["fit", "absent.csv", "-o", "nowhere/m.kalmia"], ["no folder nowhere"])
        self.fail_with(1, ["smooth", "m", "d", "-o", "nowhere/out.csv"], ["no folder nowhere"])


if __name__ == "__main__":
    support.main()
