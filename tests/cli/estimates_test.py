#!/usr/bin/python3
"""What files of estimates list, what bars hold, where forecasts take their inputs from, and what truth is
compared with."""

import csv
import io
import json
import math
import random
import zipfile

import support
from support import ProgramTest

STATIC = ("--hidden", "0", "-q")
PLACE = ("--measure", "r,b", "--ode", "px = 0", "--ode", "py = 0", "--measure-as", "r = sqrt(px^2 + py^2)",
         "--measure-as", "b = atan2(py, px)", "--initial", "px = 40 +- 5", "--initial", "py = 30 +- 5",
         "--noise", "0.5,0.01", *STATIC)


class EstimatesTest(ProgramTest):
    def table(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.succeed(*arguments))))

    def header(self, *arguments):
        return self.succeed(*arguments).splitlines()[0].split(",")

    def write_place(self, name, truth):
        """A place that wanders, seen by its range and bearing: as many states as channels."""
        source = random.Random(3)
        px, py, rows = 40.0, 30.0, []
        for k in range(300):
            px, py = px + source.gauss(0, 0.3), py + source.gauss(0, 0.3)
            r, b = math.hypot(px, py), math.atan2(py, px)
            known = {"channels": (r, b), "states": (px, py)}[truth]
            values = (k, r + source.gauss(0, 0.5), b + source.gauss(0, 0.01), *known)
            rows.append(",".join(map(repr, values)))
        names = {"channels": "true_r,true_b", "states": "true_px,true_py"}[truth]
        support.write_rows(self.folder / name, "t,r,b," + names, rows)


class Turns(EstimatesTest):
    def test_a_fitted_turn_estimates_its_own_data(self):
        # Positions without any direction look like fast turns; long gaps show what those lead to.
        rows = (
            "1,-0.9,1.9 301,0.0,-0.4 302,-0.4,0.4 303,-0.5,-1.4 304,1.8,0.6 305,2.8,-0.7 306,1.3,0.2 "
            "606,2.2,1.2 607,1.7,0.3 637,2.5,1.0 638,0.9,2.0 639,-0.0,2.2 640,-1.0,3.8 670,-0.6,4.1 "
            "671,0.1,5.9 701,0.0,5.2 702,-0.1,5.0 1002,0.5,6.0 1302,-1.1,5.9 1303,0.4,7.8 1333,-1.1,6.8 "
            "1334,0.2,6.0 1364,1.2,7.0 1365,-0.4,6.8 1665,-0.9,6.0 1695,-1.1,6.4 1696,-1.5,6.9 "
            "1697,-2.5,7.0 1698,-2.1,8.1 1699,-1.4,9.7")
        support.write_rows(self.folder / "walk.csv", "t,y1,y2", rows.split())
        self.succeed("fit", "walk.csv", "--prior", "coordinated-turn", *STATIC, "-o", "m.kalmia")
        for command in ("filter", "smooth", "forecast"):
            for row in self.table(command, "m.kalmia", "walk.csv"):
                for name in ("y1", "y2"):
                    self.assertLess(abs(float(row[name])), 1e4, (command, row))


