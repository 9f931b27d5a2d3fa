#!/usr/bin/python3
"""Runs the commands of docs/real_data.md and compares their results with the documented ones.

usage: tools/check_documented.py BUILD_DIR [DATA_DIR]

DATA_DIR has the data sets' folders (default: $KALMIA_DATA, then ../shared/data/real beside the
project). Where it is absent there is nothing to check, and a line says so.

In the page, each block of commands (```sh) is run in a folder where the data sets' folders are, and
the block of JSON after it (```json) must agree with what the last command printed: numbers within
TOLERANCE, the smoothed error below the raw one and below interpolation wherever both are there.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/real_data.md"
TOLERANCE = 0.1  # other processors round differently, and training amplifies it
BLOCK = re.compile(r"^```(sh|json)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def find_data():
    for place in (os.environ.get("KALMIA_DATA"), ROOT.parent / "shared/data/real"):
        if place and Path(place).is_dir():
            return Path(place).resolve()
    return None


def blocks(page):
    """(commands, documented result) pairs."""
    commands = []
    for kind, text in BLOCK.findall(page):
        if kind == "sh":
            commands += [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]
        else:
            yield commands, json.loads(text)
            commands = []


def differences(documented, found, path=""):
    """Where the documented numbers are not the found ones."""
    if isinstance(documented, dict):
        for key, value in documented.items():
            if key not in found:
                yield f"{path}{key} is missing in the result"
            else:
                yield from differences(value, found[key], f"{path}{key}.")
    elif documented is None or found is None:
        if documented is not found:
            yield f"{path[:-1]} is {found}, documented as {documented}"
    elif abs(found - documented) > TOLERANCE * max(abs(documented), 0.05):
        yield f"{path[:-1]} is {found:.5g}, documented as {documented:.5g}"


def broken_promises(found):
    """Smoothing must pay wherever it can be scored."""
    for part, other in (("mse", "raw"), ("gaps", "interpolated"), ("hidden", "interpolated")):
        scores = found.get(part, {})
        if scores.get("smoothed") is not None and not scores["smoothed"] < scores[other]:
            yield f"{part}: smoothed {scores['smoothed']:.5g} is not below {other} {scores[other]:.5g}"


def check(build, data):
    failures = 0
    environment = dict(os.environ, PATH=f"{build.resolve()}:{os.environ['PATH']}")
    with tempfile.TemporaryDirectory() as folder:
        for entry in data.iterdir():
            (Path(folder) / entry.name).symlink_to(entry)
        for commands, documented in blocks(PAGE.read_text(encoding="ascii")):
            output = ""
            for command in commands:
                run = subprocess.run(command, shell=True, cwd=folder, env=environment,
                                     capture_output=True, text=True)
                output = run.stdout
                if run.returncode != 0:
                    print(f"FAILED {command}\n{run.stderr}")
                    return 1
            found = json.loads(output)
            wrong = [*differences(documented, found), *broken_promises(found)]
            print(("FAILED " if wrong else "ok     ") + commands[-1])
            for line in wrong:
                print("       " + line)
            failures += bool(wrong)
    return 1 if failures else 0


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    data = Path(sys.argv[2]) if len(sys.argv) == 3 else find_data()
    if data is None:
        print("skipped: the data sets of docs/real_data.md are not here; set KALMIA_DATA to their folder")
        return 0
    return check(Path(sys.argv[1]), data)


if __name__ == "__main__":
    sys.exit(main())
