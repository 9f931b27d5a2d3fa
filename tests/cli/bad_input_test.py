#!/usr/bin/python3
"""Data, models and places that cannot be used: the right exit code, one clear message, nothing left
behind and nothing lost."""

import os
import random
import resource
import subprocess
import unittest
from pathlib import Path

import support
from support import SMALL_FIT, ProgramTest

WITH_MODEL = ("filter", "smooth", "evaluate", "forecast", "sample")


class BadInputTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.model()
        # What must survive every failure.
        (self.folder / "out.csv").write_text("earlier estimates\n")
        (self.folder / "out.kalmia").write_text("an earlier model\n")

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def arguments(self, command, data):
        if command == "fit":
            return ["fit", data, *SMALL_FIT, "-o", "out.kalmia"]
        output = [] if command == "evaluate" else ["-o", "out.csv"]
        return [command, "track.kalmia", data, *output]

    def refuse_data(self, text, *fragments, commands=("fit", *WITH_MODEL), code=3):
        """Every command refuses this file, at the place and with the value and rule named."""
        self.write("bad.csv", text)
        for command in commands:
            with self.subTest(command=command):
                self.fail_with(code, self.arguments(command, "bad.csv"),
                               [f"kalmia {command}: bad.csv", *fragments])

    def accept_data(self, text, commands=WITH_MODEL):
        self.write("good.csv", text)
        for command in commands:
            with self.subTest(command=command):
                self.succeed(*self.arguments(command, "good.csv"))

    def refuse_line(self, line, *fragments, code=3):
        """The stream refuses its third line after it has answered the two before it."""
        answers = self.succeed("stream", "track.kalmia", stdin="1,2\n3,4\n")
        self.fail_with(code, ["stream", "track.kalmia"], ["kalmia stream: <stdin>:3: ", *fragments],
                       stdin=f"1,2\n3,4\n{line}\n5,6\n", stdout=answers)


def rows(values, header="t,y1,y2"):
    return "\n".join([header, *(f"{k},{value}" for k, value in enumerate(values))]) + "\n"


def noise(count, seed=5):
    source = random.Random(seed)
    return [f"{source.gauss(0, 1):.4f},{source.gauss(0, 1):.4f}" for _ in range(count)]


class Data(BadInputTest):
    def test_empty_file(self):
        self.refuse_data("", "empty")
        # Nothing to say is no mistake for a stream.
        self.assertEqual(self.succeed("stream", "track.kalmia", "--no-header", stdin=""), "")

    def test_header_only(self):
        self.refuse_data("t,y1,y2\n", "no rows")

    def test_one_row(self):
        self.refuse_data(rows(["1,2"]), "y1", commands=["fit"])
        self.accept_data(rows(["1,2"]))
        self.assertEqual(
            len(self.succeed("stream", "track.kalmia", "--no-header", stdin="1,2").splitlines()), 1)

    def test_ragged_rows(self):
        self.refuse_data(rows(["1,2", "3,4", "5", "6,7"]), "bad.csv:4", "2", "3")
        self.refuse_line("5", "line has 1 value, but the model takes 2")
        self.refuse_line("5,6,7", "line has 3 values, but the model takes 2")

    def test_text_where_numbers_belong(self):
        self.refuse_data(rows(["1,2", "3,4", "5,abc"]), "bad.csv:4", "y2", '"abc"')
        self.refuse_line("5,abc", 'value 2 is "abc", but it must be a number')
        self.refuse_line("5,6x", '"6x"')

    def test_binary_data(self):
        self.refuse_data("\x7fELF\x00\x01\x02", "text")
        self.refuse_line("\x01\x02,3", '"\\x01\\x02"')

    def test_constant_column(self):
        constant = rows([f"{row.split(',')[0]},3" for row in noise(300)])
        self.refuse_data(constant, "column y2", "3", commands=["fit"])
        # A model that knows the column's scale has no trouble with it.
        self.accept_data(constant)

    def test_all_missing(self):
        self.refuse_data(rows([","] * 300), "y1", "missing", commands=["fit"])
        self.accept_data(rows([","] * 30))
        answers = self.succeed("stream", "track.kalmia", "--no-header", stdin=",\nNaN,nan\n\n")
        self.assertEqual(len(answers.splitlines()), 3)

    def test_nan_is_missing_and_infinity_is_refused(self):
        self.accept_data(rows(["1,2", "NaN,3", "nan,NaN", ",4", "5,6"]))
        for infinite in ("inf", "-inf", "Infinity"):
            self.refuse_data(rows(["1,2", "3,4", f"5,{infinite}"]), "bad.csv:4", "y2", "inf")
            self.refuse_line(f"5,{infinite}", "value 2 is", infinite, "1e100")

    def test_huge_values(self):
        self.refuse_data(rows(["1,2", "3,4", "5,1e300"]), "bad.csv:4", "y2", "1e+300")
        self.refuse_data(rows(["1,2", "3,4", "5,-1e999"]), "bad.csv:4", "y2")
        self.refuse_line("5,1e300", "value 2 is", "1e300", "1e100")
        self.refuse_line("5,-1e999", "value 2 is", "-1e999")
        # Too small for a double is zero.
        self.succeed("stream", "track.kalmia", stdin="1e-999,2\n")

    def test_other_columns_than_the_model_s(self):
        self.refuse_data(rows(["1", "2"], header="t,y1"), "y2", commands=WITH_MODEL)
        self.refuse_data(rows(["1,2", "3,4"], header="t,a,b"), "y1", commands=WITH_MODEL)
        for command in WITH_MODEL:
            with self.subTest(command=command):
                self.fail_with(3, [*self.arguments(command, "track.csv"), "--measure", "y1"], ["y1"])

    def test_truth_that_does_not_fit(self):
        self.write("bad.csv", rows(["1,2,3"] * 5, header="t,y1,y2,ref"))
        self.fail_with(3, [*self.arguments("evaluate", "bad.csv"), "--truth", "ref"], ["--truth", "1"])


