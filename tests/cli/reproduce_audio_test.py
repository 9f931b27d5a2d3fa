#!/usr/bin/python3
"""kalmia reproduce audio: a table from a tiny data set, and what it says where there is none."""

import csv
import json
import math
import os
import random
import struct
import wave

import support
from support import ProgramTest

NOISES = ("white_noise", "doing_the_dishes", "dude_miaowing", "exercise_bike", "pink_noise",
          "running_tap")
os.environ.pop("KALMIA_SPEECH_COMMANDS", None)
FIELDS = ["method", "noise", "raw_mse", "mse", "median_mse", "ratio", "snr_gain_db",
          "si_sdr_gain_db", "segmental_gain_db", "seconds", "self_supervised"]


def write_wav(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16000)
        file.writeframes(b"".join(struct.pack("<h", round(32767 * value)) for value in values))


def write_speech(folder):
    """Two hummed words of each part, and noises."""
    source = random.Random(1)
    lines = ["file,class,speaker,split,samples,peak,rms"]
    for split in ("training", "validation", "testing"):
        for word in ("cat", "yes"):
            name = f"{word}/{split}_nohash_0.wav"
            write_wav(folder / name, [0.3 * math.sin(0.07 * n) * math.sin(math.pi * n / 3200) ** 2
                                      for n in range(3200)])
            lines.append(f"{name},{word},{split},{split},3200,0.3,0.1")
    (folder / "index.csv").write_text("\n".join(lines) + "\n")
    for name in NOISES:
        write_wav(folder / f"_background_noise_/{name}.wav",
                  [source.gauss(0, 0.1) for _ in range(20000)])


class ReproduceAudio(ProgramTest):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "speech_commands"
        write_speech(self.data)

    def test_every_method_and_noise(self):
        result = json.loads(self.succeed("reproduce", "audio", "--quick", "--json", "-q", "--noises",
                                         "white,combined"))
        names = [method["name"] for method in result["methods"]]
        self.assertIn("recursive-fused", names)
        self.assertEqual(len(result["rows"]), 2 * len(names))
        for row in result["rows"]:
            self.assertEqual(list(row)[:11], FIELDS)
            self.assertNotIn("error", row)
        self.assertEqual(result["provenance"]["options"]["data"], ["speech_commands"])
        folder = self.folder / "reproduce-audio-quick"
        self.assertEqual(json.loads((folder / "rows.json").read_text())["rows"], result["rows"])
        with open(folder / "rows.csv", newline="") as file:
            self.assertEqual(len(list(csv.DictReader(file))), len(result["rows"]))

    def test_text_has_a_column_for_each_noise(self):
        text = self.succeed("reproduce", "audio", "--methods", "raw,wiener-oracle", "--out", "some")
        self.assertRegex(text, r"(?m)^ +white +dishes +miaow +bike +pink +tap +combined$")
        self.assertRegex(text, r"(?m)^  raw( +1\.000){7}$")
        self.assertRegex(text, r"(?m)^ \*wiener-oracle( +0\.\d+){7}$")
        self.assertIn("some: rows.csv, rows.json", text)

    def test_without_data_it_says_what_to_do(self):
        self.data.rename(self.folder / "renamed")
        for arguments in ((), ("--data", "elsewhere"), ("--data", "renamed/cat")):
            message = self.fail_with(1, ("reproduce", "audio", *arguments),
                                     ["tools/fetch_speech_commands.py FOLDER"])
            self.assertEqual(message.count("\n"), 1)

    def test_lists_its_methods(self):
        text = self.succeed("reproduce", "audio", "--list")
        self.assertRegex(text, r"(?m)^ \*wiener-known ")
        self.assertRegex(text, r"(?m)^  noise2noise ")

    def test_what_is_refused(self):
        self.fail_with(2, ("reproduce", "--quick", "audio"), ["must come first"])
        self.fail_with(2, ("reproduce", "audio", "--noises", "whit"), ["did you mean white?"])
        self.fail_with(2, ("reproduce", "audio", "--methods", "raws"), ["did you mean raw?"])
        self.fail_with(2, ("reproduce", "audio", "--test", "-3"), ["test = -3"])


if __name__ == "__main__":
    support.main()
