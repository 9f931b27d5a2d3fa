#!/usr/bin/python3
"""Every command with standard streams closed, with small limits, and with signals at many moments:
exit codes are the documented ones, outputs are whole or absent, earlier ones stay whole, and nothing
is left behind."""

import os
import resource
import shutil
import signal
import subprocess
import time
import unittest
from pathlib import Path

import support
from support import PROGRAM, SMALL_FIT, ProgramTest

# No command here takes as long; a run that does hangs.
HANG_SECONDS = 10
MOMENTS = 10
NOBODY = 65534
EARLIER = b"an earlier file\n"
# Files that a program makes that was asked to, but for its output.
JOURNAL = {"journal.jsonl", "rows.csv", "rows.json", "trajectories.csv"}

STREAM_LINES = "".join(f"{0.01 * k},{0.02 * k}\n" for k in range(2000))


class Case:
    """A command with its output; `catches`: the signals that end it in its own way."""

    def __init__(self, arguments, output=None, stdin=None, catches=()):
        self.arguments, self.output, self.stdin, self.catches = arguments, output, stdin, catches
        self.name = arguments[0]


CAUGHT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
CASES = (
    Case(["fit", "track.csv", *SMALL_FIT, "-o", "out.kalmia"], "out.kalmia", catches=CAUGHT),
    Case(["filter", "track.kalmia", "track.csv", "-o", "out.csv"], "out.csv"),
    Case(["smooth", "track.kalmia", "-", "-o", "out.csv"], "out.csv", "track.csv"),
    Case(["forecast", "track.kalmia", "track.csv", "--horizon", "5", "-o", "out.npz"], "out.npz"),
    Case(["sample", "track.kalmia", "track.csv", "--count", "3", "-o", "out.jsonl"], "out.jsonl"),
    Case(["evaluate", "track.kalmia", "track.csv"]),
    Case(["info", "track.kalmia"]),
    Case(["stream", "track.kalmia"], stdin="lines.csv"),
    Case(["denoise", "noisy.wav", "-o", "out.wav"], "out.wav", catches=CAUGHT),
    Case(["denoise", "-", "-o", "out.flac"], "out.flac", "noisy.wav", catches=CAUGHT),
    Case(["simulate", "lorenz", "--steps", "500", "-o", "out.csv"], "out.csv"),
    Case(["reproduce", "linear", "--sizes", "64", "--seeds", "1", "--methods", "raw,recursive-filter",
          "--validation", "64", "--test", "64", "--out", "folder"], catches=CAUGHT),
)


def limited(*limits, user=None):
    """What a process does before it becomes the program: limits, and another user."""

    def prepare():
        for which, value in limits:
            resource.setrlimit(which, (value, value))
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)

    return prepare


