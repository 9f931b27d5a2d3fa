#!/usr/bin/python3
"""Model, network and configuration files that were altered, through the commands that read them.

    file_fuzz_test.py PROGRAM [--count 150] [--first 1] [--seed 1] [--only NUMBER] [--jobs 2] [--keep FOLDER]

An altered file is drawn from the seed and its number alone; `--only 17 --keep FOLDER` repeats one and
leaves it there with its command lines. Checksums are mended, so that what is wrong reaches the
program. Whatever stands in a file: no signal, no run of more than SECONDS of processor time, an exit
code among the documented ones with one message, and where a command succeeds, finite estimates with
finite deviations that are not negative.
"""

import concurrent.futures
import csv
import io
import json
import math
import random
import re
import resource
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import wave
import zlib
from pathlib import Path

import fuzz_arguments

SECONDS = 10
# Mistakes of files: what they ask for cannot be, their data cannot, or the numbers break down. Of the
# rest (1) only files that a configuration names and that cannot be read or written may be the reason.
CODES = {0, 2, 3, 4}
NO_FILE = re.compile(r"cannot (read|write|be )|No such file|is a directory|[Pp]ermission denied|File name too long")
HUGE = (1e308, -1e308, 1e200, -1e200, 1e160, 1e140, 1e100, 1e39, -1e39, 1e20)
TINY = (1e-308, -1e-308, 5e-324, 1e-160, 1e-140, 1e-100, 1e-40, 1e-20)
# Parts of a description whose numbers are computed with.
ACTIVE = ("units", "climate", "calibration", "theta", "features", "tails", "gap_trust", "iterated_noise", "dt",
          "noise_std", "prior", "networks", "smoother", "further_members")
DEEP = 200000
WHOLE = (0, 1, -1, 2, 3, 7, 63, 64, 65, 127, 128, 129, 1000, 65535, 65536, 2**31 - 1, 2**31, -2**31,
         -2**31 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, 2**64)
STRINGS = ("", " ", "\x00", "a\x01b\x1b[31mc", "\n\n", "'\"`$(x)\\", "\ufeff", "x" * 5000, "..", "/dev/null",
           "-", "nan", "inf", "1e999", "auto", "system", "lorenz", "none", "constant-velocity", "conv", "lstm",
           "recurrent", "recursive", "fused", "d0 + d0", "sin(", "1/0", "\u202e\U0001f600")


class Failure(Exception):
    """What should not have happened; `kind` is one word for it."""

    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


# ---------------------------------------------------------------------------------------------------
# Files of tensors.

class Raw:
    """Text that stands in JSON as it is: numbers that Python would not write, keys that come twice."""

    def __init__(self, text):
        self.text = text


def json_text(value):
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, dict):
        return "{" + ",".join(json.dumps(k, ensure_ascii=False) + ":" + json_text(v)
                              for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(json_text, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def read_tensors(path):
    """(header, description, data) of a file of tensors."""
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8:8 + length])
    return header, json.loads(header["__metadata__"]["description"]), content[8 + length:]


def tensor_bytes(header, description, data):
    """The file again, with its checksum mended."""
    header["__metadata__"]["description"] = json_text(description)
    header["__metadata__"].pop("crc32", None)
    whole = zlib.crc32(data, zlib.crc32(json_text(header).encode("utf-8", "replace")))
    header["__metadata__"]["crc32"] = str(whole)
    text = json_text(header).encode("utf-8", "replace")
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def places(value, path=()):
    """Every place in a JSON value that has a parent."""
    found = []
    for key, each in value.items() if isinstance(value, dict) else enumerate(value):
        found.append(path + (key,))
        if isinstance(each, (dict, list)):
            found += places(each, path + (key,))
    return found


