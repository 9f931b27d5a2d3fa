#!/usr/bin/python3
"""Random combinations of data and options through fit and everything that uses its model.

    option_fuzz_test.py PROGRAM [--count 40] [--first 1] [--seed 1] [--only NUMBER] [--jobs 2] [--keep FOLDER]

A combination is drawn from the seed and its number alone; `--only 17 --keep FOLDER` repeats one and
leaves its data and its command lines there. Every command succeeds, or is refused before any work
with one message on the list REFUSALS. What is written is whole and finite, and what `evaluate` says
is computed a second time from it.
"""

import concurrent.futures
import json
import math
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import fuzz_arguments
from fuzz_cases import Case
from fuzz_outputs import Failure, Refused, Written, check_table

# Why a combination may be refused, at most this share of them.
MOST_REFUSED = 0.15
REFUSALS = (
    ("a smoother of networks with noise columns",
     r"smoother = \"[a-z-]+\", but it does not use the noise of each value"),
    ("stated noise with noise columns", r"noise = \"[^\"]+\", but the data say how noisy"),
    ("the alternative posterior with tails", r"--smoother = recursive-alternative with tails = "),
    ("the alternative posterior with a nonlinear emission",
     r"smoother = \"recursive-alternative\", but the measurements are no linear functions"),
    ("iterations with a linear model", r"--iterations = \d+ has no effect"),
    ("an option without effect", r"^kalmia \w+: --[a-z-]+ = [^\n]* has no effect: "),
    ("samples of a recurrent filter", r"recurrent filter"),
    ("parts of a prior that has none", r"parts: the model's prior is "),
    ("parts of a recurrent smoother", r"--parts: a recurrent smoother"),
    ("iterations over a recurrent filter", r"but a recurrent filter has no expert map to linearise"),
    ("a smoother that the model has not", r"but the model has no \w+ smoother"),
    # The flow of the equations, cut off after a few terms, cannot follow the data at all.
    ("equations that run away from the start",
     r"the likelihood is not finite at the starting point of the static stage"),
    ("another unit of time", r"the time step is [^\n]* but the model was fitted with steps of"),
)

# Figures of evaluate that are computed a second time agree to this much, relative to the larger of
# 1e-9 and the figure: files have 17 digits.
FIGURE_TOLERANCE = 1e-6
# Moments of the same thing from two commands, in standard deviations.
MOMENT_TOLERANCE = 1e-6
NETWORK_TOLERANCE = 1e-3


