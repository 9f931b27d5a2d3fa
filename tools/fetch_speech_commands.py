#!/usr/bin/python3
"""Fetches the Speech Commands recordings (version 0.01) of five words and the background noises.

usage: tools/fetch_speech_commands.py FOLDER [--archive FILE] [--only LIST | --partial]

Data set: P. Warden, "Speech Commands: A Dataset for Limited-Vocabulary Speech Recognition",
arXiv:1804.03209; Google, Creative Commons Attribution 4.0. The download is 1.4 GB.

FOLDER then holds <word>/<speaker>_nohash_<k>.wav of the words below, _background_noise_/*.wav and
index.csv: file,class,speaker,split,samples,peak,rms, peak and rms relative to full scale.
Recordings with a peak below 2 % of full scale, practically silent, are left out. All recordings of a
speaker belong to one split, by the data set's own rule. FOLDER appears whole or not at all.

With --only, FOLDER holds the recordings that a text file lists, one <word>/<file> a line. The lists
tools/speech_commands.txt and tools/more_speech_commands.txt are the recordings of docs/audio.md, of
which the networks of `kalmia denoise` were made.
"""

import argparse
import array
import hashlib
import math
import shutil
import sys
import tarfile
import tempfile
import urllib.request
import wave
import zlib
from pathlib import Path, PurePosixPath

URL = "http://download.tensorflow.org/data/speech_commands_v0.01.tar.gz"
WORDS = ("tree", "six", "eight", "yes", "cat")
NOISE = "_background_noise_"
NOISES = ("doing_the_dishes.wav", "dude_miaowing.wav", "exercise_bike.wav", "pink_noise.wav",
          "running_tap.wav", "white_noise.wav")
RECORDINGS = 10564  # of these words in the data set
LEAST_PEAK = 0.02
RATE = 16000
LARGEST_HASH = 2**27 - 1


class Refused(Exception):
    """Something that cannot be used: the place, what was found, the rule, what to do."""


def split_of(speaker):
    """Which part a speaker belongs to: by the SHA-1 of the name, as a percentage."""
    digest = int(hashlib.sha1(speaker.encode("ascii")).hexdigest(), 16)
    percentage = digest % (LARGEST_HASH + 1) * (100.0 / LARGEST_HASH)
    if percentage < 10:
        return "validation"
    return "testing" if percentage < 20 else "training"


def wanted(name):
    """The place of an archive's file in the folder, or None."""
    parts = [part for part in PurePosixPath(name).parts if part != "."]
    if len(parts) < 2 or not parts[-1].endswith(".wav") or ".." in parts:
        return None
    folder, file = parts[-2:]
    if folder == NOISE:
        return (folder, file) if file in NOISES else None
    return (folder, file) if folder in WORDS and "_nohash_" in file else None


def samples_of(path):
    """The samples of a recording, which must be 16 kHz, mono, 16 bit."""
    try:
        with wave.open(str(path)) as sound:
            found = (sound.getframerate(), sound.getnchannels(), 8 * sound.getsampwidth())
            data = sound.readframes(sound.getnframes())
    except (wave.Error, EOFError) as error:
        raise Refused(f"{path.parent.name}/{path.name}: not a WAV file ({error}); "
                      "the archive is damaged, fetch it again") from error
    if found != (RATE, 1, 16):
        raise Refused(f"{path.parent.name}/{path.name}: {found[0]} Hz, {found[1]} channels, "
                      f"{found[2]} bits, but recordings have {RATE} Hz, 1 and 16; "
                      "this is another data set")
    samples = array.array("h")
    samples.frombytes(data[: len(data) // 2 * 2])
    if sys.byteorder == "big":
        samples.byteswap()
    if not samples:
        raise Refused(f"{path.parent.name}/{path.name}: no samples; fetch the archive again")
    return samples


def download(to):
    print(f"fetching {URL}", file=sys.stderr)
    try:
        with urllib.request.urlopen(URL) as source, open(to, "wb") as file:
            shutil.copyfileobj(source, file, 1 << 20)
            announced = source.headers.get("Content-Length")
    except OSError as error:
        raise Refused(f"{URL}: {error}; fetch it in another way and give it as --archive FILE") \
            from error
    size = to.stat().st_size
    if announced is not None and size != int(announced):
        raise Refused(f"{URL}: {size} bytes came, but {announced} were announced; try again")


def read_list(path):
    """The recordings that a text file lists, as places in the folder."""
    try:
        names = path.read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path}: cannot be read ({error}); give a text file with one "
                      "<word>/<file>.wav a line") from error
    for name in names:
        if name.count("/") != 1 or wanted(name) is None:
            raise Refused(f"{path}: {name!r} is no recording of the five words or noises; "
                          "lines are <word>/<speaker>_nohash_<k>.wav")
    if not names:
        raise Refused(f"{path}: empty, but it must list recordings")
    return {tuple(name.split("/")) for name in names}


