"""What the option fuzz simulates, and what can be known of it: worlds, and combinations of data and
options."""

import csv
import math
import random
import re


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
                    "damped-velocity", "constant-acceleration", "oscillator", "ar", "none",
                    "level + memory", "trend + oscillator")
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
    world.priors = ("lorenz", "lorenz", "lorenz + memory", "lorenz; y2: level", "none",
                    "constant-velocity")
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
            # Where a column has the name of a state that it no longer measures alone, its truth is refused.
            if r.random() < 0.2 and all(name not in world.states for name, _, _ in world.columns):
                self.prior = "system + level"
                add("--prior", self.prior)
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
            if self.prior.startswith(("lorenz", "linear-motion")) and r.random() < 0.5:
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
        if r.random() < 0.4:
            add("--no-calibrate")
        # A search for parts takes a while, and may find heavy tails, which others forbid.
        effort = r.choices(("quick", "normal", "thorough"), (8, 2, 1))[0]
        if effort != "normal":
            add("--effort", effort)
        if effort != "quick" and r.random() < 0.5:
            add("--purpose", r.choice(("filter", "smooth", "gaps", "forecast")))
        if effort != "quick" and self.tails == "gaussian":
            add("--tails", "gaussian")
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
        encoder = r.choice(("gru", "lstm", "conv", "transformer", "tcn"))
        add("--encoder", encoder)
        if encoder not in ("gru", "lstm"):
            add("--taps", r.choice((3, 6)))
        self.filter = r.choices(("recursive", "recurrent"), (5, 1))[0]
        if self.filter != "recursive":
            add("--filter", self.filter)
        smoothers = ["fused", "recurrent", "recursive", "recursive-alternative"]
        awkward = self.tails != "gaussian"
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
        curved = self.emission != "states" or "angle" in self.world.states or self.prior.startswith("lorenz")
        self.iterations = 2 if r.random() < (0.25 if curved else 0.01) else 0
        self.score_horizon = r.choice((0, 0, 3))
        self.hide = r.random() < 0.3
        self.samples = r.random() < 0.2
        self.other_unit = r.random() < 0.01 and self.time not in ("none", "dates")
        # Other priors have no parts, and recurrent networks do not know them.
        sums = self.prior not in ("none", "lorenz", "coordinated-turn", "linear-motion", "system")
        known = sums and self.filter == "recursive" and self.smoother != "recurrent"
        self.parts = r.random() < (0.5 if known else 0.02)
        self.isa = ("--isa", "portable") if r.random() < 0.25 else ()  # the one that all machines have

    def linear_states(self):
        """Named priors are linear in what they measure."""
        return not self.world.equations