def other_value(r, value):
    """Something else in place of a value; most often of its own type."""
    if r.random() < 0.1:
        return r.choice((None, True, False, "text", 0, 1.5, [], {}, [1, 2, 3], {"a": 1}, Raw("[" * 70 + "]" * 70),
                         Raw("[" * DEEP + "]" * DEEP), Raw('{"a":' * DEEP + "1" + "}" * DEEP)))
    if isinstance(value, bool) or value is None:
        return r.choice((True, False, None, 0, 1, -1.0, 1e300))
    if isinstance(value, (int, float)):
        some, any_size = 10 ** r.uniform(-155, 155), 10 ** r.uniform(-305, 305)
        return r.choice((r.choice(HUGE), r.choice(TINY), some, any_size, any_size, value * some, -value, 0, value * 1e6,
                         value * 1e-6, value * 10, value + r.choice((-1, 1)), r.choice(WHOLE), value + 0.5,
                         Raw(r.choice(("1e999", "-1e999", "NaN", "Infinity", "-0.0")))))
    if isinstance(value, str):
        return r.choice(STRINGS + (value + "\x07", value[:-1], value.upper()))
    if isinstance(value, list):
        return r.choice((value[:-1], value[1:], value + value, value + value[:1], value[::-1], [value], [],
                         value * 200 if len(value) < 10 else value[:1]))
    return r.choice((list(value.values()), {}, dict(list(value.items())[:-1])))


def alter(r, value):
    """Alters one place of a JSON value; says where."""
    # Each part of a file is as likely as the others, however many numbers it has.
    found = places(value)
    parts = sorted({place[0] for place in found}, key=str)
    active = [part for part in parts if part in ACTIVE]
    part = r.choice(active if active and r.random() < 0.75 else parts)
    inside = [place for place in found if place[0] == part]
    if part == "units":
        # Whatever is reported goes through the scales.
        inside = [place for place in inside if "scale" in str(place[1:2])] or inside
    place = r.choice(inside)
    parent = value
    for key in place[:-1]:
        parent = parent[key]
    last, said = place[-1], ".".join(map(str, place))
    what = r.random()
    if what < 0.1 and isinstance(parent, dict):
        del parent[last]
        return said + " deleted"
    if what < 0.15 and isinstance(parent, dict):
        # The same key once more, with another value.
        twice = other_value(r, parent[last])
        parent[last] = Raw(json_text(parent[last]) + "," + json.dumps(last) + ":" + json_text(twice))
        return said + " twice"
    if what < 0.2:
        source = value
        for key in r.choice(found)[:-1]:
            source = source[key]
        taken = r.choice(list(source.values()) if isinstance(source, dict) else source)
        parent[last] = json.loads(json.dumps(taken, default=lambda raw: raw.text))
        return said + " from elsewhere"
    parent[last] = other_value(r, parent[last])
    return f"{said} = {json_text(parent[last])[:60]}"


def alter_data(r, header, data):
    """Alters numbers of a tensor."""
    names = [name for name in header if name != "__metadata__"]
    noise = [name for name in names if name.endswith("noise.R")]
    name = r.choice(noise if noise and r.random() < 0.3 else names)
    kind = header[name]["dtype"]
    letter, size = {"F64": ("d", 8), "F32": ("f", 4), "F16": ("e", 2)}[kind]
    begin, end = header[name]["data_offsets"]
    numbers = list(struct.unpack(f"<{(end - begin) // size}{letter}", data[begin:end]))
    if not numbers:
        return data, "nothing"
    largest = {"d": 1.7e308, "f": 3.4e38, "e": 65504.0}[letter]
    bad = r.choice((math.nan, math.inf, -math.inf, largest, -largest, largest ** 0.5, -largest ** 0.5, 0.0, -0.0,
                    -1.0, 1e-7, 10.0, 100.0, -100.0, "negate", "scale"))
    chosen = range(len(numbers)) if r.random() < 0.3 else [r.randrange(len(numbers)) for _ in range(r.choice((1, 3)))]
    for i in chosen:
        numbers[i] = -numbers[i] if bad == "negate" else \
            max(-largest, min(largest, 1000 * numbers[i])) if bad == "scale" else bad
    altered = struct.pack(f"<{len(numbers)}{letter}", *numbers)
    return data[:begin] + altered + data[end:], f"{name}: {len(chosen)} numbers = {bad}"


