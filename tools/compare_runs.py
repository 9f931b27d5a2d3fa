#!/usr/bin/python3
"""Shows that two programs compute the same: what a change that should change nothing has to pass.

usage: tools/compare_runs.py OLD NEW [--only NAME ...] [--jobs N] [--keep FOLDER]

Runs the commands of tools/run_list.py with both programs, in folders of their own, and compares every
output bit for bit, without times, versions and paths. Prints a line a run: `same`, or for each output
what differs: the array that differs most, by its largest difference over its largest magnitude, and
how many others do; or exit codes, columns, messages. `--details` lists every array. Exit code 0: all
the same; 1: something differs, or OLD fails where it should not; 2: wrong options. Needs NumPy.
"""

import argparse
import fnmatch
import json
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import run_list
from run_outputs import compare_files, compare_folders, read_tensors

SECONDS = 300  # for a command


class Data:
    """The files that both programs read, made when they are first needed."""

    def __init__(self, folder, program):
        self.folder, self.program = folder, program
        self.lock = threading.RLock()

    def made(self, name):
        path = self.folder / name
        with self.lock:
            if not path.exists():
                self.make(name, path)
        return path

    def make(self, name, path):
        if name in run_list.DERIVED:
            run_list.DERIVED[name](self.made, path)
            return
        words = ["simulate", *run_list.SIMULATED[name].split(), "-q", "-o", str(path)]
        done = subprocess.run([self.program, *words], capture_output=True, text=True, timeout=SECONDS)
        if done.returncode != 0 or not path.exists():
            sys.exit(f"compare_runs: OLD cannot make {name} ({' '.join(words)}): {done.stderr.strip()}")


def label(number, step):
    return f"{number + 1:02d}-{step.arguments[0]}"


def ended_well(code, step):
    """Whether a command did what the list expects: it succeeds, or it is refused without a crash."""
    return code in (1, 2, 3, 4) if step.refused else code == 0


def record(program, run, folder, data):
    """Runs all steps of a run in a folder, up to one that does not end as it should; their exit codes.
    What they print goes into files of the folder."""
    folder.mkdir(parents=True)
    codes = []
    for number, step in enumerate(run.steps):
        words = [f"../../data/{data.made(word[1:]).name}" if word.startswith("@") else word
                 for word in step.arguments]
        if "--threads" not in words:
            words += ["--threads", "1"]
        stdin = step.stdin.read(data.made) if step.stdin else b""
        try:
            done = subprocess.run([program, *words], cwd=folder, input=stdin, capture_output=True,
                                  timeout=SECONDS)
            code, out, said = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            code, out, said = f"none in {SECONDS} s", b"", b""
        for path, name in ((folder, b"FOLDER"), (folder.parents[1], b"ROOT"), (program, b"PROGRAM")):
            out, said = out.replace(bytes(str(path), "utf-8"), name), said.replace(
                bytes(str(path), "utf-8"), name)
        (folder / f"{label(number, step)}.stdout").write_bytes(out)
        # How far the work is goes there as well, whenever some seconds have passed.
        messages = b"".join(line for line in said.splitlines(True) if line.startswith(b"kalmia"))
        (folder / f"{label(number, step)}.messages").write_bytes(messages)
        codes.append(code)
        if not ended_well(code, step):
            break
    return codes


def first_line(path):
    lines = path.read_text(errors="replace").splitlines()
    return lines[0] if lines else "no message"


def ends(run, folders, codes):
    """What is wrong with how commands ended, if anything is."""
    for number, (step, old, new) in enumerate(zip(run.steps, *codes)):
        name = label(number, step)
        if old != new:
            worse = folders[1] if ended_well(old, step) else folders[0]
            return f"{name}: exit code {old} and {new} ({first_line(worse / f'{name}.messages')})"
        if not ended_well(old, step):
            messages = [(folder / f"{name}.messages").read_bytes() for folder in folders]
            also = compare_files(f"{name}.messages", *messages)
            return (f"{name}: exit code {old} of both, but it should be "
                    f"{'refused' if step.refused else 'done'} ({first_line(folders[0] / f'{name}.messages')})"
                    + "".join(f"; {each}" for each in also))
    return None


def summary(differences):
    """One line: of each output the array that differs most, and the number of others."""
    outputs = {}
    for each in differences:
        outputs.setdefault(each.output, []).append(each)
    parts = []
    for found in outputs.values():
        most = max(found, key=lambda d: float("inf") if d.amount is None else d.amount)
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        parts.append(f"{most}{more}")
    return "; ".join(parts)


