#!/usr/bin/python3
"""simulate, filter, smooth, forecast, sample, evaluate, info and bench: what they write."""

import csv
import json
import math

import support
from support import ProgramTest


class CommandTest(ProgramTest):
    def read(self, name):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))


class Simulate(CommandTest):
    def test_every_listed_system_runs(self):
        systems = [entry["name"] for entry in json.loads(self.succeed("simulate", "--list", "--json"))]
        self.assertIn("lorenz", systems)
        text = self.succeed("simulate", "--list")
        for system in systems:
            with self.subTest(system=system):
                self.assertIn(system, text)
                self.succeed("simulate", system, "--steps", "20", "--series", "2", "-o", "a.csv")
                self.assertEqual(len(self.read("a.csv")), 40)

    def test_seeds(self):
        outputs = [self.succeed("simulate", "lorenz", "--steps", "50", "--seed", seed)
                   for seed in (3, 3, 4)]
        self.assertEqual(outputs[0], outputs[1])
        self.assertNotEqual(outputs[0], outputs[2])

    def test_options_reach_the_simulation(self):
        self.succeed("simulate", "lorenz", "--steps", "400", "--noise", "0", "--dt", "0.01",
                     "-o", "a.csv")
        rows = self.read("a.csv")
        self.assertEqual(len(rows), 400)
        self.assertAlmostEqual(float(rows[1]["t"]), 0.01)
        for row in rows:
            self.assertEqual(row["y1"], row["true_y1"])

    def test_spoiling(self):
        result = json.loads(self.succeed("simulate", "lorenz", "--steps", "4000", "--missing", "0.25",
                                         "-o", "a.csv", "--json"))
        self.assertEqual((result["steps"], result["series"]), (4000, 1))
        missing = sum(row["y1"] == "" for row in self.read("a.csv")) / 4000
        self.assertAlmostEqual(missing, 0.25, delta=0.05)
        self.fail_with(2, ["simulate", "lorenz", "--missing", "2", "-o", "b.csv"], ["missing", "2"])

    def test_replay_takes_the_measurements_as_truth(self):
        self.track(steps=2000)
        self.succeed("simulate", "replay", "--from", "track.csv", "--add-noise", "2", "-o", "b.csv")
        before, after = self.read("track.csv"), self.read("b.csv")
        self.assertEqual([row["t"] for row in after], [f"{float(row['t']):g}" for row in before])
        errors = []
        for old, new in zip(before, after):
            self.assertEqual(float(new["true_y1"]), float(old["y1"]))
            errors.append(float(new["y1"]) - float(old["y1"]))
        self.assertAlmostEqual(math.sqrt(sum(e * e for e in errors) / len(errors)), 2, delta=0.15)


