#!/usr/bin/python3
"""kalmia stream: answers line by line, for one series or many."""

import csv
import json
import math
import random
import resource
import subprocess
import time

import support
from support import PROGRAM, SMALL_FIT, ProgramTest


class StreamTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.model()

    def stream(self, text, *options):
        return self.succeed("stream", "track.kalmia", *options, stdin=text).splitlines()

    def track_lines(self, count):
        with open(self.folder / "track.csv", newline="") as file:
            return [f"{row['y1']},{row['y2']}" for row in csv.DictReader(file)][:count]


class Answers(StreamTest):
    def test_equal_the_filter(self):
        self.succeed("filter", "track.kalmia", "track.csv", "-o", "filtered.csv")
        with open(self.folder / "filtered.csv", newline="") as file:
            filtered = list(csv.DictReader(file))
        lines = self.track_lines(300)
        answers = list(csv.DictReader(self.stream("\n".join(lines) + "\n")))
        self.assertEqual(len(answers), len(filtered))
        for k, (answer, row) in enumerate(zip(answers, filtered)):
            for name, value in answer.items():
                self.assertTrue(math.isclose(float(value), float(row[name]), rel_tol=1e-5,
                                             abs_tol=1e-6), f"step {k}, {name}: {value}, {row[name]}")

    def test_header_has_means_then_deviations(self):
        header = self.stream("")[0].split(",")
        half = len(header) // 2
        self.assertIn("y1", header[:half])
        self.assertEqual([f"{name}_std" for name in header[:half]], header[half:])
        self.assertEqual(self.stream("", "--no-header"), [])

    def test_names_of_columns_are_quoted_where_they_must_be(self):
        text = (self.folder / "track.csv").read_text()
        (self.folder / "odd.csv").write_text(text.replace("y1,y2", '"a,b","say ""c"""', 1))
        # On the command line a comma ends a name.
        (self.folder / "odd.toml").write_text(
            "[data]\nfile = 'odd.csv'\nmeasure = ['a,b', 'say \"c\"']\ntime = 't'\n")
        self.succeed("fit", "odd.toml", *SMALL_FIT, "-q", "-o", "odd.kalmia")
        header = self.succeed("stream", "odd.kalmia", stdin="1,2\n").splitlines()[0]
        filtered = self.succeed("filter", "odd.kalmia", "odd.csv").splitlines()[0]
        self.assertEqual(sorted(next(csv.reader([header]))), sorted(
            name for name in next(csv.reader([filtered])) if name != "t"))

    def test_forms_of_a_line(self):
        answer = self.stream("1.5,-2\n", "--no-header")
        for line in ("1.5 -2", "  1.5   -2 ", "1.5, -2", "1.5\t-2", "+1.5,-2.0", "1.5,-2\r", "15e-1,-2"):
            with self.subTest(line=line):
                self.assertEqual(self.stream(line + "\n", "--no-header"), answer)
        self.assertEqual(self.stream("1.5,-2", "--no-header"), answer)

    def test_missing_values(self):
        missing = self.stream("1.5,nan\n", "--no-header")
        for line in ("1.5,", "1.5,NaN", "1.5 NA", "1.5,null", "1.5, "):
            with self.subTest(line=line):
                self.assertEqual(self.stream(line + "\n", "--no-header"), missing)
        self.assertNotEqual(self.stream("1.5,0\n", "--no-header"), missing)
        self.assertEqual(self.stream("\n", "--no-header"), self.stream("nan,nan\n", "--no-header"))

    def test_json(self):
        names = self.stream("")[0].split(",")
        values = self.stream("1,2\n", "--no-header")[0].split(",")
        answer = json.loads(self.stream("1,2\n", "--json")[0])
        self.assertEqual(list(answer), [*names, "log_likelihood"])
        self.assertEqual([answer[name] for name in names], [float(value) for value in values])


