"""The runs of tools/compare_runs.py: small commands that reach every part of the program, and the data
they read.

In a command, `@NAME` is the file NAME of the data. OLD simulates the data that both programs read.
"""

import csv
import re
import shlex
import wave
from typing import NamedTuple

import numpy as np

# ---- data: {file: function of (maker, path)}; what `simulate` makes, and what is derived from it ----

SIMULATED = {
    "pendulum.csv": "pendulum --steps 800 --seed 11",
    "waves.csv": "sinusoids --steps 800 --seed 12",
    "cycle.csv": "van-der-pol --steps 800 --seed 13",
    "plane.csv": "linear --steps 300 --seed 14",
    "lorenz.csv": "lorenz --steps 300 --seed 15",
    "long.csv": "lorenz --steps 1300 --seed 16",  # more than a segment of a smoother's networks
    "longest.npz": "pendulum --steps 4000 --seed 17",
    "drive.csv": "linear --steps 400 --seed 28",
    "other.csv": "pendulum --steps 300 --seed 18",
    "gaps.csv": "linear --steps 400 --seed 19 --missing 0.2 --missing-run 6",
    "outliers.csv": "pendulum --steps 800 --seed 20 --outliers 0.05 --outlier-size 5",
    "series.csv": "linear --steps 90 --series 7 --seed 21 --missing 0.05",
    "many.npz": "pendulum --steps 40 --series 40 --seed 22",
    "one.csv": "random-linear --states 1 --measured 1 --steps 700 --seed 23",
    "four.csv": "random-linear --states 4 --measured 2 --steps 320 --seed 24",
    "five.csv": "random-linear --states 5 --measured 3 --steps 220 --seed 25",
    "eight.csv": "random-linear --states 10 --measured 8 --steps 100 --seed 26",
    "twelve.csv": "random-linear --states 12 --measured 12 --steps 60 --seed 27",
}


