#!/usr/bin/python3
"""kalmia denoise: files, pipes, options, and recordings of every odd kind."""

import json
import os
import select
import struct
import subprocess
import unittest

import support
from support import PROGRAM, ProgramTest, noisy_words, wav_bytes


def float_wav(samples, rate=16000, channels=1):
    data = struct.pack(f"<{len(samples)}f", *samples)
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " +
            struct.pack("<IHHIIHH", 16, 3, channels, rate, 4 * rate * channels, 4 * channels, 32) +
            b"data" + struct.pack("<I", len(data)) + data)


def header_of(wav):
    """(channels, rate, bits, bytes of samples) of a WAV file without extensions."""
    channels, rate = struct.unpack("<HI", wav[22:28])
    return channels, rate, struct.unpack("<H", wav[34:36])[0], struct.unpack("<I", wav[40:44])[0]


def with_length(wav, length):
    """The file as a program writes it into a pipe that cannot know its length."""
    return wav[:4] + struct.pack("<I", length) + wav[8:40] + struct.pack("<I", length) + wav[44:]


class DenoiseTest(ProgramTest):
    def write(self, name, data):
        (self.folder / name).write_bytes(data)

    def read(self, name):
        return (self.folder / name).read_bytes()

    def report(self, *arguments):
        return json.loads(self.succeed("denoise", *arguments, "-q", "--json"))

    def piped(self, data, *arguments):
        return subprocess.run([str(PROGRAM), "denoise", "-", *arguments], input=data,
                              cwd=self.folder, capture_output=True, timeout=120)


class Files(DenoiseTest):
    def setUp(self):
        super().setUp()
        noisy, clean = noisy_words()
        self.write("noisy.wav", wav_bytes(noisy))
        self.write("clean.wav", wav_bytes(clean))

    def test_makes_it_better(self):
        for method in ("networks", "wiener"):
            for out in ("out.wav", "out.flac"):
                report = self.report("noisy.wav", "--clean", "clean.wav", "--method", method,
                                     "-o", out)
                for score in ("snr_db", "si_sdr_db"):
                    self.assertGreater(report["after"][score], report["before"][score] + 3)
                self.assertLess(report["after"]["mse"], report["before"]["mse"])
                self.assertEqual(report["samples"], 96000)
                self.assertGreater(report["times_real_time"], 0)
        self.assertEqual(header_of(self.read("out.wav")), (1, 16000, 16, 192000))

    def test_says_what_was_done(self):
        text = self.succeed("denoise", "noisy.wav", "--clean", "clean.wav", "-o", "out.wav")
        self.assertRegex(text, r"out.wav: 6.00 s, 1 channel at 16000 Hz, \S+ times faster")
        self.assertRegex(text, r"(?m)^before +\S+ +\S+ +\S+ +\S+$")
        self.assertEqual(self.succeed("denoise", "noisy.wav", "-q", "-o", "out.wav"), "")

    def test_threads_do_not_matter(self):
        for threads in (1, 2):
            self.succeed("denoise", "noisy.wav", "--threads", threads, "-o", f"{threads}.wav")
        self.assertEqual(self.read("1.wav"), self.read("2.wav"))

    def test_strength_and_most_reduction(self):
        self.succeed("denoise", "noisy.wav", "--strength", 0, "-o", "same.wav")
        self.assertEqual(self.read("same.wav"), self.read("noisy.wav"))
        level = [self.report("noisy.wav", "--method", "wiener", *options, "-o", "out.wav")
                 ["level_after_db"] for options in ((), ("--most-reduction", 6), ("--strength", 0))]
        self.assertLess(level[0], level[1])
        self.assertLess(level[1], level[2])

    def test_fit_and_models(self):
        report = self.report("noisy.wav", "--fit", "--fit-seconds", 0.1, "--save-model", "m.gains",
                             "-o", "a.wav")
        self.assertEqual(report["model"], "shipped, fitted")
        self.assertGreater(report["fit"]["updates"], 0)
        self.assertEqual(self.report("noisy.wav", "--model", "m.gains", "-o", "b.wav")["model"],
                         "m.gains")
        self.fail_with(3, ["denoise", "noisy.wav", "--model", "noisy.wav", "-o", "c.wav"],
                       ["noisy.wav: not a file of denoising networks"])
        data = self.read("m.gains")
        self.write("cut.gains", data[:-100])
        self.fail_with(3, ["denoise", "noisy.wav", "--model", "cut.gains", "-o", "c.wav"],
                       ["cut.gains: the file is cut off"])

    def test_an_earlier_output_is_replaced(self):
        self.write("out.wav", b"earlier")
        self.succeed("denoise", "noisy.wav", "-o", "out.wav")
        self.assertEqual(header_of(self.read("out.wav"))[3], 192000)


