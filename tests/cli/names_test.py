#!/usr/bin/python3
"""Names of columns and series may hold anything: people see them escaped, files keep them."""

import csv
import io
import json
import os
import pty
import random
import re
import subprocess

import support
from support import PROGRAM, ProgramTest

ODD = "a\x1b[31m,\n\"b\"\t\u009b"
STATIC = ("--hidden", "0", "--prior", "constant-velocity", "-q")


def write_csv(path, names, rows=60, key=None, encoding="utf-8"):
    source = random.Random(1)
    with open(path, "w", newline="", encoding=encoding) as file:
        out = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        out.writerow((["key"] if key else []) + names)
        for k in range(rows):
            out.writerow(([key] if key else []) + [f"{0.1 * k + source.gauss(0, 1):.4f}" for _ in names])


class NamesTest(ProgramTest):
    def run_bytes(self, *arguments, stdin=b""):
        return subprocess.run([PROGRAM, *arguments], input=stdin, cwd=self.folder, capture_output=True,
                              timeout=120)

    def assert_for_people(self, text):
        """No control characters but line feeds."""
        self.assertNotRegex(text, rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", text)
        text.decode("utf-8")


class ForPeople(NamesTest):
    def setUp(self):
        super().setUp()
        write_csv(self.folder / "odd.csv", [ODD, "plain"])
        self.fit = self.run_bytes("fit", "odd.csv", "--measure", "plain", *STATIC, "-o", "plain.kalmia")
        self.assertEqual(self.fit.returncode, 0, self.fit.stderr)
        with open(self.folder / "odd.toml", "w") as file:
            file.write('output = "odd.kalmia"\n[data]\nfile = "one.csv"\n[model]\nhidden = 0\n'
                       'prior = "constant-velocity"\n')
        write_csv(self.folder / "one.csv", [ODD])

    def test_in_messages(self):
        for arguments in (("fit", "odd.csv", "-o", "m.kalmia"),
                          ("fit", "odd.csv", "--measure", "plian", "-o", "m.kalmia"),
                          ("fit", "odd.csv", "--measure", "a\x1bb\nc", "-o", "m.kalmia")):
            with self.subTest(arguments=arguments):
                found = self.run_bytes(*arguments)
                self.assertEqual(found.returncode, 3)
                self.assert_for_people(found.stderr)
                self.assertEqual(found.stderr.count(b"\n"), 1)
                self.assertIn(b"\\x1b[31m", found.stderr)
        write_csv(self.folder / "keys.csv", ["y"], key="k\x1b\n1")
        (self.folder / "keys.csv").write_text((self.folder / "keys.csv").read_text() + '"k\x1b\n1",1e300\n')
        found = self.run_bytes("fit", "keys.csv", "-o", "m.kalmia")
        self.assert_for_people(found.stderr)
        (self.folder / "bad.csv").write_text('"u\x1b\nv"\n1\nx\n')
        found = self.run_bytes("fit", "bad.csv", "--measure", "u\x1b\nv", "-o", "m.kalmia")
        self.assertEqual(found.returncode, 3)
        self.assertIn(b"column u\\x1b\\nv", found.stderr)
        self.assert_for_people(found.stderr)

    def test_in_reports(self):
        found = self.run_bytes("fit", "odd.toml")
        self.assertEqual(found.returncode, 0, found.stderr)
        self.assert_for_people(found.stdout)
        for arguments in (("info", "odd.kalmia"), ("smooth", "odd.kalmia", "one.csv", "-o", "s.csv"),
                          ("evaluate", "odd.kalmia", "one.csv", "--hide", "0.1")):
            with self.subTest(arguments=arguments):
                found = self.run_bytes(*arguments)
                self.assertEqual(found.returncode, 0, found.stderr)
                self.assert_for_people(found.stdout)
        self.assertIn(b"a\\x1b[31m,\\n", self.run_bytes("info", "odd.kalmia").stdout)
        for arguments in (("info", "odd.kalmia"), ("evaluate", "odd.kalmia", "one.csv")):
            json.loads(self.run_bytes(*arguments, "--json").stdout)

    def test_files_keep_them(self):
        self.run_bytes("fit", "odd.toml")
        self.run_bytes("smooth", "odd.kalmia", "one.csv", "-o", "s.csv")
        with open(self.folder / "s.csv", newline="", encoding="utf-8") as file:
            self.assertEqual(next(csv.reader(file)), [ODD, ODD + "_std"])

    def test_in_a_stream(self):
        self.run_bytes("fit", "odd.toml")
        for options, first in (((), []), (("--key",), ["key"])):
            found = self.run_bytes("stream", "odd.kalmia", *options, stdin=b"")
            header = next(csv.reader(io.StringIO(found.stdout.decode(), newline="")))
            self.assertEqual(header, first + [ODD, ODD + "_std"])

    def test_in_a_stream_on_a_terminal(self):
        self.run_bytes("fit", "odd.toml")
        leader, follower = pty.openpty()
        subprocess.run([PROGRAM, "stream", "odd.kalmia", "--key"], input=b"k\x07,1\n", stdout=follower,
                       cwd=self.folder, check=True)
        os.close(follower)
        shown = b""
        try:
            while piece := os.read(leader, 1 << 12):
                shown += piece
        except OSError:  # how a terminal ends
            pass
        os.close(leader)
        self.assert_for_people(shown.replace(b"\r\n", b"\n"))
        self.assertIn(b"k\\x07,", shown)
        self.assertEqual(shown.count(b"\n"), 2)


class ForTheShell(NamesTest):
    NAMES = ("speed m", "it's here", "one,two", "\"quoted\"", " padded ", "tab\there", "line\nfeed", "$HOME",
             "-dash", "caf\xe9")

    def run_in_shell(self, options):
        return subprocess.run(["bash", "-c", f'"$0" fit d.csv {options} -q --hidden 0 --prior constant-velocity '
                               "-o m.kalmia", PROGRAM], cwd=self.folder, capture_output=True, timeout=120)

    def test_what_to_measure(self):
        for name in self.NAMES:
            with self.subTest(name=name):
                write_csv(self.folder / "d.csv", ["other", name], encoding="latin-1")
                said = self.run_bytes("fit", "d.csv", "-o", "m.kalmia").stderr
                option = re.search(rb"such as (--measure.*) \(several", said)[1].decode("latin-1")
                found = self.run_in_shell(option)
                self.assertEqual(found.returncode, 0, (option, found.stderr))
                info = json.loads(self.run_bytes("info", "m.kalmia", "--json").stdout)
                if name.isascii():
                    self.assertEqual(info["measured"], [name])

    def test_did_you_mean(self):
        for name in self.NAMES:
            with self.subTest(name=name):
                write_csv(self.folder / "d.csv", ["another", name], encoding="latin-1")
                wrong = name[:-1].replace('"', '""') + "_"
                said = self.run_bytes("fit", "d.csv", f'--measure="{wrong}"', "-o", "m.kalmia").stderr
                guess = re.search(rb"did you mean (.*)\? The", said)
                self.assertTrue(guess, said)
                found = self.run_in_shell("--measure=" + guess[1].decode("latin-1"))
                self.assertEqual(found.returncode, 0, (guess[1], found.stderr))

    def test_lists(self):
        write_csv(self.folder / "d.csv", ["x,y", "z", "a \"b\""])
        for text, names in (('"x,y",z', ["x,y", "z"]), ('z, "x,y" ', ["z", "x,y"]), ('a "b",z', ['a "b"', "z"])):
            with self.subTest(text=text):
                self.succeed("fit", "d.csv", "--measure", text, *STATIC, "-o", "m.kalmia")
                self.assertEqual(json.loads(self.succeed("info", "m.kalmia", "--json"))["measured"], names)


if __name__ == "__main__":
    support.main()