class BadLines(StreamTest):
    def test_are_skipped_on_demand(self):
        result = self.run_program("stream", "track.kalmia", "--no-header", "--skip-bad",
                                  stdin="1,2\nx,2\n3\n4,5\n")
        self.assertEqual(result.returncode, 0)
        good = self.stream("1,2\n4,5\n", "--no-header")
        self.assertEqual(result.stdout.splitlines(), [good[0], "", "", good[1]])
        self.assertEqual([line.split(": ")[1] for line in result.stderr.splitlines()],
                         ["<stdin>:2", "<stdin>:3"])

    def test_a_line_without_end(self):
        self.fail_with(3, ["stream", "track.kalmia", "--no-header"], ["<stdin>:1", "longer than"],
                       stdin="1" * (1 << 21))

    def test_a_long_line_is_one_bad_line(self):
        text = "1,2\n" + "1" * 10_000_000 + "\n4,5\n"
        good = self.stream("1,2\n4,5\n", "--no-header")
        result = self.run_program("stream", "track.kalmia", "--no-header", "--skip-bad", stdin=text)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.splitlines(), [good[0], "", good[1]])
        self.assertEqual(len(result.stderr.splitlines()), 1)
        self.assertIn("<stdin>:2: the line is longer than", result.stderr)
        # Without the option it ends there, and what came before is answered.
        self.fail_with(3, ["stream", "track.kalmia", "--no-header"], ["<stdin>:2", "longer than"],
                       stdin=text, stdout=good[0] + "\n")
        # At the end, with or without its own end.
        for end in ("", "\n"):
            result = self.run_program("stream", "track.kalmia", "--no-header", "--skip-bad",
                                      stdin="1,2\n" + "1" * 3_000_000 + end)
            self.assertEqual((result.returncode, result.stdout), (0, good[0] + "\n\n"), result.stderr)

    def test_a_long_line_is_not_kept(self):
        # More than the program may have.
        limit = 300 << 20
        pipe = subprocess.Popen([PROGRAM, "stream", "track.kalmia", "--no-header", "--skip-bad"],
                                cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        piece = b"1" * (1 << 20)
        for _ in range(400):
            pipe.stdin.write(piece)
        out, said = pipe.communicate(b"\n1,2\n")
        self.assertEqual(pipe.returncode, 0, said)
        self.assertEqual(out.decode().splitlines()[1:], self.stream("1,2\n", "--no-header"))


class Keys(StreamTest):
    def test_each_key_has_its_own_state(self):
        lines = self.track_lines(60)
        alone = {key: self.stream("\n".join(lines[begin::3]) + "\n", "--no-header")
                 for begin, key in enumerate("abc")}
        mixed = self.stream("".join(f"{'abc'[k % 3]},{line}\n" for k, line in enumerate(lines)),
                            "--no-header", "--key")
        for begin, key in enumerate("abc"):
            self.assertEqual(mixed[begin::3], [f"{key},{answer}" for answer in alone[key]])

    def test_forms_of_a_keyed_line(self):
        answer = self.stream("sensor-1,1,2\n", "--key", "--no-header")
        self.assertTrue(answer[0].startswith("sensor-1,"))
        self.assertEqual(self.stream("sensor-1 1 2\n", "--key", "--no-header"), answer)
        self.assertEqual(self.stream("a\na,\na,nan,nan\n", "--key", "--no-header")[0],
                         self.stream("a,nan,nan\n", "--key", "--no-header")[0])
        self.assertTrue(self.stream("", "--key")[0].startswith("key,"))
        self.assertEqual(json.loads(self.stream('q"u,1,2\n', "--key", "--json")[0])["key"], 'q"u')
        self.fail_with(3, ["stream", "track.kalmia", "--key", "--no-header"],
                       ["<stdin>:1: no key"], stdin=",1,2\n")

    def test_many_keys(self):
        count = 20000
        first = self.stream("a,1,2\n", "--key", "--no-header")[0].split(",", 1)[1]
        answers = self.stream("".join(f"key{i},1,2\n" for i in range(count)) * 2, "--key", "--no-header")
        self.assertEqual(len(answers), 2 * count)
        for i in (0, 1, 1023, 1024, count - 1):
            self.assertEqual(answers[i], f"key{i},{first}")
            self.assertNotEqual(answers[count + i], f"key{i},{first}")


class Coprocess(StreamTest):
    def test_answers_before_the_next_line_is_written(self):
        lines = self.track_lines(200)
        expected = self.stream("\n".join(lines) + "\n")
        program = subprocess.Popen([PROGRAM, "stream", "track.kalmia"], cwd=self.folder,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        # A program that waits for more input would hang here; CTest's time limit ends that.
        answers = [program.stdout.readline()]
        for line in lines:
            program.stdin.write(line.encode() + b"\n")
            program.stdin.flush()
            answers.append(program.stdout.readline())
        # A line that arrives in pieces is answered once it is whole.
        program.stdin.write(b"1.")
        program.stdin.flush()
        time.sleep(0.05)
        program.stdin.write(b"5,2\n")
        program.stdin.flush()
        self.assertTrue(program.stdout.readline().endswith(b"\n"))
        program.stdin.close()
        self.assertEqual(program.wait(timeout=60), 0)
        self.assertEqual([answer.decode().rstrip("\n") for answer in answers], expected)

    def test_throughput(self):
        source = random.Random(3)
        count = 100000
        text = "".join(f"{source.gauss(0, 1):.5f},{source.gauss(0, 1):.5f}\n" for _ in range(count))
        begin = time.monotonic()
        answers = self.stream(text, "--no-header")
        seconds = time.monotonic() - begin
        self.assertEqual(len(answers), count)
        print(f"kalmia stream: {count / seconds:,.0f} lines/s through a pipe")


if __name__ == "__main__":
    support.main()