def read_table(path):
    """{column: cells} of CSV."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    return {name: list(cells) for name, cells in zip(rows[0], zip(*rows[1:]))}


def write_table(path, table):
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(table)
        out.writerows(zip(*([repr(float(x)) if isinstance(x, float) else x for x in column]
                            for column in table.values())))


def irregular(made, path):
    """Rows left out, so that steps have many lengths, and some are long gaps."""
    table = read_table(made("drive.csv"))
    keep = np.random.default_rng(1).random(len(table["t"])) < 0.8
    keep[300:320] = False
    write_table(path, {name: [c for c, k in zip(cells, keep) if k] for name, cells in table.items()})


def jitter(made, path):
    table = read_table(made("waves.csv"))
    moved = np.arange(len(table["t"])) + np.random.default_rng(2).uniform(-0.4, 0.4, len(table["t"]))
    write_table(path, {**table, "t": moved.tolist()})


def dates(made, path):
    table = read_table(made("waves.csv"))
    days = [f"2024-03-{1 + k // 24:02d}T{k % 24:02d}:00:00Z" for k in range(len(table["t"]))]
    count = 31 * 24
    write_table(path, {name: cells[:count] for name, cells in {**table, "t": days}.items()})


def noisier(source):
    """A column of standard deviations for each measured one, of noise that is added."""
    def write(made, path):
        table = read_table(made(source))
        random = np.random.default_rng(3)
        names = [name for name in table if re.fullmatch(r"y\d+", name)]
        for name in names:
            std = random.choice([0.2, 0.5, 1.0], len(table[name]))
            noise = std * random.normal(size=len(std))
            table[name] = (np.array(table[name], float) + noise).tolist()
            table[f"std_{name}"] = np.hypot(std, 0.5).tolist()
        write_table(path, table)
    return write


def pushed(made, path):
    """A pendulum under a torque u; its sine and a cubic of its angle are measured."""
    random = np.random.default_rng(4)
    count, dt, parts = 700, 0.1, 10
    angle, rate = 0.5, 0.0
    u = np.repeat(random.uniform(-1, 1, count // 10), 10)
    rows = []
    for k in range(count):
        rows.append((angle, rate))
        for _ in range(parts):
            rate += dt / parts * (-4 * np.sin(angle) - 0.3 * rate + u[k]) + 0.02 * random.normal()
            angle += dt / parts * rate
    angle, rate = np.array(rows).T
    noise = 0.05 * random.normal(size=(2, count))
    write_table(path, {"t": (dt * np.arange(count)).tolist(), "y1": (np.sin(angle) + noise[0]).tolist(),
                       "y2": (angle + 0.2 * angle**3 + noise[1]).tolist(), "u": u.tolist(),
                       "true_angle": angle.tolist(), "true_rate": rate.tolist()})


def future(made, path):
    write_table(path, {"t": [0.1 * (700 + k) for k in range(8)], "u": [0.1 * k for k in range(8)]})


def vehicle(made, path):
    """Range and bearing of a vehicle that drives past."""
    random = np.random.default_rng(5)
    count = 400
    velocity = np.array([0.2, -0.1]) + np.cumsum(0.01 * random.normal(size=(count, 2)), 0)
    x, y = (np.array([20.0, 5.0]) + np.cumsum(velocity, 0)).T
    write_table(path, {"t": [float(k) for k in range(count)],
                       "range": (np.hypot(x, y) + 0.1 * random.normal(size=count)).tolist(),
                       "bearing": (np.arctan2(y, x) + 0.01 * random.normal(size=count)).tolist()})


def sound(channels=1, rate=16000, seconds=6, noise=0.02):
    """Tones with pauses between them, in white noise."""
    def write(made, path):
        n = np.arange(int(seconds * rate))
        place = n % rate / rate
        clean = np.where(place < 0.5, 0.2 * np.sin(2 * np.pi * 440 * n / rate)
                         * np.sin(2 * np.pi * place), 0)
        noisy = clean[:, None] + noise * np.random.default_rng(6).normal(size=(len(n), channels))
        with wave.open(str(path), "wb") as out:
            out.setnchannels(channels)
            out.setsampwidth(2)
            out.setframerate(rate)
            out.writeframes(np.round(32767 * noisy).clip(-32768, 32767).astype("<i2").tobytes())
    return write


def text(content):
    def write(made, path):
        for name in re.findall(r'file = "([^"]+)"', content):
            made(name)
        path.write_text(content)
    return write


PUSHED = """
[data]
file = "pushed.csv"
measure = ["y1", "y2"]
inputs = ["u"]
truth = ["true_angle", "true_rate"]

[model]
noise = [0.05, 0.05]

[system]
states = ["angle", "rate"]
inputs = ["u"]

[system.parameters]
gravity = {value = 3, learn = true, lower = 0}
damping = 0.3
cubic = {value = 0.1, learn = true, lower = 0, upper = 1}

[system.define]
torque = "u - damping*rate"

[system.ode]
angle = "rate"
rate = "-gravity*sin(angle) + torque"

[system.measure]
y1 = "sin(angle)"
y2 = "angle + cubic*angle^3"

[system.initial]
rate = {mean = 0, std = 1}
"""

MATRIX = """
[data]
file = "pendulum.csv"

[model]
noise = 0.1

[system]
states = ["y1", "v"]
matrix = [["0", "1"], ["-k*sin(y1)/(y1 + sign(y1)*0.001)", "-0.1"]]
flow = "frozen"
order = 3

[system.parameters]
k = {value = 8, learn = true, lower = 0}
"""

DERIVED = {
    "irregular.csv": irregular, "jitter.csv": jitter, "dates.csv": dates,
    "noisier.csv": noisier("waves.csv"), "noisier2.csv": noisier("plane.csv"),
    "pushed.csv": pushed, "future.csv": future, "vehicle.csv": vehicle,
    "pushed.toml": text(PUSHED), "matrix.toml": text(MATRIX),
    "noisy.wav": sound(), "clean.wav": sound(noise=0), "stereo.wav": sound(2, 44100, 3),
    "raw.wav": sound(rate=8000, seconds=3),
}


class Lines(NamedTuple):
    """Standard input made of the first `count` rows of a table's columns, as `stream` reads it."""
    file: str
    columns: tuple
    count: int = 120

    def read(self, made):
        table = read_table(made(self.file))
        chosen = [table[name][:self.count] for name in self.columns]
        return "".join(",".join(row) + "\n" for row in zip(*chosen)).encode()


