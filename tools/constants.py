#!/usr/bin/python3
"""Prints how often fits of equations with learned constants end in the best maximum of the
likelihood: 20 starts of the constants, log-uniform within a factor of 10 of the truth, on data of
each simulator, and of a smooth signal in first-order noise.

usage: tools/constants.py [PROGRAM] [--steps 6000] [--starts 20] [--system NAME]...

A benchmark, not a test: it takes some minutes. Losses are those of the training data, in nats per
value; `median` and `worst` are over the best of all starts. A start is "best" if it ends no more
than 0.001 above that. `time` is the CPU time of a fit, in seconds.
"""

import argparse
import json
import math
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

NEAR = 1e-3
FACTOR = 10

LINEAR_ODE = {f"{name}{axis}": text.replace("#", str(axis)) for axis in (1, 2)
              for name, text in (("p", "v#"), ("v", "a# - c*v#"), ("a", "-tau*v#"))}
WAVES = ("a", "b", "c")

# Of each system: the simulator, the constants with their true values, and the equations.
SYSTEMS = {
    "lorenz": {
        "simulate": ["lorenz"], "constants": {"sigma": 10, "rho": 28, "beta": 8 / 3},
        "ode": {"y1": "sigma*(y2 - y1)", "y2": "y1*(rho - y3) - y2", "y3": "y1*y2 - beta*y3"}},
    "pendulum": {
        "simulate": ["pendulum"], "constants": {"gravity": 9.81, "damping": 0.1},
        "ode": {"angle": "rate", "rate": "-gravity*sin(angle) - damping*rate"},
        "measure": {"y1": "angle"}, "initial": {"rate": (0, 3)}},
    "van-der-pol": {
        "simulate": ["van-der-pol"], "constants": {"mu": 1.5, "stiffness": 1},
        "ode": {"x": "v", "v": "mu*(1 - x^2)*v - stiffness*x"},
        "measure": {"y1": "x"}, "initial": {"v": (0, 3)}},
    "linear": {
        "simulate": ["linear"], "constants": {"c": 0.06, "tau": 0.17},
        "ode": LINEAR_ODE, "measure": {"y1": "p1", "y2": "p2"},
        "initial": {name: (0, 1) for name in ("v1", "a1", "v2", "a2")}},
    "sinusoids": {  # periods of about 20, 60 and 130: roots of 3 frequencies
        "simulate": ["sinusoids"], "constants": {f"w_{w}": 0.1 for w in WAVES},
        "truth_of": "periods",
        "ode": {name: text for w in WAVES
                for name, text in ((f"s_{w}", f"q_{w}"), (f"q_{w}", f"-w_{w}^2*s_{w}"))},
        "measure": {"y1": "s_a + s_b + s_c"},
        "initial": {name: (0, std) for w in WAVES for name, std in ((f"s_{w}", 1), (f"q_{w}", 0.1))}},
    "random-linear": {  # two states, both measured: the map of a step
        "simulate": ["random-linear", "--states", "2", "--measured", "2"],
        "constants": {"f11": 1, "f12": 1, "f21": 1, "f22": 1}, "truth_of": "map",
        "next": {"y1": "f11*y1 + f12*y2", "y2": "f21*y1 + f22*y2"}},
    "smooth-in-noise": {  # a swing that is fed at random, in noise that lasts
        "constants": {"stiffness": 0.02, "drag": 0.05, "pace": 0.5},
        "ode": {"s": "v", "v": "-stiffness*s - drag*v", "n": "-pace*n"},
        "measure": {"y1": "s + n"},
        "initial": {"s": (0, 1), "v": (0, 0.2), "n": (0, 1)}},
}


def columns(path):
    """Numbers of a file by column."""
    with open(path, encoding="ascii") as file:
        names, *rows = (line.strip().split(",") for line in file)
    return {name: [float(row[i]) for row in rows] for i, name in enumerate(names)}


def smooth_in_noise(path, steps):
    """v' = -0.02 s - 0.05 v + noise, s' = v, and first-order noise of pace 0.5, nothing else."""
    draw = random.Random(5)
    s = v = n = 0.0
    parts = 20
    h = 1 / parts
    with open(path, "w", encoding="ascii") as file:
        file.write("y1\n")
        for _ in range(steps):
            for _ in range(parts):
                v += h * (-0.02 * s - 0.05 * v) + 0.05 * math.sqrt(h) * draw.gauss(0, 1)
                s += h * v
                n += -0.5 * h * n + 0.3 * math.sqrt(h) * draw.gauss(0, 1)
            file.write(f"{s + n + 0.02 * draw.gauss(0, 1)!r}\n")