def altered_tensors(r, path):
    header, description, data = read_tensors(path)
    said = []
    for _ in range(r.choice((1, 1, 1, 2, 3))):
        what = r.random()
        try:
            if what < 0.72:
                said.append(alter(r, description))
            elif what < 0.9:
                data, text = alter_data(r, header, data)
                said.append(text)
            else:
                tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
                said.append("header " + alter(r, tensors))
                header = {"__metadata__": header["__metadata__"], **tensors}
        except (KeyError, TypeError, ValueError, IndexError, AttributeError, struct.error, OverflowError):
            # An earlier change left nothing to alter there.
            continue
    if r.random() < 0.01:
        header["__metadata__"]["deep"] = Raw("[" * DEEP + "]" * DEEP)
        said.append("a deep header")
    content = tensor_bytes(header, description, data)
    if r.random() < 0.03:
        content = content[:r.randrange(len(content))]
        said.append("cut off")
    return content, "; ".join(said)


# ---------------------------------------------------------------------------------------------------
# Configurations.

# What asks for work is altered to values that are refused, or that are little work.
WORK = {"updates": (-1, 0, 7), "hidden": (-1, 0, 1, 9, 4097, 2**31), "members": (-1, 0, 1, 2, 65),
        "taps": (-1, 0, 1, 5000), "window": (-1, 0, 1, 2, 9, 5000), "batch": (-1, 0, 1, 70000),
        "substeps": (-1, 0, 1, 3, 101), "order": (-1, 0, 1, 2, 21), "threads": (-1, 1, 5000)}

CONFIGS = {
    "named.toml": """output = "made.kalmia"

[data]
file = "track.csv"
measure = ["y1", "y2"]
time = "t"

[model]
prior = "constant-velocity"
noise = [0.3, 0.3]
tails = "gaussian"
smoother = "linearized"
hidden = 4
decoder = [4]

[train]
updates = 5
learning_rate = 1e-3
holdout = 0.2
gaps = 0.03
clip_norm = 1.0
weight_decay = 0.01
seed = 3
""",
    "system.toml": """output = "made.kalmia"

[data]
file = "pendulum.csv"

[model]
hidden = 0
noise = 0.1
departure = 0.0

[system]
states = ["angle", "rate"]
flow = "rk4"
substeps = 1

[system.parameters]
g = 9.81
length = {value = 1.0, learn = true, lower = 0.1, upper = 10.0}

[system.define]
pull = "-g / length * sin(angle)"
drag = "0.1 * rate"

[system.ode]
angle = "rate"
rate = "pull - drag"

[system.measure]
across = "length * sin(angle)"

[system.initial]
angle = {mean = 0.0, std = 1.0}
rate = {mean = 0.0, std = 2.0}
""",
}

NUMBER = re.compile(r"(?<![\w\".])-?\d+(\.\d+)?(e-?\d+)?(?![\w\"])")


