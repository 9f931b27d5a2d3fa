#!/usr/bin/python3
"""Runs CTest and reports one line per test program, failures in full, and a summary.

usage: tools/run_tests.py BUILD_DIR [further arguments for ctest]

The complete output of CTest is kept in BUILD_DIR/test.log.
"""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

RESULT = re.compile(r"^\s*\d+/\d+ Test\s+#\d+: (.*?) \.{3,}\s*(?:\*\*\*)?(.*?)\s+([\d.]+) sec")


def group_of(test):
    """The program of a test: tests are named "<program>: <case>" or "<group>.<check>"."""
    return test.split(": ")[0] if ": " in test else test.split(".")[0]


def count_groups(build):
    listing = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True,
                             capture_output=True, text=True).stdout
    groups = {}
    for test in json.loads(listing)["tests"]:
        group = groups.setdefault(group_of(test["name"]), {"left": 0, "passed": 0, "seconds": 0.0})
        group["left"] += 1
    return groups


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    build = Path(sys.argv[1])
    groups = count_groups(build)
    failed, skipped, passed = [], [], 0
    start = time.monotonic()
    ctest = subprocess.Popen(["ctest", "--output-on-failure", *sys.argv[2:]], cwd=build,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    showing = False
    with open(build / "test.log", "w") as log:
        for line in ctest.stdout:
            log.write(line)
            match = RESULT.match(line)
            if match is None:
                # Between a failed test and the next result CTest prints what the test said.
                showing = showing and "% tests passed" not in line
                if showing and not re.match(r"^\s+Start\s+\d+: ", line):
                    print("    " + line.rstrip())
                continue
            name, status, seconds = match.groups()
            showing = False
            group = groups.setdefault(group_of(name), {"left": 1, "passed": 0, "seconds": 0.0})
            group["left"] -= 1
            group["seconds"] += float(seconds)
            if status.startswith("Passed"):
                group["passed"] += 1
                passed += 1
            elif status.startswith(("Skipped", "Not Run (Disabled)")):
                skipped.append(name)
            else:
                failed.append(f"{name} ({status})")
                showing = True
                print(f"FAILED  {name}: {status}")
            if group["left"] == 0:
                print(f"  {group_of(name):36s} {group['passed']:4d} passed {group['seconds']:8.2f} s",
                      flush=True)
    code = ctest.wait()
    seconds = time.monotonic() - start
    print()
    for name in skipped:
        print(f"skipped: {name}")
    for name in failed:
        print(f"failed: {name}")
    if code == 0 and not failed:
        print(f"All {passed} tests passed in {seconds:.0f} s ({len(skipped)} skipped).")
        return 0
    print(f"{len(failed)} of {passed + len(failed)} tests FAILED in {seconds:.0f} s; "
          f"complete output in {build}/test.log")
    return 1


if __name__ == "__main__":
    sys.exit(main())
