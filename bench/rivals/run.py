#!/usr/bin/python3
"""Measures Kalmia against PyTorch, statsmodels and NumPy on the same numbers, alternately in one run.

usage: /usr/bin/python3 bench/rivals/run.py [--case NAME ...] [--quick] [--rival-only] [--build DIR]

Prints a table and writes BUILD/rivals.json. Exit code 1 when the results of the two sides differ, 2
when Kalmia's side is not built. README.md says how it is measured.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import machine

ROOT = Path(__file__).resolve().parents[2]
TRAIN_BATCHES = (64, 128, 256, 512, 1024)
INFER_BATCHES = (64, 256, 1024)
TARGETS = {"train.lorenz.b64": 20, "train.lorenz.best": 10, "train.linear.b64": 18,
           "train.audio.b64": 8, "infer.lorenz.best": 8, "stream.lorenz": 40,
           "classical.kf.single": 10, "classical.kf.batch": 20}
FLOAT_TOLERANCE, DOUBLE_TOLERANCE = 1e-3, 1e-9


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--case", action="append", choices=list(TARGETS), metavar="NAME",
                        help="run this case only (may be given again): " + ", ".join(TARGETS))
    parser.add_argument("--quick", action="store_true", help="shorter rounds, noisier numbers")
    parser.add_argument("--rival-only", action="store_true", help="do not run Kalmia's side")
    parser.add_argument("--build", type=Path, default=ROOT / "build",
                        help="build folder (default: build)")
    return parser.parse_args()


class Kalmia:
    """Kalmia's side: the program rivals_kalmia on a case directory."""

    def __init__(self, build):
        self.program = build / "bench/rivals_kalmia"

    def run(self, directory, seconds):
        done = subprocess.run([self.program, directory, str(seconds)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            sys.exit(f"{self.program} {directory} ended with {done.returncode}:\n{done.stdout}")
        return json.loads((directory / "result.json").read_text())


def steps_per_second(rival, seconds, parts=5):
    """Calls the rival for about `seconds` and returns time steps per second: the best of five parts,
    as rivals_kalmia does it."""
    torch.set_num_threads(rival.threads)
    best = 0.0
    for _ in range(parts):
        calls, start, elapsed = 0, time.perf_counter(), 0.0
        while elapsed < seconds / parts:
            rival()
            calls += 1
            elapsed = time.perf_counter() - start
        best = max(best, calls * rival.steps / elapsed)
    return best


def quickest(candidates, seconds):
    """The candidates with their speeds, best first. A candidate's speed is that of its best call
    within `seconds`, after three calls to warm up."""
    speeds = []
    for rival in candidates:
        torch.set_num_threads(rival.threads)
        for _ in range(3):
            rival()
        best, begin = float("inf"), time.perf_counter()
        while time.perf_counter() - begin < seconds:
            start = time.perf_counter()
            rival()
            best = min(best, time.perf_counter() - start)
        speeds.append((rival.steps / best, rival))
    return sorted(speeds, key=lambda pair: pair[0], reverse=True)


class Differences:
    """Collects how far the two sides' results are apart."""

    def __init__(self, tolerance):
        self.tolerance, self.worst, self.failures = tolerance, 0.0, []

    def compare(self, what, ours, theirs):
        ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
        if ours.shape != theirs.shape:
            self.failures.append(f"{what}: shape {ours.shape}, the rival has {theirs.shape}")
            return
        # Relative to the norm of the whole array; a NaN on either side counts as a failure.
        error = np.linalg.norm(ours - theirs) / max(np.linalg.norm(theirs), 1e-300)
        self.worst = max(self.worst, error)
        if not error <= self.tolerance:
            self.failures.append(f"{what}: relative difference {error:.2e}, allowed "
                                 f"{self.tolerance:.0e}")


def read(directory, name, shape, kind="<f8"):
    array = np.fromfile(directory / f"{name}.bin", kind)
    return array.reshape(shape) if array.size == np.prod(shape) else array


class Bench:
    def __init__(self, arguments):
        self.build = arguments.build.resolve()
        self.quick, self.rival_only = arguments.quick, arguments.rival_only
        self.rounds = 3
        self.seconds = 0.7 if self.quick else 2.5
        self.trial = 0.3 if self.quick else 0.5
        self.kalmia = Kalmia(self.build)

    def directory(self, name):
        return self.build / "rivals" / name

    # Each case prepares its directory and gives (directory of Kalmia's best setting, rival at its
    # best setting, differences).

    def train(self, case_name, model, batches):
        made = {batch: cases.learned_case(self.directory(f"{case_name}/b{batch}" if len(batches) > 1
                                                         else case_name), "train", model, batch)
                for batch in batches}
        differences = Differences(FLOAT_TOLERANCE)

        def check(batch, directory, result):
            case, y, params = made[batch]
            loss, grads = torch_side.first_step(case, y, params)
            differences.compare(f"loss, batch {batch}", result["loss"], loss)
            ours = cases.split_parameters(case, read(directory, "grads", grads.shape, "<f4"))
            theirs = cases.split_parameters(case, grads)
            for name in theirs:
                differences.compare(f"gradient of {name}, batch {batch}", ours[name], theirs[name])

        return self.best_settings(case_name, made, torch_side.Trainer, check), differences

    def infer(self, case_name):
        made = {batch: cases.learned_case(self.directory(f"{case_name}/b{batch}"), "infer", "lorenz",
                                          batch) for batch in INFER_BATCHES}
        differences = Differences(FLOAT_TOLERANCE)

        def check(batch, directory, _):
            case, y, params = made[batch]
            rival = torch_side.Inference(case, y, params, script=False, cholesky=True, threads=2)
            means, covs = rival.results()
            differences.compare(f"means, batch {batch}", read(directory, "means", means.shape), means)
            differences.compare(f"covariances, batch {batch}", read(directory, "covs", covs.shape),
                                covs)

        return self.best_settings(case_name, made, torch_side.Inference, check), differences

    def best_settings(self, case_name, made, kind, check):
        """Tries the batches on both sides and PyTorch's variants; checks Kalmia's results."""
        directories = {batch: self.directory(f"{case_name}/b{batch}" if len(made) > 1 else case_name)
                       for batch in made}
        best = None
        if not self.rival_only:
            speeds = {}
            for batch, directory in directories.items():
                result = self.kalmia.run(directory, self.trial)
                speeds[batch] = result["steps_per_s"]
                check(batch, directory, result)
            best = directories[max(speeds, key=speeds.get)]
        # All variants at one batch; then the three best of them at the other batches.
        middle = 256 if 256 in made else min(made)
        variants = torch_side.variants(made[middle][0])

        def candidates(batch, chosen):
            return [kind(*made[batch], **variant) for variant in chosen]

        tried = candidates(middle, variants)
        ranked = quickest(tried, self.trial)
        chosen = [variants[tried.index(rival)] for _, rival in ranked[:3]]
        for batch in made:
            if batch != middle:
                ranked += quickest(candidates(batch, chosen), self.trial)
        return best, max(ranked, key=lambda pair: pair[0])[1]

    def stream(self, case_name):
        directory = self.directory(case_name)
        case, y, params = cases.learned_case(directory, "stream", "lorenz", 1, steps=4096)
        differences = Differences(FLOAT_TOLERANCE)
        ranked = quickest([torch_side.Stream(case, y, params, compiled)
                           for compiled in (True, False)], self.trial)
        rival = ranked[0][1]
        if not self.rival_only:
            self.kalmia.run(directory, self.trial)
            x, P = rival.results()
            differences.compare("mean after the last step", read(directory, "means", x.shape), x)
            differences.compare("covariance after the last step", read(directory, "covs", P.shape), P)
        return (directory, rival), differences

    def classical(self, case_name, series, steps, kind):
        directory = self.directory(case_name)
        case, y = cases.kf_case(directory, series, steps)
        rival = kind(case, y)
        differences = Differences(DOUBLE_TOLERANCE)
        if not self.rival_only:
            result = self.kalmia.run(directory, self.trial)
            means, covs, log_likelihood = rival.results()
            differences.compare("means", read(directory, "means", means.shape), means)
            differences.compare("covariances", read(directory, "covs", covs.shape), covs)
            differences.compare("log-likelihood", result["log_likelihood"], log_likelihood)
        return (directory, rival), differences

    def prepare(self, name):
        if name == "train.lorenz.best":
            return self.train(name, "lorenz", TRAIN_BATCHES)
        if name.startswith("train."):
            return self.train(name, name.split(".")[1], (64,))
        if name == "infer.lorenz.best":
            return self.infer(name)
        if name == "stream.lorenz":
            return self.stream(name)
        if name == "classical.kf.single":
            return self.classical(name, 1, 32768, classical_side.Statsmodels)
        return self.classical(name, 1024, 128, classical_side.NumpyBatch)

    def run(self, name):
        """Measures one case; returns a row of the table as a dictionary."""
        (directory, rival), differences = self.prepare(name)
        ours, theirs, result = [], [], {}
        rival()
        for _ in range(self.rounds):
            if not self.rival_only:
                result = self.kalmia.run(directory, self.seconds)
                ours.append(result["steps_per_s"])
            theirs.append(steps_per_second(rival, self.seconds))
        row = {"name": name, "rival": statistics.median(theirs), "setting": rival.setting,
               "differences": differences, "result": result,
               "unsteady": any(max(r) > 1.3 * min(r) for r in (ours, theirs) if r)}
        if ours:
            row["kalmia"] = statistics.median(ours)
            row["ratio"] = row["kalmia"] / row["rival"]
            row["batch"] = json.loads((directory / "case.json").read_text()).get("batch")
        if name.startswith("train."):
            row["flop"] = training_flop(json.loads((next(self.directory(name).rglob("case.json")))
                                                   .read_text()))
        return row


def training_flop(case):
    """Floating-point operations of the networks' products in one time step of training: forward, and
    backward to the weights and to the inputs (for the GRU not to the measurements). The Kalman
    recursion and everything elementwise come on top and are not counted."""
    n, m = case["state_dim"], case["meas_dim"]
    hidden, decoder = case["hidden"], case["decoder_hidden"]
    out = n * n + n + n * (n + 1) // 2
    inner = 3 * hidden * hidden + decoder * hidden + out * decoder
    return 2 * (3 * inner + 2 * 3 * hidden * m)


def print_table(rows, peak):
    def speed(value):
        return "-" if value is None else f"{value:,.0f}"

    print(f"\n{'case':22s}{'kalmia':>14s}{'rival':>14s}{'ratio':>8s}{'target':>8s}  rival's setting")
    for row in rows:
        ratio = f"{row['ratio']:.1f}" if "ratio" in row else "-"
        marks = " *" if row["unsteady"] else ""
        if row.get("ratio", 1e9) < TARGETS[row["name"]]:
            marks += " (below the target)"
        print(f"{row['name']:22s}{speed(row.get('kalmia')):>14s}{speed(row['rival']):>14s}{ratio:>8s}"
              f"{TARGETS[row['name']]:>8d}  {row['setting']}{marks}")
    print("Speeds are time steps per second, medians of the rounds.")
    if any(row["unsteady"] for row in rows):
        print("* rounds more than 30 % apart: something else was running on this machine.")

    training = [row for row in rows if "flop" in row]
    if training:
        print(f"\nTraining against the machine's float32 product ({peak:.0f} GFLOP/s, torch.mm 2048^3, "
              f"{machine.THREADS} threads), products of the networks only:")
    for row in training:
        text = f"{row['name']:22s}{row['flop'] / 1e3:7.1f} kFLOP a step"
        for side in ("kalmia", "rival"):
            if side in row:
                achieved = row[side] * row["flop"] / 1e9
                text += f"   {side} {achieved:6.1f} GFLOP/s ({achieved / peak:6.1%})"
        reported = {key: value for key, value in row["result"].items() if "gflops" in key}
        if reported:
            text += "   reported: " + ", ".join(f"{k} {v:.0f}" for k, v in reported.items())
        if row.get("batch"):
            text += f"   kalmia's batch {row['batch']}"
        print(text)


def write_json(path, rows, replace):
    """All cases of this run; with --case those of earlier runs stay."""
    content = {}
    if not replace and path.is_file():
        content = json.loads(path.read_text())
    for row in rows:
        content[row["name"]] = {key: row[key] for key in ("kalmia", "rival", "ratio")}
    path.write_text(json.dumps(content, indent=1) + "\n")
    print(f"\nWritten: {path}")


def main():
    arguments = parse_arguments()
    bench = Bench(arguments)
    if not arguments.rival_only and not bench.kalmia.program.is_file():
        print(f"{bench.kalmia.program} is not there; build it (make build) or use --rival-only",
              file=sys.stderr)
        return 2
    start = time.monotonic()
    peak = machine.product_speed()
    print(f"Torch {torch.__version__} and NumPy {np.__version__} on {machine.loaded_blas()}, kernels "
          f"for {machine.core_type()}; product {peak:.0f} GFLOP/s with {machine.THREADS} threads")
    rows = []
    for name in arguments.case or TARGETS:
        row = bench.run(name)
        rows.append(row)
        differences = row["differences"]
        text = f"{name}: rival {row['rival']:,.0f} steps/s"
        if "ratio" in row:
            text += (f", kalmia {row['kalmia']:,.0f}; results "
                     + ("differ" if differences.failures else "equal")
                     + f" (largest relative difference {differences.worst:.1e})")
        print(text, flush=True)
        for failure in differences.failures:
            print(f"  DIFFERENT {failure}", flush=True)
    peak = max(peak, machine.product_speed())
    print_table(rows, peak)
    if not arguments.rival_only:
        write_json(bench.build / "rivals.json", rows, replace=arguments.case is None)
    print(f"{time.monotonic() - start:.0f} s in all")
    return 1 if any(row["differences"].failures for row in rows) else 0


if __name__ == "__main__":
    machine.enter_best_environment()
    import numpy as np
    import torch

    import cases
    import classical_side
    import torch_side
    sys.exit(main())