def true_frequencies(signal):
    """The three highest peaks of a windowed spectrum, in radians a step."""
    window = np.hanning(len(signal))
    spectrum = np.abs(np.fft.rfft(signal * window, 16 * len(signal)))
    inner = spectrum[1:-1]
    peaks = np.flatnonzero((inner > spectrum[:-2]) & (inner > spectrum[2:])) + 1
    best = sorted(peaks, key=lambda i: -spectrum[i])[:3]
    return sorted(2 * math.pi * i / (16 * len(signal)) for i in best)


def true_map(data):
    """The matrix of least squares from each true state to the next, by rows."""
    x = np.array([data["true_y1"], data["true_y2"]]).T
    return np.linalg.lstsq(x[:-1], x[1:], rcond=None)[0].T.ravel()


def truth(system, path):
    constants = system["constants"]
    if system.get("truth_of") == "periods":
        return dict(zip(constants, true_frequencies(columns(path)["true_y1"])))
    if system.get("truth_of") == "map":
        return dict(zip(constants, map(float, true_map(columns(path)))))
    return dict(constants)


def config(system, path, start):
    """The configuration of a fit that begins at `start`. Only what is positive has a bound."""
    lines = ["[data]", f'file = "{path}"', "[model]", "hidden = 0", 'tails = "gaussian"', "[system]"]
    if "next" not in system:
        lines.append(f"states = {json.dumps(list(system['ode']))}")
    lines.append("[system.parameters]")
    for name, value in start.items():
        lines.append(f"{name} = {{value = {value!r}, learn = true" + (", lower = 0}" if value > 0 and
                     system.get("truth_of") != "map" else "}"))
    for table in ("ode", "next", "measure"):
        if table in system:
            lines.append(f"[system.{table}]")
            lines += [f'{name} = "{text}"' for name, text in system[table].items()]
    if "initial" in system:
        lines.append("[system.initial]")
        lines += [f"{name} = {{mean = {mean}, std = {std}}}"
                  for name, (mean, std) in system["initial"].items()]
    return "\n".join(lines) + "\n"


def children_time():
    """CPU time of the programs that were run, in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def losses(program, system, folder, steps, starts):
    """Losses, constants and times of the fits from all starts, the truth the last of them."""
    path = folder / "data.csv"
    if "simulate" in system:
        subprocess.run([program, "simulate", *system["simulate"], "--steps", str(steps), "-q",
                        "-o", path], check=True)
    else:
        smooth_in_noise(path, steps)
    true = truth(system, path)
    draw = random.Random(1)
    found = []
    for i in range(starts + 1):
        begin = true if i == starts else {name: value * FACTOR ** draw.uniform(-1, 1)
                                          for name, value in true.items()}
        before = children_time()
        (folder / "fit.toml").write_text(config(system, path, begin))
        result = subprocess.run([program, "fit", folder / "fit.toml", "-o", folder / "m.kalmia",
                                 "--json"], capture_output=True, text=True)
        if result.returncode:
            found.append((math.inf, {}, math.nan))
            print("  " + result.stderr.strip(), file=sys.stderr)
            continue
        static = json.loads(result.stdout)["static"]
        constants = {each["name"]: each["value"] for each in static["parameters"]}
        found.append((static["training"], constants, children_time() - before))
    return true, found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("program", nargs="?", default="build/kalmia")
    parser.add_argument("--steps", type=int, default=6000)
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--system", action="append", choices=SYSTEMS)
    parser.add_argument("--verbose", action="store_true", help="also what each start ends at")
    options = parser.parse_args()
    program = str(Path(options.program).resolve())
    print(f"{'system':16} {'constants':>9} {'best':>9} {'best of':>8} {'median':>9} {'worst':>9} "
          f"{'from truth':>10} {'time':>6}")
    for name in options.system or SYSTEMS:
        with tempfile.TemporaryDirectory() as folder:
            true, found = losses(program, SYSTEMS[name], Path(folder), options.steps,
                                 options.starts)
        values = [loss for loss, _, _ in found]
        best = min(values)
        above = sorted(loss - best for loss in values[:-1])
        times = [time for _, _, time in found if not math.isnan(time)]
        print(f"{name:16} {len(true):9} {best:9.4f} {sum(a <= NEAR for a in above):5}/{len(above):2} "
              f"{above[len(above) // 2]:9.5f} {above[-1]:9.5f} {values[-1] - best:10.5f} "
              f"{sum(times) / len(times):6.2f}", flush=True)
        for loss, constants, time in found if options.verbose else ():
            print(f"    {loss - best:9.5f} {time:5.1f} " +
                  " ".join(f"{key} {value:.4g}" for key, value in constants.items()))


if __name__ == "__main__":
    main()