def not_reached(run, folder):
    """What of a model the run should reach and does not: networks that the fit did not keep."""
    model = folder / "m.kalmia"
    if not run.networks or not model.exists():
        return ""
    try:
        description = read_tensors(model.read_bytes())[0]["description"]
        if not description["training"]["summary"]["networks"]:
            return " (the fit did not keep its networks)"
        if run.smoother and description["smoother"]["hidden"] == 0:
            return " (the fit did not keep its smoother)"
    except (KeyError, TypeError, ValueError):
        pass
    return ""


def compare(run, programs, root, data, ignore_new_keys):
    """(whether the run is the same, its line, the details)."""
    folders = [root / side / run.name for side in ("old", "new")]
    codes = [record(program, run, folder, data) for program, folder in zip(programs, folders)]
    wrong = ends(run, folders, codes)
    if wrong:
        return False, wrong, []
    differences = compare_folders(*folders, ignore_new_keys)
    if differences:
        return False, summary(differences), [str(each) for each in differences]
    return True, "same" + not_reached(run, folders[0]), []


def chosen(names):
    """The runs whose names fit one of the patterns; all without any."""
    runs = run_list.all_runs()
    for name in names:
        if not any(fnmatch.fnmatchcase(run.name, name) for run in runs):
            raise ValueError(f"no run is named {name}; --list shows them")
    return [run for run in runs
            if not names or any(fnmatch.fnmatchcase(run.name, name) for name in names)]


def compare_all(runs, programs, root, options):
    """Prints a line a run; the number of runs that differ."""
    (root / "data").mkdir(parents=True)
    data = Data(root / "data", programs[0])
    width = max(len(run.name) for run in runs)
    different = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        results = pool.map(lambda run: compare(run, programs, root, data, options.ignore_new_keys), runs)
        for run, (same, line, details) in zip(runs, results):
            print(f"{run.name:{width}}  {line}", flush=True)
            for each in details if options.details else ():
                print(f"{'':{width}}    {each}")
            different += not same
    return different


def parse(arguments):
    parser = argparse.ArgumentParser(prog="compare_runs.py", description=__doc__.split("\n")[0])
    parser.add_argument("programs", metavar="PROGRAM", nargs="*", help="OLD and NEW")
    parser.add_argument("--only", metavar="NAME", nargs="+", default=[],
                        help="runs of these names; * stands for anything")
    parser.add_argument("--jobs", type=int, default=2, help="commands that run side by side [2]")
    parser.add_argument("--keep", metavar="FOLDER", type=Path,
                        help="new folder that keeps data and outputs")
    parser.add_argument("--ignore-new-keys", action="store_true",
                        help="keys of JSON and of models' headers that one side lacks are no difference")
    parser.add_argument("--details", action="store_true", help="list every array that differs")
    parser.add_argument("--list", action="store_true", help="list the runs and their commands")
    options = parser.parse_args(arguments)
    try:
        options.runs = chosen(options.only)
    except ValueError as error:
        parser.error(str(error))
    if options.list:
        return options
    if len(options.programs) != 2:
        parser.error(f"{len(options.programs)} programs, but two are compared: OLD and NEW")
    options.programs = [shutil.which(Path(name).resolve()) or parser.error(f"{name} is no program")
                        for name in options.programs]
    if options.jobs < 1:
        parser.error(f"--jobs {options.jobs}, but it must be at least 1")
    if options.keep and options.keep.exists():
        parser.error(f"{options.keep} exists already; name a new folder")
    return options


def main(arguments):
    options = parse(arguments)
    if options.list:
        for run in options.runs:
            print(run.name, *("  kalmia " + " ".join(step.arguments) for step in run.steps), sep="\n")
        return 0
    start = time.monotonic()
    root = (options.keep or Path(tempfile.mkdtemp(prefix="kalmia-runs-"))).resolve()
    try:
        different = compare_all(options.runs, options.programs, root, options)
    finally:
        if not options.keep:
            shutil.rmtree(root, ignore_errors=True)
    count, seconds = len(options.runs), time.monotonic() - start
    commands = sum(len(run.steps) for run in options.runs)
    print(f"{different} of {count} runs differ" if different else f"all {count} runs are the same",
          f"({commands} commands with each program, {seconds:.0f} s)")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
