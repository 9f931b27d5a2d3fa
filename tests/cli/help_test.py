#!/usr/bin/python3
"""The help texts, and the examples in them."""

import os
import re
import subprocess
import unittest

import support
from support import COMMANDS, PROGRAM, ProgramTest, noisy_words, wav_bytes


def examples(text):
    """The lines below `Examples:` (or `Example:`) of a help text."""
    return [line.strip() for line in re.split(r"^Examples?:\n", text, flags=re.M)[1].splitlines()]


class Overview(ProgramTest):
    def test_names_every_command_with_an_example(self):
        text = self.succeed("--help")
        for command in COMMANDS:
            self.assertRegex(text, rf"(?m)^  {command} +\w")
        self.assertTrue(examples(text))
        self.assertEqual(self.succeed("help"), text)

    def test_alone_the_program_prints_help_and_fails(self):
        result = self.run_program()
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr, self.succeed("--help"))

    def test_version(self):
        self.assertRegex(self.succeed("--version"), r"^kalmia \d+\.\d+\.\d+\n$")


class EachCommand(ProgramTest):
    def test_help_has_usage_common_options_and_ends_with_examples(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                text = self.succeed(command, "--help")
                self.assertIn(f"usage: kalmia {command}", text)
                for option in ("--json", "--seed", "--threads", "--isa", "--help"):
                    self.assertRegex(text, rf"(?m)^  (-\w, )?{option}\b", option)
                lines = examples(text)
                self.assertTrue(any(f"kalmia {command}" in line for line in lines), text)
                self.assertEqual(self.succeed("help", command), text)
                for line in text.splitlines():
                    self.assertLessEqual(len(line), 100, line)

    def test_help_wins_over_wrong_arguments(self):
        self.assertIn("usage:", self.succeed("fit", "--nonsense", "--help"))

    def test_options_show_their_defaults(self):
        text = self.succeed("fit", "--help")
        self.assertRegex(text, r"--window N .*\[32\]")
        self.assertRegex(text, r"--learning-rate X .*\[0.003\]")
        self.assertRegex(self.succeed("forecast", "--help"), r"--horizon N .*\[10\]")
        # Where the default depends on something, the help says on what, and shows no number.
        self.assertRegex(self.succeed("simulate", "--help"), r"--dt X .*default: the system's\)\n")


    def test_options_of_a_fit_show_what_they_may_be(self):
        text = re.sub(r"\s+", " ", self.succeed("fit", "--help"))
        for part in ("; in 2..4096 [32]", "; above 0 and at most 0.5 [0.15]", "; in 1..64 [1]",
                     "what reads the measurements: gru (the paper's) | lstm | conv (",
                     "season(24 h) or lorenz + level: auto (", " | constant-velocity | ", " | system (your own equations) [auto]",
                     "tails of the noise: auto (", " | gaussian | learn (", "0.25,0.1;0.1,0.3 (a covariance by rows) [auto]",
                     "to the map of a step: frozen (", "smoothed: linearized (", "put out: recursive ("):
            self.assertIn(part, text)


class Examples(ProgramTest):
    def test_all_examples_run(self):
        # In the order of their commands the examples make what the later ones need. Training is
        # shortened; everything else runs as printed.
        (self.folder / "noisy.wav").write_bytes(wav_bytes(noisy_words()[0]))
        order = ("simulate", "fit", "info", "filter", "smooth", "forecast", "sample", "evaluate",
                 "stream", "denoise", "bench", "reproduce")
        self.assertEqual(sorted(order), sorted(COMMANDS))
        texts = [self.succeed(command, "--help") for command in order] + [self.succeed("--help")]
        environment = dict(os.environ, PATH=f"{PROGRAM.parent}:{os.environ['PATH']}")
        ran = 0
        for line in (line for text in texts for line in examples(text)):
            short = line
            if line.startswith("kalmia fit"):
                short = re.sub(r"--hidden \d+ ", "", line) + " --hidden 8 --updates 10"
                if "--effort" not in line:
                    short += " --effort quick"
            with self.subTest(example=line):
                result = subprocess.run(["bash", "-o", "pipefail", "-c", short], cwd=self.folder,
                                        env=environment, text=True, capture_output=True, timeout=120)
                # `| head` may end the program by SIGPIPE; that is not an error.
                self.assertIn(result.returncode, (0, 141) if "| head" in line else (0,),
                              f"{line}: {result.stderr}")
                ran += 1
        self.assertGreaterEqual(ran, 2 * len(COMMANDS))


if __name__ == "__main__":
    support.main()