class Abuse(ProgramTest):
    def setUp(self):
        super().setUp()
        self.model()
        (self.folder / "lines.csv").write_text(STREAM_LINES)
        noisy, _ = support.noisy_words(seconds=1)
        (self.folder / "noisy.wav").write_bytes(support.wav_bytes(noisy))
        self.inputs = {path.name: path.read_bytes() for path in self.folder.iterdir()}
        self.whole = {}

    def start(self, case, closed=(), prepare=None):
        """The command, some of its standard streams closed."""
        stdin = (self.folder / case.stdin).open("rb") if case.stdin else subprocess.DEVNULL
        words = [PROGRAM, *case.arguments]
        if closed:
            streams = " ".join({0: "<&-", 1: ">&-", 2: "2>&-"}[each] for each in closed)
            words = ["/bin/sh", "-c", f'exec "$@" {streams}', "sh", *words]
        # Output goes to files: a pipe that is full would look like a hang.
        said = (self.folder / "said").open("wb")
        try:
            return subprocess.Popen(words, cwd=self.folder, stdin=stdin, stdout=said, stderr=said,
                                    preexec_fn=prepare)
        finally:
            said.close()
            if case.stdin:
                stdin.close()

    def finish(self, process, what):
        try:
            return process.wait(timeout=HANG_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            self.fail(f"{what}: hangs")

    def run_case(self, case, what, **options):
        code = self.finish(self.start(case, **options), what)
        self.assertIn(code, (0, 1, 2, 3, 4), f"{what}: {(self.folder / 'said').read_text()[-500:]}")
        self.check_files(case, what, code)
        return code

    def whole_output(self, case):
        """What the command writes when nothing disturbs it."""
        key = " ".join(case.arguments)
        if key not in self.whole:
            self.assertEqual(self.finish(self.start(case), key), 0)
            self.whole[key] = (self.folder / case.output).read_bytes()
            (self.folder / case.output).unlink()
        return self.whole[key]

    def is_whole(self, case, content):
        if content == self.whole_output(case):
            return True
        # A fit that was stopped has another model, which is whole if it can be read.
        if case.name != "fit":
            return False
        (self.folder / "found.kalmia").write_bytes(content)
        read = self.run_program("info", "found.kalmia").returncode == 0
        (self.folder / "found.kalmia").unlink()
        return read

    def check_files(self, case, what, code, earlier=False):
        """Inputs as they were, the output whole or absent (or the earlier one), nothing else."""
        left = {path.name for path in self.folder.iterdir()} - set(self.inputs) - {"said"}
        for name, content in self.inputs.items():
            self.assertEqual((self.folder / name).read_bytes(), content, f"{what}: {name}")
        if case.name == "reproduce":
            left.discard("folder")
            inside = {path.name for path in (self.folder / "folder").glob("*")}
            self.assertLessEqual(inside, JOURNAL, what)
            for path in (self.folder / "folder").glob("journal.jsonl"):
                self.assertNotIn("left", path.read_text(), f"{what}: progress in the journal")
            shutil.rmtree(self.folder / "folder", ignore_errors=True)
        if case.output is not None:
            left.discard(case.output)
            path = self.folder / case.output
            if path.exists():
                content = path.read_bytes()
                path.unlink()
                if not (earlier and content == EARLIER):
                    self.assertTrue(self.is_whole(case, content), f"{what}: the output is not whole")
            else:
                self.assertFalse(earlier, f"{what}: the earlier output is gone")
                self.assertNotEqual(code, 0, f"{what}: success without output")
        self.assertEqual(left, set(), what)

    def test_closed_streams(self):
        for case in CASES:
            if case.output is not None:
                self.whole_output(case)
            for closed in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)):
                what = f"kalmia {' '.join(case.arguments)}, {closed} closed"
                code = self.run_case(case, what, closed=closed)
                if 0 in closed and case.stdin:
                    self.assertNotEqual(code, 0, what)
                elif 1 in closed and case.output is None and case.name != "reproduce":
                    self.assertEqual(code, 1, what)
                elif 1 not in closed:
                    self.assertEqual(code, 0, what)

    def limits(self, which, values, user=None, cases=CASES):
        """Runs every command with each of the limits; how many of the runs succeeded."""
        good = 0
        for case in cases:
            if case.output is not None:
                self.whole_output(case)
            for value in values:
                for earlier in (False, True) if case.output else (False,):
                    if earlier:
                        (self.folder / case.output).write_bytes(EARLIER)
                        (self.folder / case.output).chmod(0o666)
                    what = f"kalmia {' '.join(case.arguments)}, limit {value}"
                    process = self.start(case, prepare=limited((which, value), user=user))
                    code = self.finish(process, what)
                    said = (self.folder / "said").read_text()
                    # The system's loader may fail before the program runs.
                    if code == 127 or "error while loading shared libraries" in said:
                        self.check_files(case, what, code, earlier)
                        continue
                    self.assertIn(code, (0, 1), f"{what}: {said[-500:]}")
                    self.check_files(case, what, code, earlier)
                    good += code == 0
        return good

    def test_little_memory(self):
        self.assertGreater(self.limits(resource.RLIMIT_AS, (40 << 20, 80 << 20, 160 << 20, 1 << 30)), 0)

    def test_small_files(self):
        self.limits(resource.RLIMIT_FSIZE, (0, 1000, 1 << 20))

    def test_few_files(self):
        self.assertGreater(self.limits(resource.RLIMIT_NOFILE, (4, 5, 6, 8, 32)), 0)

    @unittest.skipIf(os.geteuid() != 0, "only root can become the user whom the limit is for")
    def test_few_processes(self):
        self.folder.chmod(0o777)
        for parent in Path(PROGRAM).parents:
            if parent.stat().st_mode & 0o5 != 0o5:
                self.skipTest(f"{parent} is closed to other users, so they cannot run the program")
        # The program goes on with the threads that start: one of eight, or two.
        for words in (["fit", "track.csv", *SMALL_FIT], ["smooth", "track.kalmia", "track.csv"]):
            output = "out.kalmia" if words[0] == "fit" else "out.csv"
            case = Case([*words, "--threads", "8", "-o", output], output)
            good = self.limits(resource.RLIMIT_NPROC, (1, 2), user=NOBODY, cases=(case,))
            self.assertEqual(good, 4, words[0])
        self.limits(resource.RLIMIT_NPROC, (0,), user=NOBODY)

    def test_signals(self):
        for case in CASES:
            begin = time.monotonic()
            if case.output is not None:
                self.whole_output(case)
            else:
                self.finish(self.start(case), case.name)
                shutil.rmtree(self.folder / "folder", ignore_errors=True)
            seconds = time.monotonic() - begin
            for number in (*CAUGHT, signal.SIGPIPE):
                for moment in range(MOMENTS):
                    earlier = case.output is not None and moment % 2 == 0
                    if earlier:
                        (self.folder / case.output).write_bytes(EARLIER)
                    what = f"kalmia {' '.join(case.arguments)}, {number.name} at moment {moment}"
                    process = self.start(case)
                    time.sleep(seconds * moment / MOMENTS)
                    process.send_signal(number)
                    code = self.finish(process, what)
                    # Before its own handler is there, or without one, the signal itself ends it.
                    ends = {0, -number} | ({128 + number} if number in case.catches else set())
                    self.assertIn(code, ends, f"{what}: {(self.folder / 'said').read_text()[-500:]}")
                    self.check_files(case, what, code, earlier)

    def test_an_output_that_is_standard_input(self):
        before = (self.folder / "track.csv").read_bytes()
        with (self.folder / "track.csv").open("rb") as stdin:
            done = subprocess.run([PROGRAM, "smooth", "track.kalmia", "-", "-o", "track.csv"],
                                  cwd=self.folder, stdin=stdin, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("track.csv: is both input and output", done.stderr)
        self.assertEqual((self.folder / "track.csv").read_bytes(), before)

    def test_numbers_of_threads(self):
        for threads in ("-1", "100000"):
            for words in (["filter", "track.kalmia", "track.csv", "-o", "out.csv"],
                          ["smooth", "track.kalmia", "track.csv", "-o", "out.csv"],
                          ["forecast", "track.kalmia", "track.csv", "-o", "out.csv"],
                          ["sample", "track.kalmia", "track.csv", "-o", "out.csv"],
                          ["evaluate", "track.kalmia", "track.csv"],
                          ["fit", "track.csv", "-o", "out.kalmia"],
                          ["denoise", "noisy.wav", "-o", "out.wav"],
                          ["reproduce", "linear", "--quick"]):
                result = self.run_program(*words, "--threads", threads)
                self.assertEqual(result.returncode, 2, f"{words}: {result.stderr}")
                self.assertIn(f"threads = {threads}, but it must be in 0..1024", result.stderr)


if __name__ == "__main__":
    support.main()
