#!/usr/bin/python3
"""Measures what `kalmia denoise` does to a minute of words in noise: the table of docs/audio.md, "The tool".

usage: tools/denoise_table.py FOLDER [--kalmia PROGRAM]

FOLDER is what tools/fetch_speech_commands.py lays out. The words are the first 60 recordings of the
part `testing` after they were mixed by a fixed seed, each brought to the same level, one after the
other. The noise is the last fifth of its recording, repeated as often as needed. A cell is the
scale-invariant signal-to-distortion ratio in dB of the networks, of the Wiener filter and of the
networks trained on the recording itself (--fit).
"""

import argparse
import array
import csv
import json
import math
import random
import subprocess
import sys
import tempfile
import wave
from pathlib import Path

from fetch_speech_commands import NOISE, RATE, samples_of

NOISES = {"pink": "pink_noise.wav", "dishes": "doing_the_dishes.wav", "bike": "exercise_bike.wav"}
SNRS_DB = (0, 6, 12, 20)
WORDS = 60
SEED = 1
SPEECH_LEVEL = 0.03  # root mean square of full scale: leaves room for noise as loud, and for peaks
METHODS = {"networks": (), "Wiener": ("--method", "wiener"), "networks, --fit": ("--fit",)}


def at_level(samples, level):
    """Without its mean, and with a root mean square of `level`."""
    mean = sum(samples) / len(samples)
    rms = math.sqrt(sum((x - mean) ** 2 for x in samples) / len(samples))
    return [(x - mean) * level / rms for x in samples]


def words(folder):
    with open(folder / "index.csv", encoding="ascii") as file:
        names = [row["file"] for row in csv.DictReader(file) if row["split"] == "testing"]
    random.Random(SEED).shuffle(names)
    return [x for name in names[:WORDS] for x in at_level(samples_of(folder / name), SPEECH_LEVEL)]


def noise(folder, file, length):
    samples = samples_of(folder / NOISE / file)
    part = samples[len(samples) * 4 // 5:]
    return (list(part) * (length // len(part) + 1))[:length]


def write(path, samples):
    whole = array.array("h", (max(-32768, min(32767, round(32768 * x))) for x in samples))
    if sys.byteorder == "big":
        whole.byteswap()
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(whole.tobytes())


def cleaned_db(kalmia, noisy, clean, options):
    result = subprocess.run([kalmia, "denoise", noisy, "--clean", clean, "-o", noisy.with_name("out.wav"),
                             "--json", "-q", *options], stdout=subprocess.PIPE, check=True)
    return json.loads(result.stdout)["after"]["si_sdr_db"]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kalmia", default=Path(__file__).parents[1] / "build" / "kalmia")
    options = parser.parse_args()
    speech = words(options.folder)
    print(f"{' / '.join(METHODS)}\n")
    print("| | " + " | ".join(f"{snr} dB" for snr in SNRS_DB) + " |")
    print("| --- |" + " --- |" * len(SNRS_DB))
    with tempfile.TemporaryDirectory() as scratch:
        clean, noisy = Path(scratch) / "clean.wav", Path(scratch) / "noisy.wav"
        write(clean, speech)
        for name, file in NOISES.items():
            cells = []
            for snr in SNRS_DB:
                added = at_level(noise(options.folder, file, len(speech)),
                                 SPEECH_LEVEL * 10 ** (-snr / 20))
                write(noisy, map(sum, zip(speech, added)))
                cells.append(" / ".join(f"{cleaned_db(options.kalmia, noisy, clean, each):.1f}"
                                        for each in METHODS.values()))
            print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