class Columns(EstimatesTest):
    def test_do_not_depend_on_the_prior(self):
        support.write_track(self.folder / "track.csv")
        measured = ["t", "y1", "y1_std", "y2", "y2_std"]
        for prior in ("constant-position", "constant-velocity", "constant-acceleration", "oscillator", "ar",
                      "coordinated-turn", "none"):
            with self.subTest(prior=prior):
                self.succeed("fit", "track.csv", "--prior", prior, *STATIC, "-o", "m.kalmia")
                for command in ("filter", "smooth", "forecast"):
                    self.assertEqual(self.header(command, "m.kalmia", "track.csv"), measured)
                self.assertEqual(self.header("sample", "m.kalmia", "track.csv", "--count", 1),
                                 ["sample", "t", "y1", "y2"])
                self.assertEqual(self.succeed("stream", "m.kalmia", stdin="").strip(), "y1,y2,y1_std,y2_std")
                every = self.header("smooth", "m.kalmia", "track.csv", "--all-states")
                self.assertEqual(every[:5], measured)
                states = json.loads(self.succeed("info", "m.kalmia", "--json"))["states"]
                self.assertEqual(set(every[1:]), {name + end for name in states for end in ("", "_std")})

    def test_are_values_of_expressions_and_states_of_equations(self):
        self.write_place("place.csv", "channels")
        self.succeed("fit", "place.csv", *PLACE, "-o", "m.kalmia")
        for command in ("filter", "smooth", "forecast"):
            rows = self.table(command, "m.kalmia", "place.csv")
            self.assertEqual(list(rows[0]), ["t", "r", "r_std", "b", "b_std", "px", "px_std", "py", "py_std"])
            for row in rows:
                px, py = float(row["px"]), float(row["py"])
                self.assertAlmostEqual(float(row["r"]), math.hypot(px, py), delta=1e-9)
                self.assertAlmostEqual(float(row["b"]), math.atan2(py, px), delta=1e-12)
        path = self.table("sample", "m.kalmia", "place.csv", "--count", 1)[7]
        self.assertAlmostEqual(float(path["r"]), math.hypot(float(path["px"]), float(path["py"])), delta=1e-9)
        answer = json.loads(self.succeed("stream", "m.kalmia", "--json", stdin="50,0.6\n"))
        self.assertAlmostEqual(answer["r"], math.hypot(answer["px"], answer["py"]), delta=1e-9)

    def test_tell_a_state_from_the_column_of_its_name(self):
        support.write_track(self.folder / "track.csv", channels=1)
        self.succeed("fit", "track.csv", "--ode", "y1 = -y1/10", "--measure-as", "y1 = y1 + 3", *STATIC,
                     "-o", "m.kalmia")
        rows = self.table("smooth", "m.kalmia", "track.csv")
        self.assertEqual(list(rows[0]), ["t", "y1", "y1_std", "y1_state", "y1_state_std"])
        self.assertAlmostEqual(float(rows[5]["y1"]), float(rows[5]["y1_state"]) + 3, delta=1e-12)
        self.fail_with(3, ["evaluate", "m.kalmia", "track.csv"], ["true_y1", "the state y1", "--truth"])

    def test_of_arrays_and_sound_are_the_same(self):
        self.write_place("place.csv", "channels")
        self.succeed("fit", "place.csv", *PLACE, "-o", "m.kalmia")
        self.succeed("smooth", "m.kalmia", "place.csv", "-o", "a.npz")
        with zipfile.ZipFile(self.folder / "a.npz") as arrays:
            self.assertEqual(sorted(arrays.namelist()), ["covariance.npy", "mean.npy", "names.npy", "t.npy"])
            self.assertIn(b"(300, 4, 4)", arrays.read("covariance.npy"))
        support.write_rows(self.folder / "s.csv", "t,y", [f"{k / 100},{math.sin(0.3 * k) / 2}" for k in range(300)])
        self.succeed("fit", "s.csv", "--prior", "constant-velocity", *STATIC, "-o", "s.kalmia")
        self.succeed("smooth", "s.kalmia", "s.csv", "--all-states", "-o", "s.wav")
        self.assertEqual(self.header("simulate", "replay", "--from", "s.wav")[:2], ["t", "y"])


