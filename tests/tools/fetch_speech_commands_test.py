"""tools/fetch_speech_commands.py on tiny archives: layout, index, split, and what it refuses."""

import io
import math
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import wave
from pathlib import Path

sys.dont_write_bytecode = True
TOOL = Path(__file__).parents[2] / "tools" / "fetch_speech_commands.py"
sys.path.insert(0, str(TOOL.parent))
from fetch_speech_commands import NOISES, WORDS, read_list, split_of, wanted  # noqa: E402

# Speakers of the data set with the part that its own lists put them in.
SPLITS = {"00f0204f": "training", "01bb6a2a": "training", "4abefdf5": "validation",
          "4c4d2526": "testing", "fce96bac": "testing", "ffbb695d": "training"}


def sound(samples=1600, amplitude=0.5, rate=16000, channels=1):
    """The bytes of a WAV file with a tone."""
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(2)
        out.setframerate(rate)
        peak = round(amplitude * 32768)
        # A whole number of periods of 16 samples, with the peak among them.
        values = [round(peak * math.sin(2 * math.pi * n / 16)) for n in range(samples)]
        out.writeframes(b"".join(v.to_bytes(2, "little", signed=True) * channels for v in values))
    return file.getvalue()


class FetchSpeechCommands(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="kalmia-fetch-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.files = {f"_background_noise_/{name}": sound() for name in NOISES}
        self.files["_background_noise_/README.md"] = b"about"
        self.files["LICENSE"] = b"CC BY"
        self.files["bed/00f0204f_nohash_0.wav"] = sound()
        for speaker, word in zip(SPLITS, (*WORDS, WORDS[0])):
            self.files[f"{word}/{speaker}_nohash_0.wav"] = sound()

    def archive(self, prefix="./"):
        path = self.folder / "archive.tar.gz"
        with tarfile.open(path, "w:gz") as out:
            for name, data in self.files.items():
                entry = tarfile.TarInfo(prefix + name)
                entry.size = len(data)
                out.addfile(entry, io.BytesIO(data))
        return path

    def run_tool(self, *options, archive=None):
        command = [sys.executable, str(TOOL), "out", "--archive", str(archive or self.archive())]
        return subprocess.run([*command, *options], cwd=self.folder, text=True,
                              capture_output=True, timeout=120)

    def refused(self, *fragments, options=("--partial",), archive=None):
        result = self.run_tool(*options, archive=archive)
        self.assertEqual(result.returncode, 1, result.stdout)
        for fragment in fragments:
            self.assertIn(fragment, result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir() if p.name != "archive.tar.gz"),
                         [], "something was left behind")

    def test_split_rule(self):
        for speaker, split in SPLITS.items():
            self.assertEqual(split_of(speaker), split)
        # The percentages of many names.
        parts = [split_of(f"{i:08x}") for i in range(4000)]
        self.assertAlmostEqual(parts.count("validation") / 4000, 0.1, delta=0.02)
        self.assertAlmostEqual(parts.count("testing") / 4000, 0.1, delta=0.02)

    def test_only_what_is_wanted(self):
        self.assertEqual(wanted("./tree/a_nohash_0.wav"), ("tree", "a_nohash_0.wav"))
        self.assertEqual(wanted("speech/tree/a_nohash_0.wav"), ("tree", "a_nohash_0.wav"))
        for name in ("tree/../../etc/tree/a_nohash_0.wav", "bed/a_nohash_0.wav", "tree/notes.txt",
                     "_background_noise_/other.wav", "a_nohash_0.wav"):
            self.assertIsNone(wanted(name), name)

    def test_layout_and_index(self):
        self.files["cat/0ff0ff00_nohash_1.wav"] = sound(samples=320, amplitude=0.0199)
        self.files["cat/0ff0ff00_nohash_2.wav"] = sound(samples=320, amplitude=0.021)
        result = self.run_tool("--partial")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("7 recordings of 5 words (1 silent ones left out), 6 noises", result.stdout)
        out = self.folder / "out"
        found = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
        words = {f"{word}/{speaker}_nohash_0.wav"
                 for speaker, word in zip(SPLITS, (*WORDS, WORDS[0]))}
        self.assertEqual(found, {"index.csv", "cat/0ff0ff00_nohash_2.wav", *words,
                                 *(f"_background_noise_/{name}" for name in NOISES)})
        self.assertEqual((out / "tree/00f0204f_nohash_0.wav").read_bytes(), sound())
        lines = (out / "index.csv").read_text().splitlines()
        self.assertEqual(lines[0], "file,class,speaker,split,samples,peak,rms")
        self.assertEqual(lines[1:], sorted(lines[1:]))
        rms = 0.5 / math.sqrt(2)
        self.assertIn(f"tree/00f0204f_nohash_0.wav,tree,00f0204f,training,1600,0.5000,{rms:.5f}",
                      lines)
        self.assertIn(f"yes/4c4d2526_nohash_0.wav,yes,4c4d2526,testing,1600,0.5000,{rms:.5f}", lines)

    def test_only_what_a_list_names(self):
        (self.folder / "list.txt").write_text("tree/00f0204f_nohash_0.wav\n"
                                              "_background_noise_/pink_noise.wav\n")
        result = self.run_tool("--only", "list.txt")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 recordings of 5 words (0 silent ones left out), 1 noises", result.stdout)
        out = self.folder / "out"
        self.assertEqual({str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()},
                         {"index.csv", "tree/00f0204f_nohash_0.wav",
                          "_background_noise_/pink_noise.wav"})

    def test_lists_that_cannot_be_used(self):
        for text, words in (("", ("empty",)), ("tree\n", ("'tree' is no recording",)),
                            ("bed/00f0204f_nohash_0.wav", ("'bed/00f0204f_nohash_0.wav'",)),
                            ("tree/0_nohash_0.wav six/0_nohash_0.wav",
                             ("six/0_nohash_0.wav missing, and 1 more of the 2",))):
            (self.folder / "archive.tar.gz").unlink(missing_ok=True)
            with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
                file.write(text)
                file.flush()
                self.refused(*words, options=("--only", file.name))
        self.refused("nowhere.txt: cannot be read", options=("--only", "nowhere.txt"))

    def test_the_lists_of_the_documents(self):
        lists = [read_list(TOOL.with_name(f"{name}.txt"))
                 for name in ("speech_commands", "more_speech_commands")]
        words = [{place for place in each if place[0] in WORDS} for each in lists]
        self.assertEqual([len(each) for each in words], [1600, 2895])
        self.assertFalse(words[0] & words[1], "a recording is in both")
        self.assertEqual({file for folder, file in lists[0] if folder not in WORDS}, set(NOISES))

    def test_all_recordings_are_asked_for(self):
        self.refused("archive.tar.gz: 6 recordings", "10564", "--partial", options=())

    def test_missing_parts(self):
        del self.files["_background_noise_/pink_noise.wav"]
        self.refused("_background_noise_/pink_noise.wav missing")
        del self.files["six/01bb6a2a_nohash_0.wav"]
        self.refused("pink_noise.wav", "six/")

    def test_other_recordings(self):
        for data, words in ((sound(rate=8000), "8000 Hz"), (sound(channels=2), "2 channels"),
                            (b"RIFF", "not a WAV file"), (sound(samples=0), "no samples")):
            self.files["tree/00f0204f_nohash_0.wav"] = data
            self.refused("tree/00f0204f_nohash_0.wav", words)

    def test_other_archives(self):
        whole = self.archive().read_bytes()
        for data in (b"", b"hello", whole[: len(whole) // 2]):
            (self.folder / "archive.tar.gz").write_bytes(data)
            self.refused("archive.tar.gz: cannot be unpacked", "again",
                         archive=self.folder / "archive.tar.gz")
        self.refused("nowhere.tar.gz: no such file", archive=self.folder / "nowhere.tar.gz")

    def test_a_folder_in_use_is_left_alone(self):
        (self.folder / "out").mkdir()
        (self.folder / "out" / "mine").write_text("mine")
        result = self.run_tool("--partial")
        self.assertEqual(result.returncode, 1)
        self.assertIn("out: exists and is not empty", result.stderr)
        self.assertEqual([p.name for p in (self.folder / "out").iterdir()], ["mine"])


if __name__ == "__main__":
    unittest.main()
