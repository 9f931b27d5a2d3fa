"""tools/denoise_table.py on a tiny folder, with a program that only notes what it is asked to do."""

import math
import subprocess
import sys
import tempfile
import unittest
import wave
from pathlib import Path

sys.dont_write_bytecode = True
TOOL = Path(__file__).parents[2] / "tools" / "denoise_table.py"
sys.path.insert(0, str(TOOL.parent))
from denoise_table import NOISES, SNRS_DB, SPEECH_LEVEL, at_level, noise, words, write  # noqa: E402

PROGRAM = """#!/usr/bin/python3
import sys, json
with open("calls", "a") as file:
    print(" ".join(sys.argv[7:]), file=file)
print(json.dumps({"after": {"si_sdr_db": 1.25 if "wiener" in sys.argv else 2.5}}))
"""


class DenoiseTable(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kalmia-denoise-table-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        (self.folder / "_background_noise_").mkdir()
        (self.folder / "cat").mkdir()
        for file in NOISES.values():
            write(self.folder / "_background_noise_" / file, [k / 2048 for k in range(100)])
        write(self.folder / "cat/a.wav", [0.1, -0.1] * 40)
        write(self.folder / "cat/b.wav", [0.3, -0.3] * 60)
        (self.folder / "index.csv").write_text(
            "file,split\ncat/a.wav,testing\ncat/b.wav,training\n")

    def test_words_are_test_words_of_one_level(self):
        speech = words(self.folder)
        self.assertEqual(len(speech), 80)
        rms = math.sqrt(sum(x * x for x in speech) / len(speech))
        self.assertAlmostEqual(rms, SPEECH_LEVEL)

    def test_level(self):
        self.assertEqual(at_level([1, 3], 0.5), [-0.5, 0.5])

    def test_noise_is_of_the_last_fifth(self):
        found = noise(self.folder, "pink_noise.wav", 45)
        self.assertEqual(found, [16 * k for k in [*range(80, 100), *range(80, 100), *range(80, 85)]])

    def test_samples_beyond_full_scale_are_cut(self):
        write(self.folder / "x.wav", [2, -2, 0.5])
        with wave.open(str(self.folder / "x.wav")) as file:
            self.assertEqual(file.readframes(3), b"\xff\x7f\x00\x80\x00\x40")

    def test_the_table(self):
        program = self.folder / "program"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        result = subprocess.run([sys.executable, TOOL, self.folder, "--kalmia", program],
                                cwd=self.folder, text=True, capture_output=True, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [line for line in result.stdout.splitlines() if
                line.startswith(tuple(f"| {name} " for name in NOISES))]
        self.assertEqual(rows, [f"| {name} |" + " 2.5 / 1.2 / 2.5 |" * len(SNRS_DB)
                                for name in NOISES])
        self.assertEqual((self.folder / "calls").read_text().splitlines()[:3],
                         ["--json -q", "--json -q --method wiener", "--json -q --fit"])


if __name__ == "__main__":
    unittest.main()