class Bytes(NamedTuple):
    """Standard input that is a file, from a place on."""
    file: str
    begin: int = 0

    def read(self, made):
        return made(self.file).read_bytes()[self.begin:]


# ---- runs ----

class Step(NamedTuple):
    arguments: tuple
    stdin: Lines | Bytes | None = None
    refused: bool = False  # whether the program must refuse it


class Run(NamedTuple):
    name: str
    steps: tuple
    networks: bool = False  # whether m.kalmia should have networks ...
    smoother: bool = False  # ... and a trained smoother


def step(command, stdin=None, refused=False):
    return Step(tuple(shlex.split(command)), stdin, refused)


NETWORKS = "--hidden 8 --decoder 8 --updates 40 --window 16 --batch 16 --learning-rate 0.01"
EAGER = "--updates 60 --learning-rate 0.03"  # where networks are better only after some training
STATIC = "--hidden 0"


def fitted(name, data, options, stream, apply=None, curved=False, sampled=True, forecast=""):
    """A fit and all that is done with a model. `stream`: the columns that lines have; `apply`: the data
    that the model is used on, if others; `curved`: whether smoothing may be iterated."""
    use = f"@{apply or data}"
    trained = "--smoother" in options
    steps = [step(f"fit @{data} {options} -o m.kalmia"),
             step("info m.kalmia --json"),
             step(f"filter m.kalmia {use} --all-states -o filter.npz"),
             step(f"smooth m.kalmia {use} --all-states -o smooth.npz")]
    if trained:
        steps.append(step(f"smooth m.kalmia {use} --method linearized -o linearized.npz"))
    if curved:
        steps.append(step(f"smooth m.kalmia {use} --method linearized --iterations 8 --all-states "
                          "-o iterated.npz"))
    steps += [step(f"forecast m.kalmia {use} --horizon 8 --all-states {forecast} -o forecast.csv"),
              step(f"forecast m.kalmia {use} --horizon 3 --measurements"),
              step(f"sample m.kalmia {use} --count 2 -o sample.csv", refused=not sampled),
              step(f"evaluate m.kalmia {use} --hide 0.1 --hide-run 3 --horizon 4 --json")]
    if stream:
        lines = Lines(apply or data, tuple(stream.split()))
        steps.append(step("stream m.kalmia --json --all-states", lines))
    return Run(name, tuple(steps), "--hidden 0" not in options, trained)