class Parts(EstimatesTest):
    def write_sums(self, name="sums.csv"):
        """Two series with gaps and lost rows: a trend and a cycle in the north, a cycle in the east."""
        source = random.Random(4)
        rows = []
        for key in ("a", "b"):
            for k in range(240):
                cycle = 2 * math.sin(2 * math.pi * k / 12)
                north, east = 30 + 0.1 * k + cycle, -5 - 3 * cycle
                cells = [f"{value + source.gauss(0, 0.3):.4f}" for value in (north, east)]
                if k % 11 == 3:
                    cells[k % 2] = ""
                if k % 40 != 17:
                    rows.append(",".join([key, str(k / 2), *cells]))
        support.write_rows(self.folder / name, "key,t,north,east", rows)

    def assert_sums(self, rows, channels=("north", "east")):
        """The parts of each channel add up to it."""
        for row in rows:
            for channel in channels:
                shares = [float(value) for name, value in row.items()
                          if name.startswith(channel + ":") and not name.endswith("_std")]
                self.assertTrue(shares)
                self.assertAlmostEqual(sum(shares), float(row[channel]), delta=1e-10, msg=row)

    def test_add_up_in_every_command_and_format(self):
        self.write_sums()
        self.succeed("fit", "sums.csv", "--measure", "north,east", "--prior",
                     "north: trend + season(6, 1); memory + season(6, 2)", "--noise", "0.3", *STATIC, "-o", "m.kalmia")
        names = ["north", "east", "north:trend", "north:season(6)", "east:mean", "east:memory", "east:season(6)"]
        header = ["key", "t", *(name + end for name in names for end in ("", "_std"))]
        for command in ("filter", "smooth", "forecast"):
            with self.subTest(command=command):
                rows = self.table(command, "m.kalmia", "sums.csv", "--parts")
                self.assertEqual(list(rows[0]), header)
                self.assertEqual({row["key"] for row in rows}, {"a", "b"})
                self.assert_sums(rows)
                plain = self.table(command, "m.kalmia", "sums.csv")
                self.assertEqual([{name: row[name] for name in plain[0]} for row in rows], plain)
                self.assertEqual(len({row["east:mean"] for row in rows}), 1)
                self.assertEqual({row["east:mean_std"] for row in rows}, {"0"})
        self.assert_sums(self.table("sample", "m.kalmia", "sums.csv", "--count", 2, "--parts"))
        answers = self.succeed("stream", "m.kalmia", "--parts", "--json", stdin="30,-5\n,-6\n")
        self.assert_sums([json.loads(line) for line in answers.splitlines()])
        self.assert_sums(self.table("smooth", "m.kalmia", "sums.csv", "--parts", "--all-states"))
        self.succeed("smooth", "m.kalmia", "sums.csv", "--parts", "-o", "p.jsonl")
        self.assert_sums([json.loads(line) for line in (self.folder / "p.jsonl").read_text().splitlines()])
        self.succeed("smooth", "m.kalmia", "sums.csv", "--parts", "-o", "p.npz")
        with zipfile.ZipFile(self.folder / "p.npz") as arrays:
            listed = arrays.read("names.npy").decode("utf-32-le", "ignore")
            for name in names:
                self.assertIn(name, listed)
            self.assertIn(b"7, 7)", arrays.read("covariance.npy"))

    def test_of_networks_that_are_mixed_and_calibrated(self):
        self.write_sums()
        self.succeed("fit", "sums.csv", "--measure", "north,east", "--prior", "level + season(6, 1)", "--noise", "0.3",
                     "--hidden", "4", "--decoder", "4", "--updates", "10", "--members", "2", "-q",
                     "-o", "m.kalmia")
        rows = self.table("smooth", "m.kalmia", "sums.csv", "--parts")
        self.assertIn("east:season(6)_std", rows[0])
        self.assert_sums(rows)

    def test_of_dates_have_times_for_people(self):
        source = random.Random(5)
        rows = [f"2024-01-{1 + k // 24:02}T{k % 24:02}:00:00,"
                f"{math.sin(math.pi * k / 12) + source.gauss(0, 0.2)}" for k in range(300)]
        support.write_rows(self.folder / "load.csv", "date,load", rows)
        self.succeed("fit", "load.csv", "--prior", "level + season(24 h, 1) + season(2.5 d, 1)", "--noise", "0.2",
                     *STATIC, "-o", "m.kalmia")
        self.assertEqual(self.header("smooth", "m.kalmia", "load.csv", "--parts")[3::2],
                         ["load:level", "load:season(24 h)", "load:season(2.5 d)"])
        every = self.header("smooth", "m.kalmia", "load.csv", "--all-states")
        self.assertEqual(every[3::2], ["load_level", "load_season_cos1", "load_season_sin1", "load_season2_cos1",
                                       "load_season2_sin1"])

    def test_of_priors_with_a_name_are_one(self):
        support.write_track(self.folder / "track.csv")
        self.succeed("fit", "track.csv", "--prior", "constant-velocity", *STATIC, "-o", "m.kalmia")
        row = self.table("smooth", "m.kalmia", "track.csv", "--parts")[9]
        self.assertEqual((row["y2"], row["y2_std"]), (row["y2:trend"], row["y2:trend_std"]))

    def test_that_there_are_not_are_refused(self):
        support.write_track(self.folder / "track.csv")
        for prior in ("none", "coordinated-turn"):
            self.succeed("fit", "track.csv", "--prior", prior, *STATIC, "-o", "m.kalmia")
            self.fail_with(2, ["smooth", "m.kalmia", "track.csv", "--parts"],
                           [f"parts: the model's prior is {prior}", "trend + season(24)"])
        self.succeed("fit", "track.csv", "--measure", "y1", "--ode", "y1 = -y1", *STATIC, "-o", "m.kalmia")
        self.fail_with(2, ["filter", "m.kalmia", "track.csv", "--parts"], ["parts: the model's prior is system"])


