"""What the tests of the program share: running it, small data, a small model.

Every test script is run as `x_test.py PROGRAM [unittest options]`.
"""

import atexit
import io
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
import wave
from pathlib import Path

PROGRAM = Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
COMMANDS = ("fit", "filter", "smooth", "forecast", "sample", "stream", "denoise", "evaluate", "info",
            "simulate", "bench", "reproduce")

# Enough for a model that works, little enough for a test.
SMALL_FIT = ("--hidden", "8", "--decoder", "8", "--updates", "20", "--prior", "constant-velocity")


def run(*arguments, stdin=None, cwd=None, timeout=120):
    """Runs the program to its end; stdout and stderr as text."""
    return subprocess.run([str(PROGRAM), *map(str, arguments)], input=stdin, cwd=cwd, text=True,
                          capture_output=True, timeout=timeout)


def write_rows(path, header, rows):
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def write_track(path, steps=300, seed=1, channels=2):
    """Noisy measurements y1, y2, ... of slow waves, with their truth."""
    source = random.Random(seed)
    names = [f"y{i + 1}" for i in range(channels)]
    rows = []
    for k in range(steps):
        truth = [math.sin(0.05 * k * (i + 1)) for i in range(channels)]
        noisy = [value + source.gauss(0, 0.3) for value in truth]
        rows.append(",".join(f"{value:.6f}" for value in [k, *noisy, *truth]))
    return write_rows(path, ",".join(["t", *names, *(f"true_{name}" for name in names)]), rows)


def wav_bytes(samples, rate=16000, channels=1, width=2):
    """A WAV file of whole numbers; samples within -1 and 1, channels next to each other."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(width)
        out.setframerate(rate)
        full = 2 ** (8 * width - 1)
        whole = (min(full - 1, max(-full, round(full * x))) for x in samples)
        # 8 bits have no sign.
        out.writeframes(b"".join((x + full).to_bytes(1, "little") if width == 1
                                 else x.to_bytes(width, "little", signed=True) for x in whole))
    return file.getvalue()


def noisy_words(seconds=6, rate=16000, noise=0.02, seed=1):
    """(noisy, clean) samples: tones with pauses between them, in white noise."""
    source = random.Random(seed)
    clean = [0.2 * math.sin(2 * math.pi * 440 * n / rate) * math.sin(math.pi * (n % rate) / rate * 2)
             if n % rate < rate // 2 else 0.0 for n in range(int(seconds * rate))]
    return [x + source.gauss(0, noise) for x in clean], clean


_shared = None


def shared_folder():
    """A folder of this process with track.csv and track.kalmia, fitted to it."""
    global _shared
    if _shared is None:
        _shared = Path(tempfile.mkdtemp(prefix="kalmia-cli-"))
        atexit.register(shutil.rmtree, _shared, ignore_errors=True)
        write_track(_shared / "track.csv")
        result = run("fit", "track.csv", *SMALL_FIT, "-q", "-o", "track.kalmia", cwd=_shared)
        if result.returncode != 0:
            raise RuntimeError(f"the fit of the shared model failed: {result.stderr}")
    return _shared


_sets = []


def instruction_sets(test):
    """Those that this machine and this build have, slowest first, by the word of the program."""
    if not _sets:
        for name in ("portable", "avx2", "avx512"):
            result = test.run_program("simulate", "--list", "--isa", name)
            if result.returncode == 0:
                _sets.append(name)
            else:
                test.assertIn(f"--isa = \"{name}\", but this machine or this build does not have it",
                              result.stderr)
                test.assertIn(", ".join(_sets), result.stderr)
        test.assertEqual(_sets[0], "portable")
    return _sets


class ProgramTest(unittest.TestCase):
    """A test with a folder of its own, which is the program's working directory."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kalmia-cli-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def track(self, **options):
        return write_track(self.folder / "track.csv", **options)

    def model(self):
        """The shared model and its data, copied to the folder."""
        for name in ("track.csv", "track.kalmia"):
            shutil.copy(shared_folder() / name, self.folder / name)
        return self.folder / "track.kalmia"

    def run_program(self, *arguments, **options):
        return run(*arguments, cwd=self.folder, **options)

    def succeed(self, *arguments, **options):
        """Runs the program, which must succeed; its standard output."""
        result = self.run_program(*arguments, **options)
        self.assertEqual(result.returncode, 0, f"{arguments}: {result.stderr}")
        return result.stdout

    def fail_with(self, code, arguments, fragments=(), stdin=None, stdout=""):
        """Runs the program, which must fail: with this exit code, one message that contains the
        fragments, nothing else on standard output, and the folder as it was."""
        before = self.contents()
        result = self.run_program(*arguments, stdin=stdin)
        said = f"{arguments}: exit code {result.returncode}, stderr:\n{result.stderr}"
        self.assertEqual(result.returncode, code, said)
        self.assertEqual(result.stdout, stdout, said)
        self.assertTrue(result.stderr.startswith("kalmia"), said)
        messages = [line for line in result.stderr.splitlines() if line.startswith("kalmia")]
        self.assertEqual(len(messages), 1, said)
        for fragment in fragments:
            self.assertIn(fragment, result.stderr, said)
        for trace in ("Traceback", "terminate called", "what():", "Assertion", "core dumped"):
            self.assertNotIn(trace, result.stderr, said)
        self.assertEqual(self.contents(), before, said)
        return result.stderr

    def contents(self):
        """Every file of the folder with its bytes: nothing may be left behind, nothing lost."""
        return {path.relative_to(self.folder): path.read_bytes()
                for path in sorted(self.folder.rglob("*"))
                if path.is_file() and os.access(path, os.R_OK)}


def main():
    if PROGRAM is None:
        sys.exit(f"usage: {sys.argv[0]} PROGRAM [unittest options]")
    unittest.main()