def fits():
    """Each part of a model in turn."""
    y3, y2, y1 = "y1 y2 y3", "y1 y2", "y1"
    # Given noise, and few states: learning the noise of many takes seconds.
    velocity = f"--prior constant-velocity --noise 0.5 {NETWORKS}"
    swing = f"--prior constant-velocity --noise 0.1 {NETWORKS}"  # of pendulum.csv
    position = f"--prior constant-position --noise 0.5 {NETWORKS}"
    recurrent = f"{position} --filter recurrent {EAGER}"

    for encoder in ("gru", "lstm", "conv", "transformer", "tcn"):
        reads = f"--encoder {encoder}{'' if encoder in ('gru', 'lstm') else ' --taps 6'}"
        yield fitted(f"recursive-{encoder}", "plane.csv", f"{velocity} {reads}", y2)
        yield fitted(f"recurrent-{encoder}", "lorenz.csv", f"{recurrent} {reads}", y3, sampled=False)
        for smoother in ("fused", "recurrent", "recursive", "recursive-alternative"):
            yield fitted(f"smoother-{smoother}-{encoder}", "long.csv",
                         f"{position} --smoother {smoother} --keep-smoother {reads}", y3)
    for smoother in ("fused", "recurrent", "recursive", "recursive-alternative"):
        if smoother != "recurrent":  # which knows nothing of the system, and is no better here
            yield fitted(f"lorenz-{smoother}", "lorenz.csv",
                         f"--prior lorenz --smoother {smoother} --keep-smoother {NETWORKS} {EAGER}", y3,
                         curved=True)
        yield fitted(f"gaps-{smoother}", "gaps.csv",
                     f"{velocity} --smoother {smoother} --keep-smoother", y2)
    yield fitted("smoother-to-choose", "plane.csv", f"{velocity} --smoother fused", y2)._replace(
        smoother=False)

    for prior, data, columns in (  # with noise to learn where that is quick
            ("auto", "waves.csv", y1), ("constant-position", "one.csv", y1),
            ("mean-reverting", "one.csv", y1), ("constant-velocity", "pendulum.csv", y1),
            ("damped-velocity", "cycle.csv", y1), ("constant-acceleration", "pendulum.csv", y1),
            ("oscillator", "cycle.csv", y1), ("ar", "waves.csv", y1),
            ("coordinated-turn", "plane.csv", y2), ("lorenz", "lorenz.csv", y3),
            ("linear-motion", "plane.csv", y2), ("none", "four.csv", y2)):
        curved = prior in ("lorenz", "coordinated-turn")
        noise = "--noise 0.5" if columns != y1 else ""
        yield fitted(f"prior-{prior}", data, f"--prior {prior} {noise} {NETWORKS}", columns,
                     curved=curved)
        yield fitted(f"static-{prior}", data, f"--prior {prior} {STATIC}", columns, curved=curved)
    for flow in ("frozen --order 3", "taylor --order 2", "taylor --order 4", "rk4", "rk4 --substeps 3"):
        name = re.sub(r"\W+", "-", flow.replace("--", ""))
        yield fitted(f"lorenz-{name}", "lorenz.csv", f"--prior lorenz --flow {flow} {STATIC}", y3,
                     curved=True)
    for order in ("--order 2", "--order 3", "--flow taylor --order 2", "--flow rk4"):
        name = re.sub(r"\W+", "-", order.replace("--", ""))
        yield fitted(f"linear-motion-{name}", "plane.csv", f"--prior linear-motion {order} {STATIC}", y2)
    for order in (1, 4):
        yield fitted(f"ar-{order}", "cycle.csv", f"--prior ar --order {order} {NETWORKS}", y1)
    for latent in (1, 3):
        yield fitted(f"latent-{latent}", "four.csv",
                     f"--prior none --latent {latent} --noise 0.5 {NETWORKS}", y2)
    yield fitted("departure", "plane.csv", f"{velocity} --departure 0.05", y2)
    for name, prior in (("all", "lorenz + memory(5)"), ("one", "lorenz; y2: level")):
        yield fitted(f"lorenz-parts-{name}", "lorenz.csv",
                     f"--prior '{prior}' --flow rk4 --noise 0.5 {NETWORKS}", y3, curved=True)
    for degree in (2, 3):
        yield fitted(f"departure-degree-{degree}", "lorenz.csv",
                     f"--prior lorenz --departure-degree {degree} {STATIC}", y3, curved=True)
    yield fitted("departure-networks", "lorenz.csv",
                 f"--prior lorenz --departure-degree 2 {NETWORKS}", y3, curved=True)

    yield fitted("size-3x1", "pendulum.csv", f"--prior constant-acceleration --noise 0.1 {NETWORKS}", y1)
    yield fitted("size-3x3", "five.csv", position, y3)
    yield fitted("size-5x3", "five.csv", f"--prior none --latent 2 --noise 0.5 {NETWORKS}", y3)
    yield fitted("size-6x3", "five.csv", velocity, y3)
    for channels, data in ((8, "eight.csv"), (12, "twelve.csv")):
        yield fitted(f"size-{channels}x{channels}", data, f"{position} --updates 20",
                     " ".join(f"y{m + 1}" for m in range(channels)))
    yield fitted("decoder-two-layers", "plane.csv", f"{velocity} --hidden 16 --decoder 12,8", y2)

    for name, noise in (("each", "0.5,0.4"), ("covariance", "0.25,0.05;0.05,0.3"),
                        ("learn", "learn"), ("learn-full", "learn-full")):
        yield fitted(f"noise-{name}", "plane.csv", f"{velocity} --noise '{noise}'", y2)
    stated = f"--prior constant-velocity {NETWORKS} --noise-columns"
    yield fitted("noise-column", "noisier.csv", f"{stated} std_y1", "y1 std_y1")
    yield fitted("noise-columns", "noisier2.csv", f"{stated} std_y1,std_y2", "y1 y2 std_y1 std_y2")
    yield fitted("noise-columns-learn", "noisier2.csv",
                 f"--prior constant-velocity {STATIC} --noise learn --noise-columns std_y1,std_y2",
                 "y1 y2 std_y1 std_y2")
    yield fitted("tails-4", "outliers.csv", f"{velocity} --noise 0.1 --tails 4", y1)
    yield fitted("tails-learn", "outliers.csv", f"{velocity} --tails learn", y1)
    yield fitted("tails-static", "gaps.csv", f"--prior constant-velocity {STATIC} --tails learn", y2)
    yield fitted("tails-fused", "outliers.csv",
                 f"{velocity} --noise 0.1 --tails 4 --smoother fused --keep-smoother", y1)

    yield fitted("gaps", "gaps.csv", velocity, y2)
    yield fitted("gaps-auto", "gaps.csv", STATIC, y2)
    yield fitted("gaps-recurrent-filter", "gaps.csv", recurrent, y2, sampled=False)
    yield fitted("trained-whole-used-with-gaps", "plane.csv", velocity, y2, apply="gaps.csv")
    yield fitted("irregular", "irregular.csv", velocity, "")
    yield fitted("irregular-fused", "irregular.csv",
                 f"{velocity} --smoother fused --keep-smoother", "")
    yield fitted("irregular-recursive", "irregular.csv",
                 f"{velocity} --smoother recursive --keep-smoother", "")
    yield fitted("irregular-recurrent", "irregular.csv", recurrent, "", sampled=False)
    yield fitted("jitter", "jitter.csv", f"{velocity} --encoder lstm", "")
    yield fitted("jitter-static", "jitter.csv", f"--prior oscillator {STATIC}", "")
    yield fitted("dates", "dates.csv", velocity, y1)
    yield fitted("series", "series.csv", velocity, y2)
    yield fitted("series-many", "many.npz", f"{swing} --batch 8", "")
    yield fitted("series-fused", "series.csv", f"{velocity} --smoother fused --keep-smoother", y2)
    yield fitted("validation", "pendulum.csv", f"{swing} --validation @other.csv", y1)
    yield fitted("members", "plane.csv", f"{velocity} --members 3", y2)
    yield fitted("members-fused", "plane.csv",
                 f"{velocity} --members 3 --smoother fused --keep-smoother --calibrate", y2)
    yield fitted("members-recurrent", "lorenz.csv",
                 f"{recurrent} --members 3", y3, sampled=False)
    yield fitted("calibrate", "plane.csv", f"{velocity} --calibrate", y2)
    yield fitted("no-calibrate", "plane.csv", f"{velocity} --no-calibrate", y2)
    yield fitted("calibrate-recurrent", "long.csv",
                 f"{position} --calibrate --smoother recurrent --keep-smoother", y3)
    yield fitted("calibrate-static", "plane.csv",
                 f"--prior constant-velocity {STATIC} --calibrate", y2)
    yield fitted("training-options", "plane.csv",
                 f"{velocity} --holdout 0.3 --gaps 0.1 --clip-norm 0.2 --weight-decay 0.1 --patience 3 "
                 "--window 24 --batch 5 --seed 9", y2)
    yield fitted("longest", "longest.npz", f"{swing} --hidden 16 --updates 60 --window 32", "")

    polar = "--measure range,bearing --measure-as 'range = sqrt(px^2 + py^2)' " \
            "--measure-as 'bearing = atan2(py, px)' --initial 'px = 20 +- 2' --initial 'py = 5 +- 2' " \
            "--noise 0.1,0.01"
    still = f"{polar} --ode 'px = 0' --ode 'py = 0'"
    moving = f"{polar} --ode 'px = vx' --ode 'py = vy' --ode 'vx = 0' --ode 'vy = 0' " \
             "--initial 'vx = 0 +- 1' --initial 'vy = 0 +- 1'"
    yield fitted("vehicle", "vehicle.csv", f"{still} {NETWORKS} {EAGER}", "range bearing", curved=True)
    yield fitted("vehicle-static", "vehicle.csv", f"{moving} {STATIC}", "range bearing", curved=True)
    equations = "--ode 'y1 = v' --ode 'v = -k*sin(y1)' --parameter 'k = 5 learn'"
    yield fitted("pendulum-ode", "pendulum.csv", f"{equations} {NETWORKS}", y1, curved=True)
    yield fitted("pendulum-taylor", "pendulum.csv", f"{equations} --flow taylor --order 3 {STATIC}", y1,
                 curved=True)
    yield fitted("pendulum-fused", "pendulum.csv",
                 f"{equations} {NETWORKS} --smoother fused --keep-smoother", y1, curved=True)
    yield fitted("pendulum-tails", "outliers.csv", f"{equations} --noise 0.1 --tails 4 {STATIC}", y1,
                 curved=True)
    yield fitted("next", "one.csv", f"--next 'y1 = a*y1' --parameter 'a = 0.8 in 0..1' {STATIC}", y1)
    yield fitted("matrix", "matrix.toml", STATIC, y1, apply="pendulum.csv", curved=True)
    inputs = {"apply": "pushed.csv", "curved": True, "forecast": "--future-inputs @future.csv"}
    # Constants that are off, so that networks have something to learn.
    poor = f"--parameter 'gravity = 2' --parameter 'cubic = 0.2' {NETWORKS}"
    yield fitted("pushed", "pushed.toml", poor, "y1 y2 u", **inputs)
    yield fitted("pushed-static", "pushed.toml", STATIC, "y1 y2 u", **inputs)
    yield fitted("pushed-parts", "pushed.toml", f"--prior 'system; y1: memory(9)' {STATIC}", "y1 y2 u",
                 **inputs)
    yield fitted("pushed-recursive", "pushed.toml",
                 f"{poor} --encoder lstm --smoother recursive --keep-smoother", "y1 y2 u", **inputs)
    for name, smoother in (("networks", ""), ("fused", "--smoother fused --keep-smoother"),
                           ("recurrent", "--smoother recurrent --keep-smoother")):
        yield fitted(f"inputs-of-{name}", "pushed.csv",
                     f"{velocity} --noise 0.05 --inputs u {smoother}", "y1 y2 u",
                     forecast="--future-inputs @future.csv")


