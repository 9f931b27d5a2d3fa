#!/usr/bin/python3
"""kalmia fit: what it prints, the same bits for the same seed, and Ctrl-C."""

import json
import os
import pty
import signal
import subprocess

import support
from support import PROGRAM, SMALL_FIT, ProgramTest

# Runs until it is interrupted.
ENDLESS = ("--hidden", "8", "--updates", "1000000", "--patience", "1000000", "--prior",
           "constant-velocity")


class Results(ProgramTest):
    def test_summary_and_json(self):
        self.track()
        text = self.succeed("fit", "track.csv", *SMALL_FIT, "-o", "a.kalmia")
        self.assertIn("constant-velocity", text)
        self.assertIn("a.kalmia", text)
        summary = json.loads(self.succeed("fit", "track.csv", *SMALL_FIT, "--json", "-o", "b.kalmia"))
        self.assertEqual(summary["output"], "b.kalmia")
        self.assertEqual(summary["static"]["prior"], "constant-velocity")
        self.assertEqual(summary["networks"]["stop_reason"], "finished")

    def test_quiet_prints_nothing(self):
        self.track()
        result = self.run_program("fit", "track.csv", *SMALL_FIT, "-q", "-o", "a.kalmia")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_from_standard_input(self):
        text = self.track().read_text()
        self.succeed("fit", "-", *SMALL_FIT, "-o", "a.kalmia", stdin=text)
        self.succeed("smooth", "a.kalmia", "-", "-o", "out.csv", stdin=text)
        self.assertEqual(len((self.folder / "out.csv").read_text().splitlines()), 301)

    def test_same_seed_same_bytes_whatever_the_threads(self):
        self.track()
        models = []
        for index, (seed, threads) in enumerate(((7, 1), (7, 2), (7, 0), (8, 1))):
            self.succeed("fit", "track.csv", *SMALL_FIT, "-q", "--seed", seed, "--threads", threads,
                         "-o", f"{index}.kalmia")
            models.append((self.folder / f"{index}.kalmia").read_bytes())
        self.assertEqual(models[0], models[1])
        self.assertEqual(models[0], models[2])
        self.assertNotEqual(models[0], models[3])

    def test_validation_file(self):
        self.track()
        support.write_track(self.folder / "other.csv", steps=100, seed=2)
        summary = json.loads(self.succeed("fit", "track.csv", "--validation", "other.csv",
                                          *SMALL_FIT, "--json", "-o", "a.kalmia"))
        self.assertEqual(summary["data"]["training_steps"], 300)
        self.assertEqual(summary["data"]["held_out_steps"], 100)
        # In a configuration it is relative to its folder, as the data are.
        (self.folder / "in").mkdir()
        (self.folder / "in/fit.toml").write_text(
            'output = "b.kalmia"\n[data]\nfile = "../track.csv"\nvalidation = "../other.csv"\n')
        again = json.loads(self.succeed("fit", "in/fit.toml", *SMALL_FIT, "--json"))
        self.assertEqual(again["best_held_out"], summary["best_held_out"])

    def test_validation_that_does_not_fit(self):
        self.track()
        support.write_track(self.folder / "wide.csv", steps=100, channels=3)
        arguments = ("fit", "track.csv", "--validation", "wide.csv", *SMALL_FIT, "-o")
        self.fail_with(3, (*arguments, "a.kalmia"),
                       ["validation data wide.csv: measured columns are y1, y2, y3", "y1, y2\n"])
        self.fail_with(2, (*arguments, "wide.csv"), ["is both input and output"])

    def test_members_and_calibration(self):
        self.track()
        options = (*SMALL_FIT, "--members", "2", "--json", "-o", "a.kalmia")
        result = self.run_program("fit", "track.csv", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"(?m)^networks 2/2  \d+/20  loss -?\d")
        summary = json.loads(result.stdout)
        self.assertEqual(len(summary["ensemble"]["members"]), 2)
        self.assertEqual({each["what"] for each in summary["calibration"]},
                         {"filter", "linearized"})
        self.assertEqual({each["channel"] for each in summary["calibration"]}, {"y1", "y2"})
        info = json.loads(self.succeed("info", "a.kalmia", "--json"))
        told = [each["factor"] for each in summary["calibration"] if each["what"] == "filter"]
        self.assertEqual(sum(info["calibration"]["filter"]["factors"], []), told)
        self.assertEqual(info["calibration"]["filter"]["steps"],
                         [each["steps"] for each in summary["calibration"]
                          if each["what"] == "filter" and each["channel"] == "y1"])
        self.assertEqual(info["members"], 2 if summary["ensemble"]["combined"] else 1)
        self.assertIn("linearized", self.succeed("info", "a.kalmia"))
        for command in ("filter", "smooth"):
            self.succeed(command, "a.kalmia", "track.csv", "-o", f"{command}.csv")
        self.succeed("evaluate", "a.kalmia", "track.csv")
        streamed = self.succeed("stream", "a.kalmia", stdin="1,2\n1.5,2.5\n").splitlines()
        self.assertEqual(len(streamed), 3)

    def test_members_that_cannot_be(self):
        self.track()
        for value, message in (("0", "kalmia fit: --members = 0, but it must be in 1..64; left out, it is 1"),
                               ("two", "--members = two, but it must be a whole number")):
            result = self.run_program("fit", "track.csv", "--members", value, "-o", "a.kalmia")
            self.assertEqual(result.returncode, 2)
            self.assertIn(message, result.stderr)

    def test_calibration_can_be_left_out(self):
        self.track()
        for options, calibrated in (((), True), (("--calibrate",), True), (("--no-calibrate",), False)):
            self.succeed("fit", "track.csv", *SMALL_FIT, *options, "-o", "a.kalmia")
            info = json.loads(self.succeed("info", "a.kalmia", "--json"))
            self.assertEqual(info["calibration"] is not None, calibrated, options)
        result = self.run_program("fit", "track.csv", "--calibrate", "--no-calibrate", "-o", "b.kalmia")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--calibrate and its opposite", result.stderr)
        self.assertIn("--calibrate, --no-calibrate", self.succeed("fit", "--help"))

    def test_progress_elsewhere_than_on_a_terminal_is_plain_lines(self):
        self.track()
        result = self.run_program("fit", "track.csv", *SMALL_FIT, "-o", "a.kalmia")
        self.assertRegex(result.stderr, r"(?m)^networks  \d+/20  loss -?\d")
        self.assertNotIn("\r", result.stderr)
        self.assertNotIn("\x1b", result.stderr)

    def test_progress_on_a_terminal_is_redrawn_in_place(self):
        self.track()
        reading, terminal = pty.openpty()
        program = subprocess.Popen([PROGRAM, "fit", "track.csv", *SMALL_FIT, "-o", "a.kalmia"],
                                   cwd=self.folder, stdout=subprocess.DEVNULL, stderr=terminal)
        os.close(terminal)
        drawn = b""
        try:
            while chunk := os.read(reading, 4096):
                drawn += chunk
        except OSError:
            pass  # The terminal closes when the program ends.
        os.close(reading)
        self.assertEqual(program.wait(), 0)
        self.assertRegex(drawn.decode(), r"\rnetworks  \[#{20}\] 100 %")
        self.assertTrue(drawn.endswith(b"\n"))


