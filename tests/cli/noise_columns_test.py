#!/usr/bin/python3
"""Columns that say how noisy each value is, from the fit to the stream."""

import json
import random

import support

HEADER = "t,north,east,gps_std_n,gps_std_e,true_north,true_east"
OPTIONS = ("--measure", "north,east", "--noise-columns", "gps_std_n,gps_std_e")
FIT = ("--prior", "constant-position", "--hidden", "0", "-q")


class NoiseColumns(support.ProgramTest):
    def setUp(self):
        super().setUp()
        self.write(self.rows())

    def rows(self, steps=600):
        source = random.Random(3)
        place, rows = [0.0, 0.0], []
        for k in range(steps):
            place = [value + source.gauss(0, 1) for value in place]
            stds = [source.choice((0.3, 6.0)) for _ in place]
            values = [value + source.gauss(0, std) for value, std in zip(place, stds)]
            rows.append(",".join(f"{value:.5f}" for value in [k, *values, *stds, *place]))
        return rows

    def write(self, rows, name="gps.csv"):
        support.write_rows(self.folder / name, HEADER, rows)

    def evaluate(self, model):
        return json.loads(self.succeed("evaluate", model, "gps.csv", "--json"))

    def test_all_commands(self):
        self.succeed("fit", "gps.csv", *OPTIONS, *FIT, "-o", "knows.kalmia")
        self.succeed("fit", "gps.csv", *OPTIONS[:2], *FIT, "-o", "ignores.kalmia")
        knows, ignores = self.evaluate("knows.kalmia"), self.evaluate("ignores.kalmia")
        self.assertLess(knows["mse"]["smoothed"], 0.5 * ignores["mse"]["smoothed"])
        filtered = self.succeed("filter", "knows.kalmia", "gps.csv").splitlines()[1:]
        # The stream is given the deviations behind the values.
        lines = [",".join(line.split(",")[1:5]) for line in
                 (self.folder / "gps.csv").read_text().splitlines()[1:]]
        answers = self.succeed("stream", "knows.kalmia", stdin="\n".join(lines) + "\n")
        for row, answer in zip(filtered, answers.splitlines()[1:], strict=True):
            means = [float(row.split(",")[i]) for i in (1, 3)]
            for mean, streamed in zip(means, answer.split(",")[:2]):
                self.assertAlmostEqual(mean, float(streamed), places=4)
        for command in (["smooth"], ["forecast", "--horizon", "3"], ["sample", "--count", "2"]):
            self.succeed(command[0], "knows.kalmia", "gps.csv", *command[1:])

    def test_in_a_configuration(self):
        (self.folder / "fit.toml").write_text(
            'output = "a.kalmia"\n[data]\nfile = "gps.csv"\nmeasure = ["north", "east"]\n'
            'noise_columns = ["gps_std_n", "gps_std_e"]\n[model]\nhidden = 0\n'
            'prior = "constant-position"\n')
        self.succeed("fit", "fit.toml", "-q")
        self.succeed("fit", "gps.csv", *OPTIONS, *FIT, "-o", "b.kalmia")
        self.assertEqual((self.folder / "a.kalmia").read_bytes(),
                         (self.folder / "b.kalmia").read_bytes())

    def test_mistakes(self):
        fit = ["fit", "gps.csv", *OPTIONS, *FIT, "-o", "m.kalmia"]
        self.fail_with(2, [*fit, "--noise", "0.5"],
                       ['--noise = "0.5", but the data say how noisy each value is'])
        self.fail_with(2, [*fit, "--hidden", "4", "--smoother", "fused"], ['--smoother = "fused", but it does not'])
        rows = self.rows()
        rows[4] = "4,1,2,0.3,0,0,0"
        self.write(rows)
        self.fail_with(3, fit, ["kalmia fit: gps.csv:6: column gps_std_e: the standard deviation of "
                                "east is 0, but"])
        rows[4] = "4,1,2,,0.3,0,0"
        self.write(rows)
        self.fail_with(3, fit, ["gps.csv:6: column gps_std_n: the standard deviation of north is "
                                "missing"])
        rows[4] = "4,,2,,0.3,0,0"
        self.write(rows)
        self.succeed(*fit)
        self.fail_with(3, ["stream", "m.kalmia", "--no-header"], ["line has 2 values, but the model takes 4"],
                       stdin="1,2\n")
        (self.folder / "plain.csv").write_text("t,north,east\n0,1,2\n")
        self.fail_with(3, ["filter", "m.kalmia", "plain.csv"],
                       ['no column "gps_std_n" for --noise-columns'])


if __name__ == "__main__":
    support.main()