def others():
    """Systems, formats, streams, experiments, sound, and what is refused."""
    small = "--sizes 128 --seeds 1 --validation 256 --test 512 --out out"
    methods = "raw,eks,recurrent-smoother,recursive-smoother,recursive-alternative-smoother," \
              "linearized-smoother,fused-smoother,polynomial-smoother,flow-iterated,floor"
    yield Run("reproduce-lorenz", (step(f"reproduce lorenz {small} --methods {methods}"),))
    yield Run("reproduce-linear", (step(f"reproduce linear {small} --json"),))
    for system in ("lorenz", "linear", "pendulum", "van-der-pol", "sinusoids", "random-linear"):
        yield Run(f"simulate-{system}", (
            step(f"simulate {system} --steps 200 --series 2 --seed 5 -o plain.csv"),
            step(f"simulate {system} --steps 150 --dt 0.03 --noise 0.2 --add-noise 0.1 --missing 0.1 "
                 "--missing-run 4 --outliers 0.02 -o spoilt.npz")))
    yield Run("simulate-replay", (
        step("simulate replay --from @lorenz.csv --add-noise 2 --missing 0.1 -o spoilt.csv"),
        step("simulate --list --json")))

    model = f"--prior constant-velocity {NETWORKS}"
    yield Run("formats", (
        step(f"fit @plane.csv {model} --json -o m.kalmia"),
        *(step(f"simulate replay --from @plane.csv --add-noise 0.1 -o data.{ending}")
          for ending in ("npz", "tsv", "jsonl")),
        *(step(f"filter m.kalmia data.{ending} -o filter.{ending}") for ending in ("npz", "jsonl")),
        step("smooth m.kalmia data.tsv --json -o smooth.csv"),
        step("smooth m.kalmia data.tsv --measurements"),
        step("info m.kalmia"), step("evaluate m.kalmia @plane.csv")), True)
    yield Run("parts", (
        step(f"fit @waves.csv --prior 'trend + season(12, 2) + memory' {STATIC} -o m.kalmia"),
        *(step(f"{command} m.kalmia @waves.csv --parts -o {command}.npz") for command in ("filter", "smooth")),
        step("forecast m.kalmia @waves.csv --parts --horizon 8 -o forecast.csv"),
        step("sample m.kalmia @waves.csv --parts --count 2 -o sample.csv"),
        step("stream m.kalmia --parts", Lines("waves.csv", ("y1",)))))
    yield Run("parts-of-channels", (
        step(f"fit @gaps.csv --noise 0.5 --prior 'y1: level + season(7, 1); oscillator + memory' {STATIC} -o m.kalmia"),
        step("smooth m.kalmia @gaps.csv --parts --all-states -o smooth.csv"),
        step("fit @gaps.csv --prior coordinated-turn --hidden 0 -o turn.kalmia"),
        step("smooth turn.kalmia @gaps.csv --parts", refused=True)))
    lines = Lines("series.csv", ("key", "y1", "y2"), 250)
    yield Run("streams", (
        step(f"fit @series.csv {model} -o m.kalmia"),
        step("stream m.kalmia --key --all-states", lines), step("stream m.kalmia --key --json", lines),
        step("stream m.kalmia --no-header", Lines("gaps.csv", ("y1", "y2"), 400)),
        step("stream m.kalmia --skip-bad", Lines("plane.csv", ("y1",), 3)),
        step("stream m.kalmia", Lines("plane.csv", ("y1",), 3), refused=True)), True)
    yield Run("two-threads", (
        step(f"fit @long.csv {model} --smoother fused --keep-smoother --threads 2 -o m.kalmia"),
        step("smooth m.kalmia @long.csv --threads 2 -o smooth.npz"),
        step("evaluate m.kalmia @long.csv --threads 2 --json")), True, True)

    yield Run("denoise-networks", (
        step("denoise @noisy.wav --clean @clean.wav --json --save-model used.kalmia-gains -o out.wav"),
        step("denoise @noisy.wav --model used.kalmia-gains -o again.wav"),
        step("denoise @noisy.wav --most-reduction 12 --strength 0.7 --look-ahead 0.5 -o soft.flac")))
    yield Run("denoise-wiener", (
        step("denoise @noisy.wav --method wiener --clean @clean.wav --json -o out.wav"),
        step("denoise @stereo.wav --method wiener -o stereo.wav")))
    yield Run("denoise-stereo", (step("denoise @stereo.wav -o stereo.wav"),))
    yield Run("denoise-pipe", (
        step("denoise - -q -o -", Bytes("noisy.wav")),
        step("denoise - --raw-rate 8000 -q -o raw.wav", Bytes("raw.wav", 44))))
    # So short a time stands for the fewest updates, whatever the machine's speed.
    yield Run("denoise-fit", (
        step("denoise @noisy.wav --fit --fit-seconds 0.001 --save-model fit.kalmia-gains -o out.wav"),))

    yield Run("refused", (
        step("fit @plane.csv --prior constant-speed -o m.kalmia", refused=True),
        step("fit @plane.csv --prior lorenz -o m.kalmia", refused=True),
        step("fit @plane.csv --hidden 0 --updates 20 -o m.kalmia", refused=True),
        step("fit @plane.csv --noise 0.5,0.5,0.5 -o m.kalmia", refused=True),
        step("fit missing.csv -o m.kalmia", refused=True),
        step("filter @plane.csv @plane.csv", refused=True),
        step("simulate lorentz", refused=True)))


def all_runs():
    """The long ones first, so that none is left alone at the end."""
    rest = list(others())
    return [*rest[:2], *fits(), *rest[2:]]