class Interrupt(ProgramTest):
    def start(self, stage, *arguments, **options):
        """A fit that has begun a stage."""
        program = subprocess.Popen([PROGRAM, "fit", *ENDLESS, *arguments, "-o", "a.kalmia"],
                                   cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, **options)
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.stderr.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.wait_for(program, stage)
        return program

    def wait_for(self, program, beginning):
        for line in program.stderr:
            if line.startswith(beginning):
                return
        self.fail(f"the fit ended before it said {beginning}")

    def test_keeps_the_best_model(self):
        self.track()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            program = self.start("networks", "track.csv")
            program.send_signal(number)
            output, messages = program.communicate(timeout=60)
            self.assertEqual(program.returncode, 128 + number, messages)
            self.assertIn("interrupted", output)
            self.assertIn("stopping", messages)
            self.succeed("smooth", "a.kalmia", "track.csv", "-o", "out.csv")
            info = json.loads(self.succeed("info", "a.kalmia", "--json"))
            self.assertEqual(info["training"]["summary"]["networks"]["stop_reason"], "interrupted")
            (self.folder / "a.kalmia").unlink()

    def test_in_the_first_stage_there_is_no_model_yet(self):
        self.track(steps=20000)
        (self.folder / "a.kalmia").write_text("an earlier model")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            program = self.start("static", "track.csv")
            program.send_signal(number)
            _, messages = program.communicate(timeout=60)
            self.assertEqual(program.returncode, 128 + number, messages)
            self.assertIn("stopped before its static model was done: a.kalmia is not written", messages)
            self.assertEqual((self.folder / "a.kalmia").read_text(), "an earlier model")
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                             ["a.kalmia", "track.csv"])

    def test_twice_ends_at_once(self):
        # Each update takes so long that the second signal comes before the first one is noticed.
        self.track(steps=100000)
        program = self.start("networks", "track.csv", "--hidden", "128", "--window", "1024",
                             "--batch", "128", "--holdout", "0.01")
        program.send_signal(signal.SIGINT)
        self.wait_for(program, "stopping")
        program.send_signal(signal.SIGINT)
        program.communicate(timeout=60)
        self.assertEqual(program.returncode, -signal.SIGINT)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["track.csv"])

    def test_stays_ignored_where_it_was(self):
        self.track()
        program = self.start("networks", "track.csv",
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
        program.send_signal(signal.SIGINT)
        with self.assertRaises(subprocess.TimeoutExpired):
            program.wait(timeout=0.5)


if __name__ == "__main__":
    support.main()