class Bars(EstimatesTest):
    def test_of_measurements_hold_the_noise(self):
        support.write_track(self.folder / "track.csv")
        self.succeed("fit", "track.csv", "--prior", "constant-velocity", "--noise", "0.3,0.4", *STATIC, "-o", "m.kalmia")
        for command in ("smooth", "forecast"):
            plain = self.table(command, "m.kalmia", "track.csv")
            noisy = self.table(command, "m.kalmia", "track.csv", "--measurements")
            self.assertEqual(list(plain[0]), list(noisy[0]))
            for a, b in zip(plain, noisy):
                self.assertEqual(a["y1"], b["y1"])
                for name, noise in (("y1_std", 0.3), ("y2_std", 0.4)):
                    self.assertAlmostEqual(float(b[name]), math.hypot(float(a[name]), noise), delta=1e-6)
        self.fail_with(2, ["filter", "m.kalmia", "track.csv", "--measurements"], ["--measurements"])

    def test_of_measurements_hold_the_noise_of_their_row(self):
        source = random.Random(1)
        rows = [f"{k},{math.sin(k / 20) + source.gauss(0, s)},{s}" for k in range(300) for s in [0.2 + 0.3 * (k % 2)]]
        support.write_rows(self.folder / "n.csv", "t,y,s", rows)
        self.succeed("fit", "n.csv", "--measure", "y", "--noise-columns", "s", "--prior", "constant-velocity", *STATIC,
                     "-o", "m.kalmia")
        plain = self.table("smooth", "m.kalmia", "n.csv")
        noisy = self.table("smooth", "m.kalmia", "n.csv", "--measurements")
        added = [float(b["y_std"]) ** 2 - float(a["y_std"]) ** 2 for a, b in zip(plain, noisy)]
        for k in range(0, 300, 2):
            self.assertAlmostEqual(added[k + 1] / added[k], (0.5 / 0.2) ** 2, delta=1e-6)


class Truth(EstimatesTest):
    def test_goes_by_name(self):
        self.write_place("channels.csv", "channels")
        self.write_place("states.csv", "states")
        self.succeed("fit", "channels.csv", *PLACE, "-o", "m.kalmia")
        channels, states = (json.loads(self.succeed("evaluate", "m.kalmia", name, "--json"))
                            for name in ("channels.csv", "states.csv"))
        for kind in ("raw", "filtered", "smoothed"):
            self.assertAlmostEqual(states["mse"][kind], channels["mse"][kind], delta=1e-9)
        self.assertLess(channels["mse"]["smoothed"], channels["mse"]["raw"])
        self.assertIsNone(channels["state_mse"]["smoothed"])
        self.assertLess(states["state_mse"]["smoothed"], 0.3)

    def test_that_may_be_either_is_refused(self):
        self.write_place("place.csv", "states")
        self.succeed("fit", "place.csv", *PLACE, "-o", "m.kalmia")
        text = (self.folder / "place.csv").read_text()
        (self.folder / "other.csv").write_text(text.replace("true_px,true_py", "ref1,ref2", 1))
        self.fail_with(3, ["evaluate", "m.kalmia", "other.csv", "--truth", "ref1,ref2"],
                       ["other.csv", "ref1, ref2", "r, b", "px, py", "--truth"])