class Runner:
    def __init__(self, program, folder, case):
        self.program, self.folder, self.case = program, folder, case
        self.commands = []

    def run(self, *arguments, stdin=None, refusable=True):
        """The command's standard output."""
        words = [str(word) for word in (*arguments, *self.case.isa)]
        self.commands.append("kalmia " + shlex.join(words) + (" < lines.txt" if stdin else ""))
        if stdin is not None:
            (self.folder / "lines.txt").write_text(stdin)
        before = {path.name for path in self.folder.iterdir()}
        try:
            done = subprocess.run([str(self.program), *words, "--threads", "1"], cwd=self.folder,
                                  input=stdin, capture_output=True, text=True, timeout=600)
        except subprocess.TimeoutExpired:
            raise Failure("timeout", f"{words[0]}: more than 600 s") from None
        if done.returncode == 0:
            return done.stdout
        said = done.stderr
        messages = [line for line in said.splitlines() if line.startswith("kalmia")]
        if done.returncode not in (2, 3, 4) or len(messages) != 1 or not refusable:
            raise Failure("exit", f"{words[0]}: exit code {done.returncode}: {said.strip()[-600:]}")
        if not said.startswith("kalmia"):
            raise Failure("late", f"{words[0]}: refused after work: {said.strip()[-600:]}")
        if words[0] != "stream" and done.stdout:
            raise Failure("late", f"{words[0]}: refused after output: {said.strip()[-600:]}")
        left = {path.name for path in self.folder.iterdir()} - before
        if left:
            raise Failure("late", f"{words[0]}: refused, but left {', '.join(sorted(left))}")
        for reason, pattern in REFUSALS:
            if re.search(pattern, said):
                raise Refused(reason)
        raise Failure("refusal", f"{words[0]}: a refusal that is on no list: {said.strip()[-600:]}")

    def check(self):
        """Runs all: what was refused, and what failed. One failure does not hide another."""
        self.refused, self.failures = [], []
        self.model = self.filtered = self.smoothed = None
        if self.attempt(self.fit):
            for use in (self.filter, self.smooth, self.parts, self.forecast, self.stream, self.sample, self.unit,
                        self.hidden, self.evaluate):
                self.attempt(use)

    def attempt(self, use):
        try:
            use()
            return True
        except Refused as reason:
            self.refused.append(str(reason))
        except Failure as failure:
            self.failures.append((failure, self.commands[-1]))
        return False

    def fit(self):
        self.case.write_data(self.folder / "data.csv")
        self.run("fit", "data.csv", *self.case.options, "-o", "m.kalmia")
        info = json.loads(self.run("info", "m.kalmia", "--json", refusable=False))
        self.model = Written(info, self.case)

    def estimates(self, command, rows, *options, data="data.csv"):
        """A command's file of estimates, checked as far as any can be; and what it says of it."""
        out = f"{command}.csv" if data == "data.csv" else f"{command}-{data}"
        said = json.loads(self.run(command, "m.kalmia", data, *options, "--all-states", "--json",
                                   "-o", out))
        return self.model.read(self.folder / out, rows, command), said

    def smoothing(self):
        options = ["--method", self.case.method] if self.case.method != "auto" else []
        return options + (["--iterations", self.case.iterations] if self.case.iterations else [])

    def filter(self):
        self.filtered, self.filter_said = self.estimates("filter", self.case.lengths)
        if self.filter_said["measured_values"] != self.case.measured():
            raise Failure("figure", f"filter: {self.filter_said['measured_values']} measured values, "
                                    f"but the file has {self.case.measured()}")

    def smooth(self):
        self.smoothed, _ = self.estimates("smooth", self.case.lengths, *self.smoothing())
        plain = (self.case.tails == "gaussian" and not self.model.calibrated
                 and not self.model.smoother and not self.case.iterations)
        if plain and self.filtered:  # nothing comes after the last step
            for s in range(len(self.case.series)):
                self.same(f"the last smoothed state of series {s + 1} and the filtered one",
                          self.smoothed[s][-1:], self.filtered[s][-1:], MOMENT_TOLERANCE, "smooth")

    def parts(self):
        """What the parts add to a channel is what it is."""
        if not self.case.parts or not self.smoothed:
            return
        self.run("smooth", "m.kalmia", "data.csv", *self.smoothing(), "--parts", "-o", "parts.csv")
        rows = [row for series in self.smoothed for row in series]
        for k, (row, cells) in enumerate(zip(rows, check_table(self.folder / "parts.csv", len(rows), "parts"))):
            for name, _, _ in self.case.world.columns:
                shares = [float(value) for part, value in cells.items()
                          if part.startswith(name + ":") and not part.endswith("_std")]
                size = sum(abs(share) for share in shares)
                if not abs(sum(shares) - row["mean"][name]) <= 1e-9 * size:
                    raise Failure("parts", f"parts, row {k + 1}: those of {name} add up to {sum(shares)}, but it is "
                                           f"{row['mean'][name]}")

    def forecast(self):
        case = self.case
        ahead, _ = self.estimates("forecast", [case.horizon] * len(case.series),
                                  "--horizon", case.horizon)
        if case.time == "dates":
            return  # whole seconds
        case.write_data(self.folder / "longer.csv", case.horizon)
        through, _ = self.estimates("filter", [n + case.horizon for n in case.lengths],
                                    data="longer.csv")
        for s in range(len(case.series)):
            self.same(f"the forecast of series {s + 1} and the filter over empty rows", ahead[s],
                      through[s][-case.horizon:],
                      NETWORK_TOLERANCE if self.model.networks else MOMENT_TOLERANCE, "forecast")

    def stream(self):
        case = self.case
        rows = case.series[0]
        lines = "".join(",".join(["" if y is None else repr(y) for y in row["y"]]
                                 + [repr(u) for u in row["u"]]
                                 + [repr(v) for v in row["std"][:case.noise_columns]]) + "\n"
                        for row in rows)
        answers = [json.loads(line) for line in
                   self.run("stream", "m.kalmia", "--all-states", "--json",
                            stdin=lines).splitlines()]
        if len(answers) != len(rows):
            raise Failure("output", f"stream: {len(answers)} answers to {len(rows)} lines")
        found = [self.model.row(answer, f"stream, line {k + 1}") for k, answer in enumerate(answers)]
        if not case.regular() or not self.filtered:
            return  # a stream's steps are the usual ones
        self.same("the stream and the filter of series 1", found, self.filtered[0],
                  NETWORK_TOLERANCE if self.model.networks else MOMENT_TOLERANCE, "stream")
        if len(case.series) == 1:
            total = sum(answer["log_likelihood"] for answer in answers)
            self.figure("log-likelihood of the stream", total, self.filter_said["log_likelihood"],
                        1e-4 if self.model.networks else FIGURE_TOLERANCE)

    def unit(self):
        if not self.case.other_unit:
            return
        self.case.write_data(self.folder / "ms.csv", unit=0.001)
        try:
            self.run("filter", "m.kalmia", "ms.csv", "-o", "ms-filter.csv")
        except Refused:
            return  # as it must be; the combination itself works
        raise Failure("unit", "filter: data whose time is in another unit were not refused")

    def sample(self):
        if self.case.samples:
            self.run("sample", "m.kalmia", "data.csv", "--count", 2, "-o", "sample.csv")
            check_table(self.folder / "sample.csv", 2 * sum(self.case.lengths), "sample")

    def hidden(self):
        if not self.case.hide:
            return
        found = json.loads(self.run("evaluate", "m.kalmia", "data.csv", "--json", "--hide", 0.1,
                                    *self.smoothing()))
        scores = found["hidden"]
        if all(value is None for value in scores.values()):
            return  # so few values that none of them was hidden
        for name, value in scores.items():
            if value is None or not math.isfinite(value):
                raise Failure("evaluate", f"evaluate: hidden {name} is {value}")

    def evaluate(self):
        case = self.case
        horizon = ["--horizon", case.score_horizon] if case.score_horizon else []
        found = json.loads(self.run("evaluate", "m.kalmia", "data.csv", "--json", *self.smoothing(),
                                    *horizon))
        self.figure("steps", found["steps"], sum(case.lengths))
        self.figure("measured values", found["measured_values"], case.measured())
        if self.filtered:
            self.figure("log-likelihood", found["log_likelihood"], self.filter_said["log_likelihood"])
        if case.score_horizon and len(found["forecasts"]) != case.score_horizon:
            raise Failure("evaluate", f"evaluate: {len(found['forecasts'])} forecasts")
        if not self.filtered or not self.smoothed:
            return
        for name, value in self.model.scores(self.filtered, self.smoothed).items():
            at = found
            for part in name.split("."):
                at = at[part]
            self.figure(name, at, value)

    @staticmethod
    def figure(name, found, expected, tolerance=FIGURE_TOLERANCE):
        if found is None or not math.isfinite(found) or not (
                abs(found - expected) <= tolerance * max(1e-9, abs(expected))):
            raise Failure("evaluate", f"evaluate: {name} is {found}, but from the estimates {expected}")

    @staticmethod
    def same(what, found, expected, tolerance, kind):
        for k, (a, b) in enumerate(zip(found, expected, strict=True)):
            for name in b["mean"]:
                std = b["std"][name]
                if (abs(a["mean"][name] - b["mean"][name]) > tolerance * std
                        or abs(a["std"][name] - std) > tolerance * std):
                    raise Failure(kind, f"{what} differ at step {k + 1}, {name}: {a['mean'][name]} +- "
                                        f"{a['std'][name]} and {b['mean'][name]} +- {std}")


