#!/usr/bin/python3
"""Builds targets with Ninja, and says what is being done and about how long it will take.

usage: tools/build.py BUILD [TARGET ...] [--jobs N]

On a terminal one line is written over and over, elsewhere a line every half minute. What the
compiler says is shown as it comes. How much of the work is done follows from what files like these
took (tools/compile_costs.json, seconds of a core); the time that is left from how long that much has
taken so far. Files that a compiler cache has cost nothing, so that the first guesses may be too long.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

STEP = re.compile(r"^\[(\d+)/(\d+)\] (.*)$")
OBJECT = re.compile(r"Building CXX object (\S+)\.o$")
EVERY = 30.0  # seconds between lines where there is no terminal
USUAL = 8.0   # seconds of a core for a file that is not in the list


def costs():
    """{part of an object's path: seconds of a core}"""
    return json.loads((Path(__file__).parent / "compile_costs.json").read_text())


def cost_of(object_file, known):
    """What an object costs to compile: of the longest entry that is a part of its path."""
    fitting = [part for part in known if part in object_file]
    return known[max(fitting, key=len)] if fitting else USUAL


def planned(build, targets):
    """The objects that Ninja would compile, and how many steps it would take."""
    dry = subprocess.run(["ninja", "-C", build, "-n", *targets], capture_output=True, text=True)
    steps = [match for match in map(STEP.match, dry.stdout.splitlines()) if match]
    objects = [found[1] for step in steps if (found := OBJECT.search(step[3]))]
    return objects, len(steps)


def name_of(what):
    """What people are told of a step: "heads/recursion", "tests of train", "linking kalmia"."""
    if found := OBJECT.search(what):
        path = found[1]
        unity = re.search(r"(\w+)\.dir/Unity/unity_(\w+?)_\d+_cxx", path)
        if unity:
            part = {"matrices": "matrix algebra", "cli": "the program"}.get(unity[2], unity[2])
            return f"tests of {part}" if unity[1].endswith("_tests") else part
        return re.sub(r"^(.*\.dir/)?(src/)?|\.cpp\.cxx$|\.(cpp|cxx)$", "", path)
    if found := re.search(r"Linking CXX \w+(?: \w+)* (\S+)", what):
        return "linking " + Path(found[1]).name
    return what[:60]


def duration(seconds):
    if seconds < 50:
        return "less than a minute"
    minutes = round(seconds / 60)
    return "a minute" if minutes <= 1 else f"{minutes} minutes"


class Progress:
    def __init__(self, objects, known, out=sys.stdout, clock=time.monotonic):
        self.known, self.out, self.clock = known, out, clock
        self.work = sum(cost_of(each, known) for each in objects)
        self.done, self.start, self.told = 0.0, clock(), None
        self.terminal = out.isatty()

    def left(self):
        """Seconds, or None while too little has been done to tell."""
        if self.done < 0.03 * self.work or self.work == 0:
            return None
        return max(0.0, (self.clock() - self.start) * (self.work / self.done - 1))

    def step(self, number, total, what):
        if found := OBJECT.search(what):
            self.done += cost_of(found[1], self.known)
        now = self.clock()
        if not self.terminal and self.told is not None and now - self.told < EVERY:
            return
        self.told = now
        left = self.left()
        text = f"building: {number} of {total} ({name_of(what)})"
        if left is not None:
            text += f", about {duration(left)} left"
        if self.terminal:
            self.out.write("\r\x1b[K" + text[:os.get_terminal_size().columns - 1])
        else:
            self.out.write(text + "\n")
        self.out.flush()

    def say(self, line):
        """A line of the compiler or of Ninja."""
        if self.terminal:
            self.out.write("\r\x1b[K")
        self.out.write(line + "\n")
        self.out.flush()

    def finish(self):
        if self.terminal:
            self.out.write("\r\x1b[K")
            self.out.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("build")
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--jobs", "-j", default=str(os.cpu_count()))
    options = parser.parse_args()
    objects, steps = planned(options.build, options.targets)
    if steps == 0 and not objects:
        return subprocess.run(["ninja", "-C", options.build, *options.targets],
                              stdout=subprocess.DEVNULL).returncode
    progress = Progress(objects, costs())
    ninja = subprocess.Popen(["ninja", "-C", options.build, "-j", options.jobs, *options.targets],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             errors="replace", env={**os.environ, "NINJA_STATUS": "[%f/%t] "})
    try:
        for line in ninja.stdout:
            line = line.rstrip("\n")
            if match := STEP.match(line):
                progress.step(int(match[1]), int(match[2]), match[3])
            elif not line.startswith("ninja: Entering directory"):
                progress.say(line)
        return ninja.wait()
    except KeyboardInterrupt:
        ninja.wait()
        return 130
    finally:
        progress.finish()


if __name__ == "__main__":
    sys.exit(main())