class Pipes(DenoiseTest):
    def setUp(self):
        super().setUp()
        self.noisy = wav_bytes(noisy_words()[0])
        self.write("noisy.wav", self.noisy)
        self.succeed("denoise", "noisy.wav", "-o", "out.wav")
        self.expected = self.read("out.wav")

    def test_the_same_as_a_file(self):
        found = self.piped(self.noisy, "-o", "-")
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assertEqual(found.stdout, self.expected)
        for length in (0xffffffff, 0x7ffff000, 0):
            found = self.piped(with_length(self.noisy, length), "-o", "-")
            self.assertEqual(found.stdout[44:], self.expected[44:], length)
            self.assertNotIn(b"cut off", found.stderr)
            # To a file the length is known in the end.
            self.assertEqual(self.piped(with_length(self.noisy, length), "-o", "b.wav").returncode, 0)
            self.assertEqual(self.read("b.wav"), self.expected)

    def test_raw(self):
        found = self.piped(self.noisy[44:], "--raw-rate", "16000", "-o", "-")
        self.assertEqual(found.stdout[44:], self.expected[44:], found.stderr)
        found = self.piped(self.noisy[44:], "--raw-rate", "48000", "--raw-channels", "2", "-o", "-")
        self.assertEqual(header_of(found.stdout)[:2], (2, 48000))
        self.assertEqual(len(found.stdout), len(self.noisy))

    def test_comes_out_while_it_goes_in(self):
        with subprocess.Popen([str(PROGRAM), "denoise", "-", "-q", "-o", "-"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
            # All but the last second, and no end.
            program.stdin.write(with_length(self.noisy, 0xffffffff)[:-32000])
            program.stdin.flush()
            out = b""
            while len(out) < 44 + 32000:  # a second
                ready, _, _ = select.select([program.stdout], [], [], 60)
                self.assertTrue(ready, f"only {len(out)} bytes came out")
                out += os.read(program.stdout.fileno(), 1 << 16)
            program.stdin.write(self.noisy[-32000:])
            program.stdin.close()
            out += program.stdout.read()
            self.assertEqual(program.wait(), 0)
        self.assertEqual(out[44:], self.expected[44:])

    def test_refused(self):
        for data, words in ((b"", "nothing in it"), (b"hello, world", "only WAV"),
                            (self.noisy[:20], "cut off"), (self.noisy[:44], "empty")):
            found = self.piped(data, "-o", "out.wav")
            self.assertEqual(found.returncode, 3)
            self.assertIn(b"standard input", found.stderr)
            self.assertIn(words.encode(), found.stderr)
        self.assertEqual(self.read("out.wav"), self.expected)
        for option in (["--fit"], ["--clean", "noisy.wav"]):
            self.fail_with(2, ["denoise", "-", *option, "-o", "x.wav"], ["twice", "standard input"],
                           stdin="")


class OddRecordings(DenoiseTest):
    def accept(self, data, samples, arguments=(), **expected):
        self.write("odd.wav", data)
        for method in ("networks", "wiener"):
            with self.subTest(method=method):
                report = self.report("odd.wav", "--method", method, *arguments, "-o", "out.wav")
                self.assertEqual(report["samples"], samples)
                for key, value in expected.items():
                    self.assertEqual(report[key], value, key)

    def refuse(self, data, *fragments, arguments=()):
        self.write("odd.wav", data)
        self.fail_with(3, ["denoise", "odd.wav", "-o", "out.wav", *arguments],
                       ["kalmia denoise: odd.wav: ", *fragments])

    def test_short_silent_constant_and_loud(self):
        self.accept(wav_bytes([0.5]), 1)
        self.accept(wav_bytes([0.1] * 300), 300)
        self.accept(wav_bytes([0.0] * 40000), 40000, level_after_db=None)
        self.assertEqual(self.read("out.wav")[44:], bytes(80000))
        self.accept(wav_bytes([0.3] * 40000), 40000)
        self.accept(wav_bytes([5 * x for x in noisy_words(2)[0]]), 32000)
        self.accept(wav_bytes([x + 0.5 for x in noisy_words(2)[0]]), 32000)

    def test_widths(self):
        noisy = noisy_words(1)[0]
        for width, bits in ((1, 16), (2, 16), (3, 24), (4, 32)):
            self.accept(wav_bytes(noisy, width=width), 16000)
            self.assertEqual(header_of(self.read("out.wav")), (1, 16000, bits, 2000 * bits))
        self.accept(float_wav(noisy), 16000)
        self.assertEqual(header_of(self.read("out.wav")), (1, 16000, 32, 64000))

    def test_channels_and_rates(self):
        noisy = noisy_words(1)[0]
        self.accept(wav_bytes(noisy, channels=2), 8000, channels=2)
        self.accept(wav_bytes(noisy, channels=8), 2000, channels=8)
        for rate in (8000, 44100, 384000):
            self.accept(wav_bytes(noisy, rate=rate), 16000, rate=rate)
        self.write("odd.wav", wav_bytes(noisy, rate=1))
        self.assertEqual(self.report("odd.wav", "--method", "wiener", "-o", "out.wav")["rate"], 1)
        self.refuse(wav_bytes(noisy, rate=1), "1 samples a second", "4000", "wiener")
        self.refuse(wav_bytes(noisy, rate=2**31 - 1), "2147483647", "768000")
        self.refuse(wav_bytes([0] * 200, channels=100), "100 channels", "64")

    def test_not_finite(self):
        noisy = noisy_words(1)[0]
        for value in (float("nan"), float("inf"), -float("inf"), 1e30):
            noisy[777] = value
            self.refuse(float_wav(noisy), "sample 777, channel 1", "finite")
        self.assertFalse((self.folder / "out.wav").exists())

    def test_clipped_is_said(self):
        loud = [8 * x for x in noisy_words(1)[0]]
        self.write("odd.wav", float_wav(loud))
        report = self.report("odd.wav", "--strength", 0, "-o", "out.flac")
        self.assertEqual(report["clipped"], sum(round(x * 2**23) not in range(-2**23, 2**23)
                                                for x in loud))
        text = self.succeed("denoise", "odd.wav", "--strength", 0, "-o", "out.flac")
        self.assertIn(f"clipped: {report['clipped']} samples", text)

    def test_cut_off(self):
        whole = wav_bytes(noisy_words(1)[0])
        self.accept(whole[:-1000], 15500, cut_off=True)
        self.refuse(whole[:30], "cut off")
        self.refuse(whole[:44], "empty")

    def test_no_sound(self):
        self.refuse(b"", "nothing in it")
        self.refuse(b"t,y\n0,1\n", "not audio")
        self.refuse(bytes(range(256)) * 40, "not audio")
        self.fail_with(1, ["denoise", "missing.wav", "-o", "out.wav"],
                       ["cannot read missing.wav", "No such file"])
        self.fail_with(1, ["denoise", ".", "-o", "out.wav"], ["cannot read ."])

    def test_damaged_headers(self):
        whole = wav_bytes(noisy_words(0.1)[0])
        for place in range(44):
            for value in (0, 1, 0x7f, 0xff):
                data = bytearray(whole)
                data[place] = value
                self.write("odd.wav", data)
                code = self.run_program("denoise", "odd.wav", "-q", "-o", "out.wav").returncode
                self.assertIn(code, (0, 3), f"byte {place} = {value}")


class Places(DenoiseTest):
    def setUp(self):
        super().setUp()
        self.write("noisy.wav", wav_bytes(noisy_words(1)[0]))
        self.write("short.wav", wav_bytes([0.1] * 100, rate=8000))

    def refuse(self, code, arguments, *fragments):
        self.fail_with(code, ["denoise", *arguments], fragments)

    def test_outputs(self):
        self.refuse(2, ["noisy.wav"], "-o FILE is required")
        self.refuse(1, ["noisy.wav", "-o", "no/out.wav"], "there is no folder no")
        self.refuse(2, ["noisy.wav", "-o", "noisy.wav"], "both input and output")
        (self.folder / "link.wav").symlink_to("noisy.wav")
        self.refuse(2, ["noisy.wav", "-o", "link.wav"], "both input and output")
        self.refuse(2, ["noisy.wav", "--clean", "short.wav", "-o", "short.wav"], "both input")
        self.refuse(3, ["noisy.wav", "-o", "out.mp3"], "out.mp3", ".wav")
        self.refuse(3, ["noisy.wav", "--fit", "-o", "out.ogg"], "out.ogg", ".wav")
        self.refuse(3, ["noisy.wav", "-o", "out.csv"], "out.csv", ".wav or .flac")
        self.refuse(2, ["noisy.wav", "--json", "-o", "-"], "--json needs -o FILE")
        self.refuse(1, ["noisy.wav", "--save-model", "no/m", "-o", "out.wav"], "no folder no")

    def test_options(self):
        out = ["noisy.wav", "-o", "out.wav"]
        self.refuse(2, [*out, "--method", "magic"], "method = magic", "networks or wiener")
        self.refuse(2, [*out, "--strength", "2"], "strength = 2")
        self.refuse(2, [*out, "--method", "wiener", "--fit"], "the method is wiener")
        self.refuse(3, [*out, "--fit"], "noisy.wav: 1 pieces", "leave out")
        self.refuse(3, [*out, "--clean", "short.wav"], "short.wav: 1 channels at 8000 Hz", "16000")
        self.refuse(1, [*out, "--clean", "missing.wav"], "cannot read missing.wav")
        self.refuse(1, [*out, "--model", "missing"], "cannot read missing")


if __name__ == "__main__":
    support.main()