def extract(archive, folder, only):
    """Unpacks what is wanted; of that what `only` lists, if it is not None."""
    try:
        with tarfile.open(archive) as files:
            for member in files:
                place = wanted(member.name)
                if place is None or not member.isfile():
                    continue
                if only is not None and place not in only:
                    continue
                target = folder.joinpath(*place)
                target.parent.mkdir(parents=True, exist_ok=True)
                with files.extractfile(member) as source, open(target, "wb") as file:
                    shutil.copyfileobj(source, file)
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise Refused(f"{archive}: cannot be unpacked ({error}); it must be the whole "
                      "speech_commands_v0.01.tar.gz, fetch it again") from error


def check_listed(archive, folder, only):
    missing = sorted(place for place in only if not folder.joinpath(*place).is_file())
    if missing:
        raise Refused(f"{archive}: {'/'.join(missing[0])} missing, and {len(missing) - 1} more of "
                      f"the {len(only)} recordings listed; this is another archive")


def check_contents(archive, folder, partial):
    noises = {path.name for path in (folder / NOISE).glob("*.wav")}
    missing = [f"{NOISE}/{name}" for name in NOISES if name not in noises]
    missing += [f"{word}/" for word in WORDS if not any((folder / word).glob("*.wav"))]
    if missing:
        raise Refused(f"{archive}: {', '.join(missing)} missing, but the data set has five words "
                      "and six noises; this is another archive")
    count = sum(1 for word in WORDS for _ in (folder / word).glob("*.wav"))
    if count != RECORDINGS and not partial:
        raise Refused(f"{archive}: {count} recordings of the five words, but version 0.01 has "
                      f"{RECORDINGS}; fetch it again, or take it as it is by --partial")


def index(folder):
    """Writes index.csv and removes what is practically silent; how many were kept and removed."""
    rows, removed = [], 0
    for path in sorted(path for word in WORDS for path in (folder / word).glob("*.wav")):
        samples = samples_of(path)
        peak = max(-min(samples), max(samples)) / 32768
        if peak < LEAST_PEAK:
            path.unlink()
            removed += 1
            continue
        rms = math.sqrt(sum(x * x for x in samples) / len(samples)) / 32768
        word, speaker = path.parent.name, path.name.split("_nohash_")[0]
        rows.append(f"{word}/{path.name},{word},{speaker},{split_of(speaker)},{len(samples)},"
                    f"{peak:.4f},{rms:.5f}")
    (folder / "index.csv").write_text(
        "\n".join(["file,class,speaker,split,samples,peak,rms", *rows]) + "\n")
    return len(rows), removed


def fetch(target, archive, only, partial):
    only = None if only is None else read_list(only)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise Refused(f"{target}: exists and is not empty; give another folder, or remove it")
    if archive is not None and not archive.is_file():
        raise Refused(f"{archive}: no such file; leave out --archive to fetch it")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".speech-", dir=target.parent) as scratch:
        if archive is None:
            archive = Path(scratch) / "archive.tar.gz"
            download(archive)
        made = Path(scratch) / "made"
        made.mkdir(mode=0o755)
        extract(archive, made, only)
        if only is None:
            check_contents(archive, made, partial)
        else:
            check_listed(archive, made, only)
        noises = sorted((made / NOISE).glob("*.wav"))
        for path in noises:
            samples_of(path)
        kept, removed = index(made)
        if target.exists():
            target.rmdir()
        made.rename(target)
    print(f"{target}: {kept} recordings of {len(WORDS)} words ({removed} silent ones left out), "
          f"{len(noises)} noises")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--archive", type=Path, help="the archive, if it was fetched already")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--only", type=Path, metavar="LIST",
                       help="lay out the recordings that this text file lists")
    which.add_argument("--partial", action="store_true",
                       help="take an archive that does not have all recordings")
    options = parser.parse_args()
    try:
        fetch(options.folder, options.archive, options.only, options.partial)
    except (Refused, OSError) as error:
        print(f"fetch_speech_commands: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
