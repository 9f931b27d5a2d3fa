#!/usr/bin/python3
"""Measures what each file of the build costs to compile, in CPU seconds, without a compiler cache.

usage: tools/compile_times.py BUILD [--only PATTERN] [--markdown N] [--jobs N]

Runs every command of BUILD/compile_commands.json (files whose path matches PATTERN: src/ and cli/ are
the program) into a scratch folder, and prints the files by their cost and the sum. --markdown prints
the N most expensive as a table.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def command_of(entry, output):
    """The compiler's command without a cache in front of it, writing to `output`."""
    words = shlex.split(entry["command"])
    if Path(words[0]).name == "ccache":
        words = words[1:]
    words[words.index("-o") + 1] = str(output)
    return words


def cpu_seconds(words, folder):
    """User and system time of a command and its children; it must succeed."""
    code = ("import resource, subprocess, sys; done = subprocess.run(sys.argv[1:]); "
            "used = resource.getrusage(resource.RUSAGE_CHILDREN); "
            "print(used.ru_utime + used.ru_stime); sys.exit(done.returncode)")
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=folder, text=True,
                          stdout=subprocess.PIPE, env={**os.environ, "CCACHE_DISABLE": "1"},
                          check=True)
    return float(done.stdout.split()[-1])


def measure(entries, jobs):
    """{file: CPU seconds} of the entries of a compilation database."""
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(jobs) as pool:
        outputs = [Path(scratch) / f"{i}.o" for i in range(len(entries))]
        seconds = pool.map(lambda entry, output: cpu_seconds(command_of(entry, output),
                                                             entry["directory"]),
                           entries, outputs)
        return dict(zip((entry["file"] for entry in entries), seconds))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="", metavar="PATTERN", help="files that match this")
    parser.add_argument("--markdown", type=int, default=0, metavar="N", help="the first N as a table")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    root = Path(__file__).resolve().parents[1]
    entries = json.loads((options.build / "compile_commands.json").read_text())
    for entry in entries:
        entry["file"] = os.path.relpath(Path(entry["directory"]) / entry["file"], root)
    entries = [entry for entry in entries if re.search(options.only, entry["file"])]
    if not entries:
        print(f"compile_times: no file of {options.build} matches {options.only!r}", file=sys.stderr)
        return 1
    seconds = measure(entries, options.jobs)
    order = sorted(seconds, key=seconds.get, reverse=True)
    if options.markdown:
        print("| file | CPU seconds |\n| --- | --- |")
        for file in order[:options.markdown]:
            print(f"| `{file}` | {seconds[file]:.0f} |")
        print(f"| all {len(order)} files | {sum(seconds.values()):.0f} |")
    else:
        for file in order:
            print(f"{seconds[file]:8.1f}  {file}")
        print(f"{sum(seconds.values()):8.1f}  all {len(order)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