class Arithmetic(BadInputTest):
    def test_measurements_beyond_all_bounds(self):
        # The square of a measurement in units of the model's noise overflows.
        source = random.Random(2)
        self.write("tiny.csv", rows([f"{source.gauss(0, 1e-90)}" for _ in range(300)], "t,y"))
        self.write("huge.csv", rows(["1e90"] * 30, "t,y"))
        self.succeed("fit", "tiny.csv", "--hidden", "0", "--prior", "constant-position", "-q",
                     "-o", "tiny.kalmia")
        for command in ("filter", "smooth", "evaluate"):
            with self.subTest(command=command):
                self.fail_with(4, [command, "tiny.kalmia", "huge.csv"], ["huge.csv, step 1"])
        self.fail_with(4, ["stream", "tiny.kalmia", "--no-header"], ["<stdin>:1: "],
                       stdin="1e90\n1e-90\n")

    def test_a_skipped_series_begins_anew(self):
        self.test_measurements_beyond_all_bounds()
        for key in ("", "a,"):
            options = ["--key"] if key else []
            answers = self.succeed("stream", "tiny.kalmia", "--no-header", "--skip-bad", *options,
                                   stdin=f"{key}1e-90\n{key}2e-90\n{key}1e90\n{key}1e-90\n")
            first, second, bad, third = answers.splitlines()
            self.assertNotEqual(first, second)
            self.assertEqual((bad, third), ("", first))