class Forecasts(EstimatesTest):
    def setUp(self):
        super().setUp()
        source = random.Random(2)
        x, rows = 0.0, []
        for k in range(400):
            u = 2.0 if math.sin(0.13 * k) > 0 else -2.0
            rows.append(f"{k / 10},{x + source.gauss(0, 0.1)},{u},{x}")
            x = x * math.exp(-0.1) + (1 - math.exp(-0.1)) * u + source.gauss(0, 0.01)
        self.rows = rows
        support.write_rows(self.folder / "all.csv", "t,y,u,true_y", rows)
        support.write_rows(self.folder / "head.csv", "t,y,u", [row.rsplit(",", 1)[0] for row in rows[:360]])
        future = [row.split(",") for row in rows[360:]]
        support.write_rows(self.folder / "future.csv", "t,u", [f"{row[0]},{row[2]}" for row in future])
        self.truth = [float(row[3]) for row in future]
        self.succeed("fit", "head.csv", "--ode", "x = u - x", "--measure-as", "y = x", "--noise", "0.1", *STATIC,
                     "-o", "m.kalmia")

    def error(self, *options):
        rows = self.table("forecast", "m.kalmia", "head.csv", "--horizon", 40, *options)
        return sum((float(row["y"]) - true) ** 2 for row, true in zip(rows, self.truth)) / 40

    def test_take_inputs_from_a_file(self):
        self.assertGreater(self.error(), 1)
        self.assertLess(self.error("--future-inputs", "future.csv"), 0.01)

    def test_say_that_inputs_are_held(self):
        def said(*options):
            return self.run_program("forecast", "m.kalmia", "head.csv", "-o", "a.csv", *options)
        self.assertIn("the inputs (u) are held at their last values; --future-inputs FILE", said().stderr)
        self.assertEqual(json.loads(said("--json").stdout)["inputs"], "held")
        given = said("--json", "--future-inputs", "future.csv")
        self.assertEqual((json.loads(given.stdout)["inputs"], given.stderr), ("given", ""))
        self.assertEqual(said("-q").stderr, "")
        # Those of the last row act during the one step there is.
        self.assertEqual(said("--horizon", "1").stderr, "")

    def test_refuse_inputs_that_do_not_fit(self):
        forecast = ["forecast", "m.kalmia", "head.csv", "--future-inputs", "future.csv", "--horizon"]
        self.fail_with(3, [*forecast, "41"], ["future.csv: 40 rows, but the horizon is 41 steps"])
        support.write_rows(self.folder / "other.csv", "t,v", ["36,1"])
        self.fail_with(3, ["forecast", "m.kalmia", "head.csv", "--future-inputs", "other.csv"],
                       ["other.csv", 'no column "u"'])
        support.write_track(self.folder / "track.csv")
        self.succeed("fit", "track.csv", "--prior", "constant-velocity", *STATIC, "-o", "p.kalmia")
        self.fail_with(2, ["forecast", "p.kalmia", "track.csv", "--future-inputs", "future.csv"],
                       ["--future-inputs = future.csv, but the model has no inputs"])

    def test_begin_after_the_last_row_measured_or_not(self):
        rows = [row.rsplit(",", 1)[0] for row in self.rows[:360]]
        rows[355:] = [f"{t},,{u}" for t, _, u in (row.split(",") for row in rows[355:])]
        support.write_rows(self.folder / "gap.csv", "t,y,u", rows)
        ahead = self.table("forecast", "m.kalmia", "gap.csv", "--horizon", 3, "--future-inputs", "future.csv")
        self.assertEqual([float(row["t"]) for row in ahead], [36.0, 36.1, 36.2])

    def test_are_scored_with_the_inputs_that_followed(self):
        result = json.loads(self.succeed("evaluate", "m.kalmia", "all.csv", "--horizon", 30, "--json"))
        self.assertLess(result["forecasts"][29]["mse"], 0.02)


if __name__ == "__main__":
    support.main()
