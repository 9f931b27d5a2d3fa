#!/usr/bin/python3
"""The pages docs/cli.md, docs/models.md, docs/training.md and docs/experts.md: their commands run in
their order, with their configuration files, and print what the page says."""

import os
import re
import subprocess
from pathlib import Path

import support
from support import COMMANDS, PROGRAM, ProgramTest, noisy_words, wav_bytes

ROOT = Path(__file__).parents[2]
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
TOLERANCE = 0.1  # other processors round differently


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="ascii")


def blocks(text, kind):
    return re.findall(rf"```{kind}\n(.*?)```", text, re.S)


def shortened(line):
    """A fit with little training, and without a search unless it says how to search."""
    if not line.startswith("kalmia fit"):
        return line
    searched = "--effort" in line or "--purpose" in line
    return line + " --hidden 8 --updates 10" + ("" if searched else " --effort quick")


class PageTest(ProgramTest):
    def run_line(self, line, short=None):
        environment = dict(os.environ, PATH=f"{PROGRAM.parent}:{os.environ['PATH']}")
        result = subprocess.run(["bash", "-c", short or line], cwd=self.folder, env=environment,
                                text=True, capture_output=True, timeout=120)
        self.assertEqual(result.returncode, 0, f"{line}: {result.stderr}")
        return result.stdout

    def assert_alike(self, found, documented):
        """The same words, and numbers that differ little, but for times."""
        self.assertEqual(NUMBER.sub("#", found), NUMBER.sub("#", documented))
        for found_line, line in zip(found.splitlines(), documented.splitlines()):
            line, found_line = (re.sub(r"[\d.]+ s\b", "", each) for each in (line, found_line))
            for a, b in zip(NUMBER.findall(found_line), NUMBER.findall(line)):
                self.assertAlmostEqual(float(a), float(b), delta=TOLERANCE * abs(float(b)), msg=line)


class CommandLine(PageTest):
    def test_commands_run(self):
        text = page("cli.md")
        config = re.match(r"# (\S+)\n(.*)", blocks(text, "toml")[0], re.S)
        (self.folder / config[1]).write_text(config[2])
        for name, sound in zip(("noisy.wav", "truth.wav"), noisy_words()):
            (self.folder / name).write_bytes(wav_bytes(sound))
        lines = "".join(blocks(text, "sh")).splitlines()
        for line in lines:
            short = shortened(re.sub(r"--hidden \d+ ", "", line))
            with self.subTest(line=line):
                self.run_line(line, short)
        for command in COMMANDS:
            self.assertTrue(any(f"kalmia {command} " in line for line in lines), command)


class Models(PageTest):
    """docs/models.md and docs/training.md, with little training."""

    def test_commands_run(self):
        for name in ("models.md", "training.md"):
            lines = "".join(blocks(page(name), "sh")).splitlines()
            self.assertTrue(lines, name)
            for line in lines:
                short = shortened(re.sub(r"--updates \d+ ", "", line))
                with self.subTest(page=name, line=line):
                    self.run_line(line, short)


class Experts(PageTest):
    def setUp(self):
        super().setUp()
        self.text = page("experts.md")
        self.example = (ROOT / "examples/pendulum.toml").read_text(encoding="ascii")
        (self.folder / "pendulum.toml").write_text(self.example)

    def test_shows_the_example(self):
        self.assertEqual(blocks(self.text, "toml"), [self.example])

    def test_commands_print_what_it_says(self):
        output = ""
        compared = 0
        for kind, text in re.findall(r"```(sh|text)\n(.*?)```", self.text, re.S):
            if kind == "text":
                self.assert_alike(output, text)
                compared += 1
                continue
            for line in text.splitlines():
                output = self.run_line(line)
        self.assertEqual(compared, 4)

    def test_mistakes_are_said_as_documented(self):
        self.run_line("kalmia simulate pendulum --steps 100 -o pendulum.csv")
        said = []
        for old, new in (("learn = true", "lern = true, learn = true"), ('"-gravity', '"1/0" #')):
            self.assertIn(old, self.example)
            (self.folder / "pendulum.toml").write_text(self.example.replace(old, new, 1))
            said.append(self.fail_with(2, ["fit", "pendulum.toml"]))
        (self.folder / "pendulum.toml").write_text(self.example)
        said.append(self.fail_with(2, ["fit", "pendulum.toml", "--ode", "rate = 1/0"]))
        said.append(self.fail_with(4, ["fit", "pendulum.toml", "-q", "--ode",
                                       "rate = -gravity*sin(angle)/rate - damping"]))
        documented = re.findall(r"(?m)^    (kalmia fit: .*\n)", self.text)
        self.assertEqual(said, documented)

    def test_lists_every_prior_and_option(self):
        help_text = self.succeed("fit", "--help")
        choices = re.search(r"--prior TEXT +(.*?) \[auto\]", help_text, re.S)[1]
        priors = re.findall(r"(?:map: |\| )([a-z-]+)", re.sub(r"\s+", " ", choices))
        self.assertIn("linear-motion", priors)
        for prior in priors:
            if prior != "system":
                self.assertIn(f"`{prior}`", self.text)
        equations = re.search(r"Your own equations.*?\n\n", help_text, re.S)[0]
        for option in re.findall(r"(?m)^  (--[\w-]+)", equations):
            self.assertRegex(self.text, rf"(?m)^\|.*`{option}`")


if __name__ == "__main__":
    support.main()