class Models(BadInputTest):
    def refuse_model(self, content, note):
        (self.folder / "bad.kalmia").write_bytes(content)
        for arguments in (["filter", "bad.kalmia", "track.csv", "-o", "out.csv"],
                          ["smooth", "bad.kalmia", "track.csv", "-o", "out.csv"],
                          ["evaluate", "bad.kalmia", "track.csv"],
                          ["stream", "bad.kalmia"], ["info", "bad.kalmia"]):
            with self.subTest(note=note, command=arguments[0]):
                self.fail_with(3, arguments, [f"kalmia {arguments[0]}: bad.kalmia"], stdin="1,2\n")

    def test_truncated(self):
        whole = (self.folder / "track.kalmia").read_bytes()
        for length in (0, 1, 7, 8, 9, 100, len(whole) // 2, len(whole) - 1):
            self.refuse_model(whole[:length], f"first {length} bytes")

    def test_longer(self):
        self.refuse_model((self.folder / "track.kalmia").read_bytes() + b"\x00", "one byte more")

    def test_not_a_model(self):
        self.refuse_model((self.folder / "track.csv").read_bytes(), "data")
        self.refuse_model(b"\xff" * 4096, "bytes of ones")

    def test_altered(self):
        # One bit anywhere: in the length of the header, in the header, in the tensors.
        whole = (self.folder / "track.kalmia").read_bytes()
        header = 8 + int.from_bytes(whole[:8], "little")
        self.assertLess(header, len(whole))
        source = random.Random(11)
        places = ([0, 1, 7, 8, header - 1, header, len(whole) - 1] +
                  [source.randrange(8, header) for _ in range(20)] +
                  [source.randrange(header, len(whole)) for _ in range(20)])
        for place in places:
            altered = bytearray(whole)
            altered[place] ^= 1 << source.randrange(8)
            (self.folder / "bad.kalmia").write_bytes(altered)
            with self.subTest(place=place, header=header):
                self.fail_with(3, ["filter", "bad.kalmia", "track.csv", "-o", "out.csv"],
                               ["kalmia filter: bad.kalmia"])


class Places(BadInputTest):
    def test_missing_files(self):
        for command in ("fit", *WITH_MODEL):
            with self.subTest(command=command):
                self.fail_with(1, self.arguments(command, "absent.csv"), ["absent.csv", "No such"])
        for command in (*WITH_MODEL, "stream", "info"):
            with self.subTest(command=command):
                data = ["track.csv"] if command in WITH_MODEL else []
                self.fail_with(1, [command, "absent.kalmia", *data], ["absent.kalmia", "No such"],
                               stdin="")

    def test_a_directory_as_input(self):
        (self.folder / "place.csv").mkdir()
        for command in ("fit", *WITH_MODEL):
            with self.subTest(command=command):
                self.fail_with(1, self.arguments(command, "place.csv"), ["place.csv", "irectory"])
        for command in ("stream", "info"):
            self.fail_with(1, [command, "place.csv"], ["place.csv", "irectory"], stdin="")
        (self.folder / "place.d").mkdir()
        for place in (".", "place.d", "place.d/"):
            self.fail_with(1, ["fit", place, "-o", "out.kalmia"], [f"cannot read {place}: it is a directory"])

    def test_too_little_memory(self):
        size = 300_000_000
        with open(self.folder / "large.csv", "w") as file:
            file.truncate(size)
        limit = 200_000_000
        for command in ("fit", "smooth"):
            result = subprocess.run([support.PROGRAM, *self.arguments(command, "large.csv")], cwd=self.folder,
                                    capture_output=True, text=True,
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("cannot read large.csv: not enough memory", result.stderr)

    def test_a_directory_as_output(self):
        (self.folder / "place").mkdir()
        self.fail_with(1, ["fit", "track.csv", "-o", "place"], ["cannot write place", "directory"])
        self.fail_with(1, ["fit", "track.csv", "-o", "place/"], ["cannot write place/"])
        for command in ("filter", "smooth", "forecast", "sample"):
            self.fail_with(1, [command, "track.kalmia", "track.csv", "-o", "place"], ["place"])
        self.fail_with(1, ["simulate", "lorenz", "-o", "place"], ["place"])

    @unittest.skipIf(os.geteuid() == 0, "permissions do not bind root")
    def test_no_permission(self):
        (self.folder / "secret.csv").write_text("t,y1,y2\n0,1,2\n")
        (self.folder / "secret.csv").chmod(0)
        for command in ("fit", *WITH_MODEL):
            with self.subTest(command=command):
                self.fail_with(1, self.arguments(command, "secret.csv"), ["secret.csv", "ermission"])
        (self.folder / "out.csv").chmod(0o444)
        self.fail_with(1, self.arguments("smooth", "track.csv"), ["out.csv", "ermission"])
        closed = self.folder / "closed"
        closed.mkdir(mode=0o555)
        self.fail_with(1, ["fit", "track.csv", "-o", "closed/m"], ["closed", "ermission"])

    def test_full_disk(self):
        full = Path("/dev/full")
        if not full.is_char_device():
            self.skipTest("there is no /dev/full")
        said = "No space left on device"
        self.fail_with(1, ["fit", "track.csv", *SMALL_FIT, "-q", "-o", "/dev/full"], [said])
        for command in ("filter", "smooth", "forecast", "sample"):
            with self.subTest(command=command):
                self.fail_with(1, [command, "track.kalmia", "track.csv", "-o", "/dev/full"], [said])
        self.fail_with(1, ["simulate", "lorenz", "-o", "/dev/full"], [said])
        self.assertTrue(full.is_char_device())

    def test_full_disk_behind_standard_output(self):
        if not Path("/dev/full").is_char_device():
            self.skipTest("there is no /dev/full")
        for arguments in (["filter", "track.kalmia", "track.csv"], ["--help"], ["fit", "--help"],
                          ["evaluate", "track.kalmia", "track.csv"], ["info", "track.kalmia"],
                          ["stream", "track.kalmia"], ["simulate", "lorenz"]):
            with self.subTest(arguments=arguments), open("/dev/full", "w") as full:
                result = subprocess.run([support.PROGRAM, *arguments], cwd=self.folder, text=True,
                                        input="1,2\n", stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn("standard output: No space left on device", result.stderr)

    def test_full_file_system(self):
        small = self.folder / "small"
        small.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(small)],
                          capture_output=True).returncode != 0:
            self.skipTest("no file system can be mounted here")
        try:
            (small / "out.csv").write_text("earlier\n")
            self.fail_with(1, ["smooth", "track.kalmia", "track.csv", "-o", "small/out.csv"],
                           ["small/out.csv", "No space left"])
            self.fail_with(1, ["fit", "track.csv", *SMALL_FIT, "-q", "-o", "small/m.kalmia"],
                           ["small/m.kalmia", "No space left"])
        finally:
            subprocess.run(["umount", str(small)], check=True)

    def test_a_reader_that_leaves_early(self):
        for command in ("filter track.kalmia track.csv", "simulate lorenz --steps 50000"):
            result = subprocess.run(f"'{support.PROGRAM}' {command} | head -1", shell=True, text=True,
                                    cwd=self.folder, capture_output=True)
            self.assertEqual(result.stderr, "")
            self.assertEqual(len(result.stdout.splitlines()), 1)


if __name__ == "__main__":
    support.main()