class Estimates(CommandTest):
    def setUp(self):
        super().setUp()
        self.model()

    def error(self, rows, name="y1"):
        truth = self.read("track.csv")
        return sum((float(row[name]) - float(true["true_" + name])) ** 2
                   for row, true in zip(rows, truth)) / len(truth)

    def test_smoothing_is_better_than_filtering_is_better_than_nothing(self):
        self.succeed("filter", "track.kalmia", "track.csv", "-o", "f.csv")
        self.succeed("smooth", "track.kalmia", "track.csv", "-o", "s.csv")
        raw, filtered, smoothed = (self.error(self.read(name)) for name in
                                   ("track.csv", "f.csv", "s.csv"))
        self.assertLess(filtered, 0.8 * raw)
        self.assertLess(smoothed, 0.9 * filtered)

    def test_standard_output_is_the_file(self):
        for command in ("filter", "smooth", "forecast", "sample"):
            with self.subTest(command=command):
                self.succeed(command, "track.kalmia", "track.csv", "-o", "a.csv")
                text = (self.folder / "a.csv").read_text()
                self.assertEqual(self.succeed(command, "track.kalmia", "track.csv"), text)
                self.assertEqual(self.succeed(command, "track.kalmia", "track.csv", "-o", "-"), text)

    def test_formats(self):
        for name, magic in (("a.npz", b"PK"), ("a.jsonl", b"{"), ("a.csv", b"t,")):
            with self.subTest(name=name):
                self.succeed("smooth", "track.kalmia", "track.csv", "-o", name)
                self.assertTrue((self.folder / name).read_bytes().startswith(magic))
        self.fail_with(2, ["smooth", "track.kalmia", "track.csv", "-o", "a.xyz"], ["a.xyz"])

    def test_json(self):
        for command in ("filter", "smooth", "forecast", "sample"):
            with self.subTest(command=command):
                result = json.loads(self.succeed(command, "track.kalmia", "track.csv", "--json",
                                                 "-o", "a.csv"))
                self.assertEqual(result["output"], "a.csv")
                self.assertEqual(result["steps"], len(self.read("a.csv")))
                self.assertEqual(result["columns"], ["y1", "y2"])

    def test_forecast_goes_on_with_growing_bars(self):
        self.succeed("forecast", "track.kalmia", "track.csv", "--horizon", "5", "-o", "a.csv")
        rows = self.read("a.csv")
        self.assertEqual([float(row["t"]) for row in rows], [300, 301, 302, 303, 304])
        bars = [float(row["y1_std"]) for row in rows]
        self.assertLess(bars[0], bars[-1])

    def test_samples_follow_count_and_seed(self):
        def sample(*options):
            return self.succeed("sample", "track.kalmia", "track.csv", *options)
        self.assertEqual(len(sample("--count", "3").splitlines()), 1 + 3 * 300)
        self.assertEqual(sample("--seed", "5"), sample("--seed", "5"))
        self.assertNotEqual(sample("--seed", "5"), sample("--seed", "6"))

    def test_threads_do_not_matter(self):
        for command in ("filter", "smooth", "forecast", "sample"):
            with self.subTest(command=command):
                one, two = (self.succeed(command, "track.kalmia", "track.csv", "--threads", count)
                            for count in (1, 2))
                self.assertEqual(one, two)

    def test_an_instruction_set_changes_the_last_bits_alone(self):
        best = support.instruction_sets(self)[-1]
        for command in ("filter", "smooth", "forecast", "sample"):
            with self.subTest(command=command):
                written = self.succeed(command, "track.kalmia", "track.csv")
                self.assertEqual(
                    self.succeed(command, "track.kalmia", "track.csv", "--isa", best), written)
                self.succeed(command, "track.kalmia", "track.csv", "-o", "best.csv")
                for name in support.instruction_sets(self):
                    self.succeed(command, "track.kalmia", "track.csv", "--isa", name, "-o", "a.csv")
                    for row, other in zip(self.read("a.csv"), self.read("best.csv"), strict=True):
                        for column in ("y1", "y2", "y1_std"):
                            if column in row:  # networks compute in float: a thousand roundings
                                self.assertAlmostEqual(float(row[column]), float(other[column]),
                                                       delta=1e3 * 6e-8)

    def test_columns_can_be_renamed(self):
        text = (self.folder / "track.csv").read_text()
        (self.folder / "other.csv").write_text(text.replace("y1,y2,true_y1,true_y2", "a,b,c,d", 1))
        self.fail_with(3, ["smooth", "track.kalmia", "other.csv"], ["y1"])
        self.assertEqual(
            self.succeed("smooth", "track.kalmia", "other.csv", "--measure", "a,b"),
            self.succeed("smooth", "track.kalmia", "track.csv"))

    def test_truth_named_at_the_fit_is_not_needed_later(self):
        self.succeed("fit", "track.csv", *support.SMALL_FIT, "-q", "--truth", "true_y1,true_y2",
                     "-o", "t.kalmia")
        rows = [",".join(line.split(",")[:3])
                for line in (self.folder / "track.csv").read_text().splitlines()]
        support.write_rows(self.folder / "bare.csv", rows[0], rows[1:])
        self.succeed("smooth", "t.kalmia", "bare.csv", "-o", "a.csv")


