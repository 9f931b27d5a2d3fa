"""Compares what two programs wrote in two folders, bit for bit: for tools/compare_runs.py.

Times, versions and checksums are left out. A difference of numbers is the largest one of an array (a
column, a tensor, the values of a JSON key) over the largest magnitude in it.
"""

import csv
import io
import json
import re
import wave
from pathlib import Path
from typing import NamedTuple

import numpy as np

# Keys and columns that differ from run to run, or from build to build.
LEFT_OUT = re.compile(r"(^|_)(seconds|version|started|compiler|crc32)$|^(steps_per_second|times_real_time)$")
# Times and speeds in the text of a summary.
TIMES = (re.compile(r"\b[\d.]+ (million |k )?steps/s"), re.compile(r"\b[\d.]+ s\b"),
         re.compile(r"\b[\d.e+]+ times faster"))
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\b(?:nan|inf)\b)")


class Difference(NamedTuple):
    output: str  # the file
    array: str  # the column, tensor or key in it; "" if the whole file is meant
    amount: float | None  # the relative difference; None if it is not one of numbers
    text: str  # what differs then

    def __str__(self):
        where = f"{self.output} {self.array}".strip()
        return f"{where}: {self.text if self.amount is None else f'{self.amount:.2g}'}"


def relative(old, new):
    """The largest difference of two arrays of one shape over the largest magnitude; infinite where one
    has a number and the other has none."""
    old, new = np.asarray(old, float).ravel(), np.asarray(new, float).ravel()
    agree = (old == new) | (np.isnan(old) & np.isnan(new))
    if agree.all():
        return 0.0
    with np.errstate(all="ignore"):
        gap = np.abs(old - new)[~agree].max()
        magnitude = np.nanmax(np.abs(np.concatenate([old, new])))
        return float(gap / magnitude) if np.isfinite(gap) else float("inf")


def arrays(output, name, old, new):
    if old.dtype != new.dtype or old.shape != new.shape:
        yield Difference(output, name, None,
                         f"{old.dtype}{list(old.shape)} and {new.dtype}{list(new.shape)}")
    elif old.tobytes() != new.tobytes():
        if old.dtype.kind in "fiu":
            yield Difference(output, name, relative(old, new), "")
        else:
            yield Difference(output, name, None, "other values")


class Tree:
    """Differences of two JSON values. The numbers of a list are one array."""

    def __init__(self, output, ignore_new_keys):
        self.output, self.ignore_new_keys = output, ignore_new_keys
        self.found = []
        self.numbers = {}  # path: (old, new)
        self.unlike = set()  # paths whose numbers are not written alike

    def walk(self, old, new, path=""):
        if isinstance(old, dict) and isinstance(new, dict):
            self.walk_keys(old, new, path)
        elif isinstance(old, list) and isinstance(new, list):
            if len(old) != len(new):
                self.say(path, f"{len(old)} and {len(new)} entries")
            else:
                for a, b in zip(old, new):
                    self.walk(a, b, f"{path}[]")
        elif is_number(old) and is_number(new):
            pair = self.numbers.setdefault(path, ([], []))
            pair[0].append(old)
            pair[1].append(new)
            if repr(old) != repr(new):
                self.unlike.add(path)
        elif type(old) is not type(new) or old != new:
            self.say(path, f"{short(old)} and {short(new)}")

    def walk_keys(self, old, new, path):
        for key in [*old, *(key for key in new if key not in old)]:
            inner = f"{path}.{key}" if path else key
            if LEFT_OUT.search(key):
                continue
            if key in old and key in new:
                self.walk(old[key], new[key], inner)
            elif not self.ignore_new_keys:
                self.say(inner, f"only {'OLD' if key in old else 'NEW'} has this key")

    def say(self, path, text):
        self.found.append(Difference(self.output, path, None, text))

    def differences(self):
        yield from self.found
        for path, (old, new) in self.numbers.items():
            if path in self.unlike:
                yield Difference(self.output, path, relative(old, new), "")


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def short(value):
    text = json.dumps(value) if not isinstance(value, str) else value
    return f'"{text[:60]}..."' if len(text) > 60 else f'"{text}"'


def json_values(output, old, new, ignore_new_keys):
    tree = Tree(output, ignore_new_keys)
    tree.walk(old, new)
    return tree.differences()


