#!/usr/bin/python3
"""Random combinations of data and options through fit and everything that uses its model.

    option_fuzz_test.py PROGRAM [--count 40] [--first 1] [--seed 1] [--only NUMBER] [--jobs 2] [--keep FOLDER]

A combination is drawn from the seed and its number alone; `--only 17 --keep FOLDER` repeats one and
leaves its data and its command lines there. Every command succeeds, or is refused before any work
with one message on the list REFUSALS. What is written is whole and finite, and what `evaluate` says
is computed a second time from it.
"""

import argparse
import concurrent.futures
import csv
import json
import math
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Why a combination may be refused, at most this share of them.
MOST_REFUSED = 0.15
REFUSALS = (
    ("calibrate with tails", r"model\.calibrate with model\.tails = "),
    ("calibrate with a smoother that leaks", r"model\.calibrate with model\.smoother = recursive"),
    ("calibrate with noise columns", r"calibrate does not know the noise of each value"),
    ("a smoother of networks with noise columns",
     r"smoother = \"[a-z-]+\", but it does not use the noise of each value"),
    ("stated noise with noise columns", r"noise = \"[^\"]+\", but the data say how noisy"),
    ("the alternative posterior with tails", r"model\.smoother = recursive-alternative, but it must be"),
    ("the alternative posterior with a nonlinear emission",
     r"model\.smoother = recursive-alternative, but the measurements are no linear functions"),
    ("iterations with a linear model", r"--iterations = \d+ has no effect"),
    ("an option without effect", r"^kalmia \w+: --[a-z-]+ = [^\n]* has no effect: "),
    ("samples of a recurrent filter", r"recurrent filter"),
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


class Failure(Exception):
    """What should not have happened; `kind` is one word for it."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


class Refused(Exception):
    """The program declined, as it may."""


# ---------------------------------------------------------------------------------------------------
# Worlds: what is simulated, and what can be known of it.

class World:
    """States over time; `columns` are the measured ones, each a function of the states."""

    states = ()
    columns = ()  # (name, expression or None, function of a dict of states and parameters)
    emission = "states"  # or "equations": a column is something else than a state
    inputs = 0
    equations = ()  # options of fit
    parameters = {}  # those of `equations`, true values
    step = None  # the time step it takes
    priors = ()  # named ones that fit, or () where there are equations

    def channel(self, m, values):
        return self.columns[m][2](values)


def waves(r, channels):
    world = World()
    size = [10 ** r.uniform(-2, 2) for _ in range(channels)]
    offset = [r.choice((0, 0, 5)) * s * r.uniform(-1, 1) for s in size]
    pace = [r.uniform(0.05, 0.5) for _ in range(channels)]
    wander = r.random() < 0.5
    world.states = tuple(f"y{m + 1}" for m in range(channels))
    world.columns = tuple((name, None, lambda v, n=name: v[n]) for name in world.states)
    level = [0.0] * channels

    def at(t, k, u, fresh):
        for m in range(channels):
            if fresh:
                level[m] = 0.0
            level[m] = level[m] + r.gauss(0, 0.3) if wander else math.sin(pace[m] * k + m)
        return {name: offset[m] + size[m] * level[m] for m, name in enumerate(world.states)}

    world.at = at
    world.noise = [0.3 * s for s in size]
    world.priors = ("auto", "constant-position", "mean-reverting", "constant-velocity",
                    "damped-velocity", "constant-acceleration", "oscillator", "ar", "none")
    if channels == 2:
        world.priors += ("coordinated-turn", "linear-motion")
    return world


def integrated(r, world, slope, start, spread=0.0):
    """Gives a world the flow of `slope`, by small steps of Runge and Kutta."""
    last = {}

    def at(t, k, u, fresh):
        if fresh:
            last["t"], last["x"] = t, {s: v + r.gauss(0, 0.1) for s, v in start.items()}
        parts = 8
        h = (t - last["t"]) / parts
        x = last["x"]

        def moved(x, k, share):
            return {s: x[s] + share * k[s] for s in x}

        for _ in range(parts if h > 0 else 0):
            k1 = slope(x, u)
            k2 = slope(moved(x, k1, h / 2), u)
            k3 = slope(moved(x, k2, h / 2), u)
            k4 = slope(moved(x, k3, h), u)
            x = {s: x[s] + h / 6 * (k1[s] + 2 * k2[s] + 2 * k3[s] + k4[s]) for s in x}
        last["t"], last["x"] = t, {s: v + spread * r.gauss(0, 1) for s, v in x.items()}
        return dict(last["x"])

    world.at = at


def lorenz(r):
    world = World()
    world.states = ("y1", "y2", "y3")
    world.columns = tuple((name, None, lambda v, n=name: v[n]) for name in world.states)
    integrated(r, world, lambda x, u: {"y1": 10 * (x["y2"] - x["y1"]),
                                       "y2": x["y1"] * (28 - x["y3"]) - x["y2"],
                                       "y3": x["y1"] * x["y2"] - 8 / 3 * x["y3"]},
               {"y1": 4.0, "y2": 6.0, "y3": 17.0})
    world.noise = [0.5, 0.5, 0.5]
    world.step = 0.02
    world.priors = ("lorenz", "lorenz", "none", "constant-velocity")
    return world


def emission(r, column, state, scale=1.0):
    """A measured column of one state: options of fit, parameters, and the column itself."""
    form = r.choice(("state", "state", "offset", "gain", "affine", "cube", "wave", "exponential"))
    if form == "state":
        return (), {}, (column, state, lambda v: v[state])
    if form == "offset":
        return (("--parameter", "b = 0.5 learn"),), {"b": 2.0}, (
            column, f"{state} + b", lambda v: v[state] + v["b"])
    if form == "gain":
        return (("--parameter", "g = 1 in 0.1..10"),), {"g": 1.5}, (
            column, f"g*{state}", lambda v: v["g"] * v[state])
    if form == "affine":
        return (("--parameter", "b = 1"),), {"b": 1.0}, (
            column, f"2*{state} + b", lambda v: 2 * v[state] + v["b"])
    if form == "cube":
        return (), {}, (column, f"{state} + {state}^3/5", lambda v: v[state] + v[state] ** 3 / 5)
    if form == "wave":
        return (), {}, (column, f"sin({state}/2)", lambda v: math.sin(v[state] / 2))
    return (), {}, (column, f"exp({state}/3)", lambda v: math.exp(v[state] / 3))


def equations(r):
    world = World()
    kind = r.choice(("decay", "driven", "pendulum", "map", "vehicle"))
    learned = r.random() < 0.6
    world.noise = [0.1]
    if kind in ("decay", "driven"):
        world.states = ("x",)
        world.inputs = 1 if kind == "driven" else 0
        push = "u" if world.inputs else "1"
        options = [("--ode", f"x = -k*x + {push}"), ("--parameter", f"k = 0.8{' learn' * learned}")]
        world.parameters = {"k": 0.7}
        integrated(r, world, lambda x, u: {"x": -0.7 * x["x"] + (u[0] if u else 1)}, {"x": 1.0}, 0.1)
    elif kind == "pendulum":
        world.states = ("angle", "rate")
        options = [("--ode", "angle = rate"), ("--ode", "rate = -k*sin(angle) - 0.1*rate"),
                   ("--parameter", f"k = 2.5{' in 0.1..20' * learned}")]
        world.parameters = {"k": 3.0}
        integrated(r, world, lambda x, u: {"angle": x["rate"],
                                           "rate": -3 * math.sin(x["angle"]) - 0.1 * x["rate"]},
                   {"angle": 1.0, "rate": 0.0}, 0.05)
    elif kind == "map":
        world.states = ("x",)
        options = [("--next", "x = a*x"), ("--parameter", f"a = 0.8{' in 0..1' * learned}")]
        world.parameters = {"a": 0.9}
        last = {}

        def at(t, k, u, fresh):
            last["x"] = r.gauss(0, 1) if fresh else 0.9 * last["x"] + r.gauss(0, 0.4)
            return dict(last)

        world.at = at
    else:
        world.states = ("px", "py", "vx", "vy")
        options = [("--ode", "px = vx"), ("--ode", "py = vy"), ("--ode", "vx = 0"), ("--ode", "vy = 0")]
        integrated(r, world, lambda x, u: {"px": x["vx"], "py": x["vy"], "vx": 0.0, "vy": 0.0},
                   {"px": 20.0, "py": 5.0, "vx": 0.2, "vy": -0.1}, 0.02)
    if kind == "vehicle":
        world.columns = (("range", "sqrt(px^2 + py^2)", lambda v: math.hypot(v["px"], v["py"])),
                         ("bearing", "atan2(py, px)", lambda v: math.atan2(v["py"], v["px"])))
        world.noise = [0.1, 0.01]
        options += [("--initial", "px = 20 +- 2"), ("--initial", "py = 5 +- 2"),
                    ("--initial", "vx = 0 +- 1"), ("--initial", "vy = 0 +- 1")]
    else:
        # The column has the state's name where it measures the state itself.
        more, parameters, column = emission(r, "y", world.states[0])
        if column[1] == world.states[0] and r.random() < 0.5:
            column = (world.states[0], None, column[2])
        options += more
        world.parameters = {**world.parameters, **parameters}
        world.columns = (column,)
    if any(text and text not in world.states for _, text, _ in world.columns):
        world.emission = "equations"
    options += [("--measure-as", f"{name} = {text}") for name, text, _ in world.columns if text]
    if kind != "map" and r.random() < 0.3:
        options += r.choice(((("--flow", "rk4"), ("--substeps", "2")), (("--flow", "taylor"),
                                                                      ("--order", "3"))))
    world.equations = [word for pair in options for word in pair]
    return world


# ---------------------------------------------------------------------------------------------------
# Combinations.

class Case:
    """Data and options of one combination."""

    def __init__(self, seed, number):
        self.number = number
        r = random.Random(f"{seed} {number}")
        kind = r.choices(("waves", "lorenz", "equations"), (5, 2, 4))[0]
        self.world = (waves(r, r.choice((1, 1, 2, 2, 3))) if kind == "waves" else
                      lorenz(r) if kind == "lorenz" else equations(r))
        self.emission = self.world.emission
        self.draw_data(r)
        self.draw_options(r)
        self.draw_uses(r)

    # -- data --

    def draw_data(self, r):
        world = self.world
        channels = len(world.columns)
        shape = r.choices(("one", "few", "many", "short"), (5, 2, 2, 2))[0]
        enough = 620 // channels  # networks want 500 values
        self.lengths = ([enough + r.randrange(60)] if shape == "one" else
                        [r.randrange(enough // 4, enough // 2) for _ in range(r.randrange(3, 5))]
                        if shape == "few" else
                        [r.randrange(20, 40) for _ in range(24)] if shape == "many" else
                        [r.randrange(12, 60) for _ in range(r.choice((1, 1, 2)))])
        self.keyed = len(self.lengths) > 1
        self.time = r.choices(("regular", "none", "jitter", "jumps", "dates"), (5, 2, 2, 2, 1))[0]
        self.missing = r.choices(("none", "some", "runs", "slow"), (5, 3, 2, 1))[0]
        self.inputs = world.inputs or (r.choice((1, 2)) if r.random() < 0.15 else 0)
        self.noise_columns = r.choices((0, 1, channels), (12, 1, 1))[0]
        self.truth = r.choices(("channels", "states", "none"), (5, 2, 1))[0]
        self.dt = r.choice((1, 0.1, 0.25))
        if world.step:
            self.time = "regular" if self.time in ("none", "dates") else self.time
            self.dt = world.step
        elif self.time == "dates":
            self.dt = 1 if world.equations else 60  # equations are written in seconds
        elif self.time == "none":
            self.dt = 1
        self.u_names = [] if not self.inputs else ["u"] if self.inputs == 1 else ["u1", "u2"]
        self.std_names = ([] if not self.noise_columns else ["std"] if self.noise_columns == 1 else
                          [f"std_{name}" for name, _, _ in world.columns])
        truth_of = {"channels": [name for name, _, _ in world.columns],
                    "states": list(world.states), "none": []}[self.truth]
        self.truth_names = truth_of
        self.series = [self.draw_series(r, steps) for steps in self.lengths]

    def draw_series(self, r, steps):
        """Rows of dicts: t, y (None: missing), u, std, truth by name, x."""
        world, rows, t = self.world, [], 0.0
        gap = 0
        u = [r.uniform(-1, 1) for _ in range(self.inputs)]
        for k in range(steps):
            x = world.at(t, k, u, k == 0)
            values = {**world.parameters, **x}
            std = [s * (r.choice((0.5, 1, 2)) if self.noise_columns else 1) for s in world.noise]
            if self.noise_columns == 1:
                std = [std[0]] * len(std)
            clean = [world.channel(m, values) for m in range(len(world.columns))]
            y = [c + r.gauss(0, s) for c, s in zip(clean, std)]
            if self.missing == "runs":
                gap = gap - 1 if gap else (r.randrange(2, 15) if r.random() < 0.02 else 0)
            for m in range(len(y)):
                if (self.missing == "some" and r.random() < 0.1 or self.missing == "runs" and gap
                        or self.missing == "slow" and m == len(y) - 1 and k % 3):
                    y[m] = None
            truth = dict(zip((name for name, _, _ in world.columns), clean))
            rows.append({"t": t, "y": y, "u": list(u), "std": std, "truth": {**truth, **x}})
            t += self.dt * (r.uniform(0.5, 1.5) if self.time == "jitter" else
                            r.randrange(2, 9) if self.time == "jumps" and r.random() < 0.03 else 1)
            u = [r.uniform(-1, 1) if r.random() < 0.1 else each for each in u]
        return rows

    def time_text(self, t):
        if self.time == "dates":
            seconds = round(t)
            return (f"2024-03-{1 + seconds // 86400:02d}T{seconds // 3600 % 24:02d}:"
                    f"{seconds // 60 % 60:02d}:{seconds % 60:02d}Z")
        return repr(t)

    def write_data(self, path, extra=0, unit=1):
        """The file of the data; `extra` empty rows follow each series; `unit` is that of time."""
        names = [name for name, _, _ in self.world.columns]
        header = (["key"] if self.keyed else []) + (["t"] if self.time != "none" else []) + names
        header += self.u_names + self.std_names + [f"true_{name}" for name in self.truth_names]
        with open(path, "w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(header)
            for s, rows in enumerate(self.series):
                after = [{"t": t, "y": [None] * len(names), "u": rows[-1]["u"],
                          "std": rows[-1]["std"], "truth": None}
                         for t in self.times_after(rows, extra)]
                for row in rows + after:
                    cells = ([f"s{s + 1}"] if self.keyed else [])
                    cells += [self.time_text(row["t"] / unit)] if self.time != "none" else []
                    cells += ["" if y is None else repr(y) for y in row["y"]]
                    cells += [repr(u) for u in row["u"]]
                    cells += [repr(v) for v in row["std"][:self.noise_columns]]
                    cells += ["" if row["truth"] is None else repr(row["truth"][name])
                              for name in self.truth_names]
                    out.writerow(cells)

    def usual_step(self):
        if self.time == "none":
            return 1.0
        steps = sorted(b["t"] - a["t"] for rows in self.series for a, b in zip(rows, rows[1:]))
        return steps[(len(steps) - 1) // 2]

    def times_after(self, rows, count):
        return [rows[-1]["t"] + (k + 1) * self.usual_step() for k in range(count)]

    def regular(self):
        return self.time in ("regular", "none", "dates")

    def measured(self):
        return sum(y is not None for rows in self.series for row in rows for y in row["y"])

    # -- options of the fit --

    def draw_options(self, r):
        world, channels = self.world, len(self.world.columns)
        options = []
        add = lambda *words: options.extend(str(word) for word in words)
        self.networks = r.random() < 0.6
        idle = r.random() < 0.03
        if world.equations:
            options += world.equations
            self.prior = "system"
        else:
            self.prior = r.choice(world.priors)
            if self.prior == "linear-motion" and self.dt > 1:
                self.prior = "constant-velocity"  # its map runs away in a step of a minute
            if self.prior != "auto" or r.random() < 0.5:
                add("--prior", self.prior)
            if self.prior == "ar" and r.random() < 0.5:
                add("--order", r.choice((1, 3)))
            if self.prior == "none" and r.random() < 0.5:
                add("--latent", r.choice((1, 2)))
            if self.prior in ("lorenz", "linear-motion") and r.random() < 0.5:
                flow = r.choice(("frozen", "taylor", "rk4"))
                add("--flow", flow)
                add(*(("--substeps", 2) if flow == "rk4" else ("--order", 3)))
            if self.prior in ("lorenz", "constant-velocity", "oscillator") and r.random() < 0.15:
                add("--departure", 0.05)
        if idle:
            add(*r.choice((("--taps", 5), ("--keep-smoother",), ("--substeps", 3), ("--order", 5))))
        # What is stated: a little more than what is there.
        stated = [1.1 * s for s in world.noise]
        noise = r.choice(("auto", "learn", "one", "each", "full", "learn-full"))
        if self.std_names and r.random() < 0.8:
            noise = r.choice(("auto", "learn"))
        if noise in ("learn", "learn-full"):
            add("--noise", noise)
        elif noise == "one" and len(set(stated)) == 1:
            add("--noise", stated[0])
        elif noise in ("one", "each") or noise == "full" and channels == 1:
            add("--noise", ",".join(map(repr, stated)))
        elif noise == "full":
            add("--noise", ";".join(",".join(repr(a * b * (1 if i == j else 0.3))
                                            for j, b in enumerate(stated))
                                   for i, a in enumerate(stated)))
        self.tails = r.choices(("gaussian", "4", "learn"), (6, 1, 1))[0]
        if self.prior == "linear-motion":
            self.tails = "gaussian"  # its departure takes long to learn beside them
        if self.tails != "gaussian":
            add("--tails", self.tails)
        self.calibrated = r.random() < (0.03 if self.tails != "gaussian" or self.std_names else 0.2)
        if self.calibrated:
            add("--calibrate")
        self.filter, self.smoother, self.members = "recursive", "linearized", 1
        if self.networks:
            self.draw_networks(r, add)
        else:
            add("--hidden", 0)
        if self.u_names and r.random() < 0.5:
            add("--inputs", ",".join(self.u_names))
        if self.std_names:
            add("--noise-columns", ",".join(self.std_names))
        if not all(re.fullmatch(r"y\d*", name) for name, _, _ in world.columns):
            add("--measure", ",".join(name for name, _, _ in world.columns))
        add("--seed", r.randrange(5))
        self.options = options

    def draw_networks(self, r, add):
        add("--hidden", r.choice((4, 6)), "--decoder", r.choice(("4", "5,4")))
        add("--updates", r.choice((60, 120)), "--window", r.choice((8, 12)), "--batch", 16)
        add("--learning-rate", 0.02)
        encoder = r.choice(("gru", "lstm", "conv"))
        add("--encoder", encoder)
        if encoder == "conv":
            add("--taps", r.choice((3, 6)))
        self.filter = r.choices(("recursive", "recurrent"), (5, 1))[0]
        if self.filter != "recursive":
            add("--filter", self.filter)
        smoothers = ["fused", "recurrent", "recursive", "recursive-alternative"]
        awkward = self.calibrated or self.tails != "gaussian"
        if r.random() < 0.4 and (not self.std_names or r.random() < 0.1):
            self.smoother = r.choice(smoothers[:2] if awkward and r.random() < 0.8 else smoothers)
            add("--smoother", self.smoother)
            if r.random() < 0.7:
                add("--keep-smoother")
        self.members = r.choices((1, 2), (4, 1))[0]
        if self.members > 1:
            add("--members", self.members)

    # -- what is done with the model --

    def draw_uses(self, r):
        self.horizon = r.choice((1, 5, 10))
        # Whether a trained smoother is kept is known only after the fit.
        self.method = r.choice(("auto", "auto", "linearized"))
        curved = self.emission != "states" or "angle" in self.world.states or self.prior == "lorenz"
        self.iterations = 2 if r.random() < (0.25 if curved else 0.01) else 0
        self.score_horizon = r.choice((0, 0, 3))
        self.hide = r.random() < 0.3
        self.samples = r.random() < 0.2
        self.other_unit = r.random() < 0.01 and self.time not in ("none", "dates")

    def linear_states(self):
        """Named priors are linear in what they measure."""
        return not self.world.equations


# ---------------------------------------------------------------------------------------------------
# Running one.

class Runner:
    def __init__(self, program, folder, case):
        self.program, self.folder, self.case = program, folder, case
        self.commands = []

    def run(self, *arguments, stdin=None, refusable=True):
        """The command's standard output."""
        words = [str(word) for word in arguments]
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
            for use in (self.filter, self.smooth, self.forecast, self.stream, self.sample, self.unit,
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


def finite(text, place):
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise Failure("output", f"{place} is \"{text}\"")
    return value


def check_table(path, rows, what):
    """The rows of a CSV file without empty cells."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    if len(table) != rows:
        raise Failure("output", f"{what}: {len(table)} rows, but there are {rows} steps")
    for k, row in enumerate(table):
        for name, cell in row.items():
            if name not in ("key", "t", "sample"):
                finite(cell, f"{what}, row {k + 1}, column {name}")
    return table


class Written:
    """What a model writes, and what follows from it. All that is known of columns is here."""

    def __init__(self, info, case):
        self.case = case
        self.states = info["states"]
        columns = [name for name, _, _ in case.world.columns]
        self.listed = columns + [name for name in self.states if name not in columns]
        self.networks = info["networks"]["hidden"] > 1 or bool(info["networks"]["decoder"])
        self.smoother = info["smoother"]["hidden"] > 0
        self.calibrated = info["calibration"] is not None
        self.theta = {each["name"]: each["value"] for each in info["theta"]}

    def row(self, cells, place):
        """Mean and standard deviation of what is measured and of each state."""
        mean = {name: finite(cells.get(name), f"{place}, column {name}") for name in self.listed}
        std = {name: finite(cells.get(f"{name}_std"), f"{place}, column {name}_std")
               for name in self.listed}
        for name, value in std.items():
            if not value > 0:
                raise Failure("output", f"{place}, column {name}_std is {value}")
        return {"mean": mean, "std": std}

    def read(self, path, lengths, what):
        """The rows of each series."""
        table = check_table(path, sum(lengths), what)
        series, at = [], 0
        for s, steps in enumerate(lengths):
            rows = table[at:at + steps]
            if self.case.keyed and any(row["key"] != f"s{s + 1}" for row in rows):
                raise Failure("output", f"{what}: rows of series s{s + 1} are not together")
            series.append([self.row(row, f"{what}, row {at + k + 1}") for k, row in enumerate(rows)])
            at += steps
        return series

    def channel(self, m, row):
        """Mean and standard deviation of a measured quantity. The mean must be that of the states."""
        name, _, function = self.case.world.columns[m]
        if name not in self.states:
            values = {**self.case.world.parameters, **self.theta, **row["mean"]}
            expected = function(values)
            if abs(row["mean"][name] - expected) > 1e-6 * (1 + abs(expected)):
                raise Failure("output", f"column {name} is {row['mean'][name]}, but its states say "
                                        f"{expected}")
        return row["mean"][name], row["std"][name]

    def scores(self, filtered, smoothed):
        """evaluate's figures, from the estimates that were written."""
        case = self.case
        columns = [name for name, _, _ in case.world.columns]
        of_states = case.truth == "states" and set(case.truth_names) == set(self.states)
        of_channels = case.truth == "channels" and not of_states or (
            case.truth == "states" and not of_states and case.truth_names == columns)
        if not of_states and not of_channels:
            return {}
        sums = {}

        def add(name, value):
            total, count = sums.get(name, (0.0, 0))
            sums[name] = (total + value, count + 1)

        def within(error, std):
            return 1.0 if abs(error) <= 1.959963984540054 * std else 0.0

        known = True
        for s, rows in enumerate(case.series):
            for k, row in enumerate(rows):
                for m, column in enumerate(columns):
                    truth = (row["truth"][column] if of_channels else
                             case.world.columns[m][2]({**case.world.parameters, **self.theta,
                                                       **row["truth"]}))
                    measured = row["y"][m] is not None
                    if measured:
                        add("mse.raw", (row["y"][m] - truth) ** 2)
                    for what, found, coverage in (("filtered", filtered, "coverage95_filtered"),
                                                  ("smoothed", smoothed, "coverage95")):
                        value, std = self.channel(m, found[s][k])
                        add(f"{'mse' if measured else 'gaps'}.{what}", (value - truth) ** 2)
                        known = known and std is not None
                        if of_channels and known:
                            add(coverage, within(value - truth, std))
                if not of_states:
                    continue
                for state in self.states:
                    for what, found, coverage in (("filtered", filtered, "coverage95_filtered"),
                                                  ("smoothed", smoothed, "coverage95")):
                        error = found[s][k]["mean"][state] - row["truth"][state]
                        add(f"state_mse.{what}", error ** 2)
                        add(coverage, within(error, found[s][k]["std"][state]))
        if of_channels and not known:
            sums = {name: value for name, value in sums.items() if not name.startswith("coverage")}
        return {name: total / count for name, (total, count) in sums.items()}


# ---------------------------------------------------------------------------------------------------

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
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep")
    options = parser.parse_args()
    program = options.program.resolve()
    numbers = range(options.first, options.first + options.count) if options.only is None else [options.only]
    results, failed, reasons = [], set(), {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for each in pool.map(lambda n: check_case(program, options.seed, n, options.keep), numbers):
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