def check_case(program, seed, number, keep):
    """The runner of a combination, after its run."""
    folder = Path(tempfile.mkdtemp(prefix="kalmia-fuzz-"))
    runner = Runner(program, folder, Case(seed, number))
    runner.check()
    if keep:
        target = Path(keep) / f"case-{number}"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(folder, target)
        (target / "commands.txt").write_text("\n".join(runner.commands) + "\n")
    shutil.rmtree(folder, ignore_errors=True)
    return runner


def main():
    options = fuzz_arguments.parse(__doc__, 40)
    results, failed, reasons = [], set(), {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for each in pool.map(lambda n: check_case(options.program, options.seed, n, options.keep),
                             options.numbers):
            results.append(each)
            for reason in set(each.refused):
                reasons[reason] = reasons.get(reason, 0) + 1
            for failure, command in each.failures:
                failed.add(each)
                print(f"combination {each.case.number} (seed {options.seed}): [{failure.kind}] {failure}")
                for line in dict.fromkeys((each.commands[0], command)):
                    print(f"    {line}", flush=True)
    refused = [each for each in results if each.refused]
    fitted = [each.model for each in results if each.model]
    print(f"{len(results)} combinations: {len(failed)} failed, {len(refused)} refused; models with "
          f"networks {sum(model.networks for model in fitted)}, with a trained smoother "
          f"{sum(model.smoother for model in fitted)}")
    for reason, count in sorted(reasons.items()):
        print(f"    refused: {reason}: {count}")
    too_many = options.only is None and len(refused) > MOST_REFUSED * len(results)
    if too_many:
        print(f"too many are refused: {len(refused)} of {len(results)}, but at most "
              f"{MOST_REFUSED:.0%} may be")
    sys.exit(1 if failed or too_many else 0)


if __name__ == "__main__":
    main()