def parse_json(text):
    """The value of JSON, or the list of values of JSON lines; None for other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    for parse in (json.loads, lambda lines: [json.loads(line) for line in lines.splitlines()]):
        try:
            return parse(text)
        except ValueError:
            pass
    return None


def texts(output, old, new):
    for pattern in TIMES:
        old, new = pattern.sub("TIME", old), pattern.sub("TIME", new)
    if old == new:
        return
    # Where numbers alone differ, by how much.
    frames = [NUMBER.sub("#", text).split() for text in (old, new)]
    if frames[0] == frames[1]:
        numbers = [[float(x) for x in NUMBER.findall(text)] for text in (old, new)]
        yield Difference(output, "", relative(*numbers), "")
        return
    old, new = old.splitlines(), new.splitlines()
    for i, (a, b) in enumerate(zip(old, new)):
        if a != b:
            yield Difference(output, f"line {i + 1}", None, f"{short(a)} and {short(b)}")
            return
    yield Difference(output, "", None, f"{len(old)} and {len(new)} lines")


def text_files(output, old, new, ignore_new_keys):
    """JSON, JSON lines, CSV or text, as what they hold."""
    old, new = (data.decode("utf-8", "replace") for data in (old, new))
    values = parse_json(old), parse_json(new)
    if None not in values:
        return json_values(output, *values, ignore_new_keys)
    tables = read_table(old), read_table(new)
    if None not in tables:
        return table_differences(output, *tables)
    return texts(output, old, new)


def read_table(text):
    """(header, rows) of CSV; None if it is something else."""
    rows = list(csv.reader(io.StringIO(text)))
    if len(rows) < 2 or len(rows[0]) < 2 or any(len(row) != len(rows[0]) for row in rows):
        return None
    return rows[0], rows[1:]


def numbers_of(cells):
    return [float(cell) if cell else float("nan") for cell in cells]


def table_differences(output, old, new):
    (old_names, old_rows), (new_names, new_rows) = old, new
    if old_names != new_names:
        parts = [f"only {side} has {', '.join(names)}" for side, names in
                 (("OLD", [n for n in old_names if n not in new_names]),
                  ("NEW", [n for n in new_names if n not in old_names])) if names]
        yield Difference(output, "columns", None, "; ".join(parts) or "another order")
        return
    if len(old_rows) != len(new_rows):
        yield Difference(output, "", None, f"{len(old_rows)} and {len(new_rows)} rows")
        return
    for name, a, b in zip(old_names, zip(*old_rows), zip(*new_rows)):
        if a == b or LEFT_OUT.search(name):
            continue
        try:
            yield Difference(output, name, relative(numbers_of(a), numbers_of(b)), "")
        except ValueError:
            x, y = next(pair for pair in zip(a, b) if pair[0] != pair[1])
            yield Difference(output, name, None, f"{short(x)} and {short(y)}")


def named_arrays(output, old, new):
    """Of two dicts."""
    for name in [*old, *(name for name in new if name not in old)]:
        if name not in old or name not in new:
            yield Difference(output, name, None, f"only {'OLD' if name in old else 'NEW'} has it")
        else:
            yield from arrays(output, name, old[name], new[name])


def numpy_files(output, old, new, ignore_new_keys):
    def read(data):
        found = np.load(io.BytesIO(data), allow_pickle=False)
        return {"": found} if isinstance(found, np.ndarray) else {n: found[n] for n in found.files}
    return named_arrays(output, read(old), read(new))


def read_tensors(data):
    """(header, tensors) of a model file: the length of the header, the header, the numbers. What the
    header says of places and checksums is not part of it."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__")
    if "description" in metadata:
        metadata["description"] = json.loads(metadata["description"])
    numbers = data[8 + length:]
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        kind = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8"}[entry["dtype"]]
        tensors[name] = np.frombuffer(numbers[begin:end], kind).reshape(entry["shape"])
    return metadata, tensors


def model_files(output, old, new, ignore_new_keys):
    (old_header, old_tensors), (new_header, new_tensors) = read_tensors(old), read_tensors(new)
    yield from json_values(output, old_header, new_header, ignore_new_keys)
    yield from named_arrays(output, old_tensors, new_tensors)


def wav_files(output, old, new, ignore_new_keys):
    def read(data):
        with wave.open(io.BytesIO(data)) as sound:
            return sound.getparams(), sound.readframes(sound.getnframes())
    (old_form, a), (new_form, b) = read(old), read(new)
    if old_form != new_form:
        yield Difference(output, "form", None, f"{tuple(old_form)} and {tuple(new_form)}")
    elif old_form.sampwidth == 2:
        yield from arrays(output, "samples", np.frombuffer(a, "<i2"), np.frombuffer(b, "<i2"))
    elif a != b:
        yield Difference(output, "samples", None, "other bytes")


def other_files(output, old, new, ignore_new_keys):
    yield Difference(output, "", None, "other bytes")


READERS = {".csv": text_files, ".tsv": text_files, ".json": text_files, ".jsonl": text_files,
           ".stdout": text_files, ".messages": text_files, ".npz": numpy_files, ".npy": numpy_files,
           ".kalmia": model_files, ".kalmia-gains": model_files, ".wav": wav_files}


def compare_files(output, old, new, ignore_new_keys=False):
    """The differences of two files' bytes; the ending of `output` says what they hold."""
    if old == new:
        return []
    reader = READERS.get(Path(output).suffix, other_files)
    try:
        return list(reader(output, old, new, ignore_new_keys))
    except (ValueError, KeyError, TypeError, EOFError, wave.Error) as error:
        return [Difference(output, "", None, f"other bytes, which cannot be read: {error!r}")]


def compare_folders(old, new, ignore_new_keys=False):
    """The differences of all files in two folders, and below them."""
    names = {side: {path.relative_to(side) for path in side.rglob("*") if path.is_file()}
             for side in (old, new)}
    found = []
    for name in sorted(names[old] | names[new]):
        if name in names[old] and name in names[new]:
            found += compare_files(str(name), (old / name).read_bytes(), (new / name).read_bytes(),
                                   ignore_new_keys)
        else:
            found.append(Difference(str(name), "", None,
                                    f"only {'OLD' if name in names[old] else 'NEW'} wrote it"))
    return found