def altered_config(r, text):
    lines, said = text.splitlines(), []
    for _ in range(r.choice((1, 1, 2, 3))):
        i = r.randrange(len(lines))
        line = lines[i]
        key = line.split("=")[0].strip()
        what = r.randrange(9)
        numbers = list(NUMBER.finditer(line))
        if what <= 2 and numbers:
            at = r.choice(numbers)
            value = r.choice(WORK[key]) if key in WORK else r.choice(
                ("nan", "inf", "-inf", "-1", "0", "-0.0", "1e308", "1e-308", "2.5", "true", "1e999", "[]", "[[1]]", "{}",
                 '"text"', "9223372036854775807", "9223372036854775808", "1_000", "0x10", "1979-05-27", "[1, [2, 3]]"))
            lines[i] = line[:at.start()] + str(value) + line[at.end():]
        elif what == 3 and '"' in line:
            text = json.dumps(r.choice(STRINGS))
            lines[i] = re.sub(r'"[^"]*"', lambda _: text, line, count=1)
        elif what == 4:
            del lines[i]
            lines = lines or [""]
            said.append(f"without {line}")
            continue
        elif what == 5:
            lines.insert(r.randrange(len(lines) + 1), line)
        elif what == 6 and "=" in line:
            # Expressions that swell, or are deep.
            lines[i] = key + " = " + r.choice((
                '"' + "(" * 3000 + "1" + ")" * 3000 + '"', '"' + "-" * 3000 + '1"', '"' + "+".join(["angle*rate"] * 3000) + '"',
                '"1/angle"', '"log(-rate^2 - 1)"', '"exp(exp(exp(rate*9)))"', '"' + "sin(" * 150 + "rate" + ")" * 150 + '"',
                "[" * 300 + "]" * 300, "{a = " * 300 + "1" + "}" * 300, '"1e308*angle*1e308"', '"angle^rate"', '"0*angle"'))
        elif what == 7:
            lines[i] = line + r.choice(("\x00", "\x07", " = 1", "]", '"', "\\", "\r", "\ufeff", " # [[[", ".a" * 1000 + " = 1"))
        else:
            lines[i] = r.choice(("a" + ".b" * 500 + " = 1", "[" + "a." * 500 + "a]", "[[data]]", "[model.x]",
                                 key + "x = 1", line.upper(), line[:len(line) // 2], "'" * 3 + line))
        said.append(f"{lines[i][:70]!r} for {line[:40]!r}")
    return "\n".join(lines) + "\n", "; ".join(said)


# ---------------------------------------------------------------------------------------------------
# What files are made of, made once.

def write_csv(path, header, rows):
    path.write_text("\n".join([",".join(header), *(",".join(str(v) for v in row) for row in rows)]) + "\n")


def make_data(folder):
    r = random.Random(11)
    track = []
    for k in range(160):
        hidden = 40 <= k < 48
        track.append((k, "" if hidden else round(math.sin(0.1 * k) + r.gauss(0, 0.3), 4),
                      "" if hidden or k % 11 == 0 else round(0.1 * k + r.gauss(0, 0.3), 4)))
    write_csv(folder / "track.csv", ("t", "y1", "y2"), track)
    write_csv(folder / "short.csv", ("t", "y1", "y2"), track[20:80])
    # Each value says how noisy it is.
    write_csv(folder / "stds.csv", ("t", "y1", "y2", "s"), [(*row, 0.3 + 0.1 * (row[0] % 3)) for row in track])
    angle, rate, rows = 0.8, 0.0, []
    for k in range(160):
        for _ in range(10):
            rate += 0.005 * (-9.81 * math.sin(angle) - 0.1 * rate)
            angle += 0.005 * rate
        rows.append((round(0.05 * k, 4), "" if 60 <= k < 66 else round(math.sin(angle) + r.gauss(0, 0.1), 5)))
    write_csv(folder / "pendulum.csv", ("t", "across"), rows)
    with wave.open(str(folder / "sound.wav"), "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(16000)
        out.writeframes(b"".join(struct.pack("<h", int(3000 * math.sin(0.2 * n) * (n % 8000 < 4000) + r.gauss(0, 300)))
                                 for n in range(12000)))
    for name, text in CONFIGS.items():
        (folder / name).write_text(text)


# (name, command that makes it, data it is tried on)
NETWORKS = ("--hidden", "4", "--decoder", "4", "--updates", "20", "-q", "-o")
MODELS = {
    "velocity.kalmia": (("fit", "track.csv", "--prior", "constant-velocity", *NETWORKS), "short.csv"),
    "ensemble.kalmia": (("fit", "track.csv", "--prior", "damped-velocity", "--members", "2",
                         "--smoother", "fused", "--keep-smoother", *NETWORKS), "short.csv"),
    "tails.kalmia": (("fit", "track.csv", "--prior", "mean-reverting", "--tails", "4", *NETWORKS), "short.csv"),
    "stds.kalmia": (("fit", "stds.csv", "--noise-columns", "s", "--prior", "constant-position", *NETWORKS),
                    "stds.csv"),
    "pendulum.kalmia": (("fit", "system.toml", "-q", "-o"), "pendulum.csv"),
    "departure.kalmia": (("fit", "pendulum.csv", "--prior", "constant-velocity", "--departure", "0.1",
                          "--departure-degree", "2", "--hidden", "0", "-q", "-o"), "pendulum.csv"),
}
SOUND = "gains.kalmia-gains"


def make_files(program, folder):
    """The files that are altered."""
    make_data(folder)
    for name, (command, _) in MODELS.items():
        subprocess.run([program, *command, name], cwd=folder, check=True)
    subprocess.run([program, "denoise", "sound.wav", "--save-model", SOUND, "-q", "-o", "clean.wav"], cwd=folder,
                   check=True)


# ---------------------------------------------------------------------------------------------------
# One altered file.

class Case:
    def __init__(self, program, base, folder, seed, number):
        self.program, self.base, self.folder = program, base, folder
        self.r = random.Random(f"{seed}:{number}")
        self.said, self.commands = "", []
        self.codes = []

    def run(self):
        kind = self.r.random()
        if kind < 0.62:
            self.model(self.r.choice(sorted(MODELS)))
        elif kind < 0.8:
            self.networks()
        else:
            self.configuration(self.r.choice(sorted(CONFIGS)))

    def model(self, name):
        content, self.said = altered_tensors(self.r, self.base / name)
        (self.folder / name).write_bytes(content)
        data = self.base / MODELS[name][1]
        shown = self.call("info", name, *self.r.choice(((), ("--json",))))
        # What cannot be read is refused by every command alike.
        if shown.returncode != 0 and self.r.random() < 0.8:
            return
        commands = ["filter", "smooth", "forecast", "sample", "stream", "evaluate"]
        for command in self.r.sample(commands, 3 if shown.returncode == 0 else 1):
            self.use(command, name, data)

    def use(self, command, name, data):
        every = self.r.choice(((), ("--all-states",), ("--parts",)))
        if command == "stream":
            lines = [row[1:] for row in csv.reader(data.read_text().splitlines()[1:])]
            result = self.call("stream", name, *every, stdin="".join(",".join(row) + "\n" for row in lines))
            # Answers before a failure count as well.
            self.check_table(result.stdout, result.returncode == 0)
        elif command == "evaluate":
            result = self.call("evaluate", name, data, "--json")
            if result.returncode == 0:
                self.check_json(result.stdout)
        else:
            options = {"filter": (), "forecast": ("--horizon", "20"), "sample": ("--count", "3"),
                       "smooth": self.r.choice(((), ("--iterations", "2"), ("--measurements",)))}[command]
            result = self.call(command, name, data, *options, *every)
            if result.returncode == 0:
                self.check_table(result.stdout, True)

    def networks(self):
        content, self.said = altered_tensors(self.r, self.base / SOUND)
        (self.folder / SOUND).write_bytes(content)
        result = self.call("denoise", self.base / "sound.wav", "--model", SOUND, "-q", "-o", "clean.wav")
        if result.returncode != 0:
            return
        with wave.open(str(self.folder / "clean.wav")) as clean:
            if clean.getnframes() != 12000:
                raise Failure("length", f"{clean.getnframes()} samples")

    def configuration(self, name):
        text, self.said = altered_config(self.r, CONFIGS[name])
        (self.folder / name).write_bytes(text.encode("utf-8", "surrogatepass"))
        for data in ("track.csv", "pendulum.csv"):
            shutil.copy(self.base / data, self.folder / data)
        result = self.call("fit", name, "-q", *self.r.choice(((), ("-o", "other.kalmia"))))
        made = [path for path in self.folder.rglob("*.kalmia")]
        if result.returncode == 0 and made:
            shown = self.call("info", made[0])
            if shown.returncode != 0:
                raise Failure("unreadable", f"a model that was just made: {shown.stderr}")
            self.use(self.r.choice(("filter", "smooth", "forecast")), made[0],
                     self.folder / ("track.csv" if name == "named.toml" else "pendulum.csv"))

    def call(self, *arguments, stdin=""):
        arguments = [str(each) for each in arguments]
        self.commands.append(shlex.join(["kalmia", *arguments]))

        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        try:
            result = subprocess.run([self.program, *arguments], cwd=self.folder, input=stdin.encode(),
                                    capture_output=True, timeout=60 * SECONDS, preexec_fn=limit)
        except subprocess.TimeoutExpired as error:
            raise Failure("hang", "no end in sight, and no work either") from error
        result.stdout = result.stdout.decode("utf-8", "replace")
        result.stderr = result.stderr.decode("utf-8", "replace")
        self.codes.append(result.returncode)
        if result.returncode < 0:
            raise Failure("signal", f"signal {-result.returncode}\n{result.stderr[:2000]}")
        no_file = result.returncode == 1 and arguments[0] == "fit" and NO_FILE.search(result.stderr)
        if result.returncode not in CODES and not no_file:
            raise Failure("code", f"exit code {result.returncode}\n{result.stderr[:2000]}")
        messages = [line for line in result.stderr.splitlines() if line.startswith("kalmia ")]
        if result.returncode != 0 and len(messages) != 1:
            raise Failure("message", f"{len(messages)} messages\n{result.stderr[:2000]}")
        for trace in ("terminate called", "Sanitizer", "runtime error", "Assertion"):
            if trace in result.stderr:
                raise Failure("trace", result.stderr[:2000])
        return result

    def check_table(self, text, whole):
        rows = list(csv.reader(io.StringIO(text, newline="")))
        if not rows:
            if whole:
                raise Failure("empty", "no header")
            return
        header = rows[0]
        for k, row in enumerate(rows[1:], start=2):
            if len(row) != len(header):
                raise Failure("table", f"line {k} has {len(row)} fields of {len(header)}: {row}")
            for name, cell in zip(header, row):
                try:
                    value = float(cell)
                except ValueError as error:
                    if name in ("t", "sample", "key"):
                        continue
                    raise Failure("number", f"line {k}, {name}: {cell!r}") from error
                if not math.isfinite(value):
                    raise Failure("number", f"line {k}, {name}: {cell}")
                if name.endswith("_std") and value < 0:
                    raise Failure("deviation", f"line {k}, {name}: {cell}")

    def check_json(self, text):
        def refuse(token):
            raise Failure("number", f"{token} in {text[:500]}")

        json.loads(text, parse_constant=refuse)


def run_one(program, base, seed, number, keep):
    folder = Path(tempfile.mkdtemp(prefix=f"kalmia-file-{number}-"))
    case = Case(program, base, folder, seed, number)
    failure = None
    try:
        case.run()
    except Failure as error:
        failure = (error.kind, str(error))
    except Exception as error:  # of the test itself: what was said helps to mend it
        failure = ("test", repr(error))
    finally:
        if keep:
            shutil.copytree(folder, Path(keep) / str(number), dirs_exist_ok=True)
            (Path(keep) / str(number) / "commands.txt").write_text("\n".join([case.said, *case.commands]) + "\n",
                                                                  errors="replace")
        shutil.rmtree(folder, ignore_errors=True)
    return number, case.said, case.commands, case.codes, failure


def main():
    options = fuzz_arguments.parse(__doc__, 150)
    program = str(options.program)
    base = Path(tempfile.mkdtemp(prefix="kalmia-files-"))
    failures, codes = [], {}
    try:
        make_files(program, base)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for number, said, commands, found, failure in pool.map(
                    lambda n: run_one(program, base, options.seed, n, options.keep), options.numbers):
                for code in found:
                    codes[code] = codes.get(code, 0) + 1
                if failure:
                    failures.append(number)
                    print(f"\nfile {number}, {failure[0]}: {ascii(said)}\n  {commands[-1:]}\n  {failure[1]}", flush=True)
    finally:
        shutil.rmtree(base, ignore_errors=True)
    counted = ", ".join(f"{count} ended with {code}" for code, count in sorted(codes.items()))
    print(f"{len(options.numbers)} altered files, {sum(codes.values())} runs: {counted}; {len(failures)} failed"
          + (f": {failures}" if failures else ""))
    if options.only is None and len(options.numbers) >= 100 and not codes.get(0):
        sys.exit("no run succeeded: the files do not reach what they should")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