class Time(CommandTest):
    def setUp(self):
        super().setUp()
        self.model()
        self.rows = [line.split(",") for line in (self.folder / "track.csv").read_text().splitlines()]

    def write(self, name, change):
        support.write_rows(self.folder / name, ",".join(change(self.rows[0])),
                           [",".join(change(row)) for row in self.rows[1:]])

    def refuse(self, model, data, *fragments):
        for command in ("filter", "smooth", "forecast", "sample", "evaluate"):
            with self.subTest(command=command):
                self.fail_with(3, [command, model, data], [f"kalmia {command}: {data}: ", *fragments])

    def test_another_unit_is_refused(self):
        self.write("ms.csv", lambda row: [row[0] if row[0] == "t" else f"{1000 * float(row[0])}",
                                          *row[1:]])
        self.refuse("track.kalmia", "ms.csv", "the time step is 1000 (the median), but the model was "
                    "fitted with steps of 1, ", "is the time in another unit? Bring it to that of the fit")
        # Ten times are not yet another unit.
        self.write("slow.csv", lambda row: [row[0] if row[0] == "t" else f"{10 * float(row[0])}",
                                            *row[1:]])
        self.succeed("filter", "track.kalmia", "slow.csv", "-o", "out.csv")
        self.fail_with(3, ["fit", "track.csv", *support.SMALL_FIT, "--validation", "ms.csv", "-o", "m"],
                       ["validation data ms.csv: the time step is 1000"])

    def test_time_or_none(self):
        self.write("bare.csv", lambda row: row[1:])
        self.refuse("track.kalmia", "bare.csv", "there is no time, but the model was fitted with time, "
                    "in steps of 1; name the column with --time")
        self.succeed("fit", "bare.csv", *support.SMALL_FIT, "-q", "-o", "bare.kalmia")
        self.succeed("filter", "bare.kalmia", "bare.csv", "-o", "out.csv")
        self.refuse("bare.kalmia", "track.csv", "there is time (column t), but the model was fitted "
                    "without")
        self.assertEqual([json.loads(self.succeed("info", model, "--json"))["time"]
                          for model in ("track.kalmia", "bare.kalmia")], ["number", "none"])


class Scores(CommandTest):
    def setUp(self):
        super().setUp()
        self.model()

    def test_evaluate(self):
        result = json.loads(self.succeed("evaluate", "track.kalmia", "track.csv", "--json"))
        self.assertEqual(result["steps"], 300)
        self.assertLess(result["mse"]["smoothed"], result["mse"]["raw"])
        self.assertIsNone(result["hidden"]["smoothed"])
        hidden = json.loads(self.succeed("evaluate", "track.kalmia", "track.csv", "--json",
                                         "--hide", "0.2", "--hide-run", "3"))
        self.assertGreater(hidden["hidden"]["smoothed"], 0)
        text = self.succeed("evaluate", "track.kalmia", "track.csv")
        self.assertIn("smoothed", text)

    def test_evaluate_with_named_truth(self):
        text = (self.folder / "track.csv").read_text()
        (self.folder / "other.csv").write_text(text.replace("true_y1,true_y2", "c,d", 1))
        without = json.loads(self.succeed("evaluate", "track.kalmia", "other.csv", "--json"))
        self.assertIsNone(without["mse"]["raw"])
        named = json.loads(self.succeed("evaluate", "track.kalmia", "other.csv", "--json",
                                        "--truth", "c,d"))
        whole = json.loads(self.succeed("evaluate", "track.kalmia", "track.csv", "--json"))
        self.assertEqual(named["mse"], whole["mse"])

    def test_info(self):
        info = json.loads(self.succeed("info", "track.kalmia", "--json"))
        text = self.succeed("info", "track.kalmia")
        self.assertIn("constant-velocity", text)
        for name in info["states"]:
            self.assertIn(name, text)
        self.assertNotIn("{", text)

    def test_bench(self):
        options = ("bench", "--seconds", "0.05", "--updates", "2", "--hidden", "8")
        result = json.loads(self.succeed(*options, "--json"))
        for part in ("training", "filter", "smooth", "stream"):
            self.assertGreater(result[f"{part}_steps_per_second"], 0)
        self.assertIn("steps/s", self.succeed(*options))
        for name in support.instruction_sets(self):
            said = json.loads(self.succeed(*options, "--json", "--isa", name))
            self.assertEqual(said["instruction_set"], name)
        self.assertIn(", portable\n", self.succeed(*options, "--isa", "portable"))


if __name__ == "__main__":
    support.main()
