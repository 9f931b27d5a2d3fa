#!/usr/bin/python3
"""kalmia reproduce: rows, files, going on after a kill, Ctrl-C, and what it refuses."""

import csv
import json
import re
import signal
import subprocess
import time

import support
from support import PROGRAM, ProgramTest

# Cells that take no time.
SMALL = ("--sizes", "64,256", "--seeds", "2", "--validation", "64", "--test", "256")
FIELDS = ["method", "n", "seed", "state_mse", "position_mse", "nees", "coverage95", "seconds"]


class Reproduce(ProgramTest):
    def rows(self, *arguments):
        return json.loads(self.succeed("reproduce", *arguments, "--json", "-q"))

    def test_rows_with_provenance(self):
        result = self.rows("linear", *SMALL, "--methods", "raw,kalman-first-order,kalman-optimal")
        self.assertEqual(len(result["rows"]), 3 * 2 * 2)
        for row in result["rows"]:
            self.assertEqual(list(row)[:8], FIELDS)
        provenance = result["provenance"]
        self.assertEqual(provenance["options"]["sizes"], [64, 256])
        for key in ("version", "compiler", "instruction_set", "threads", "started", "seconds"):
            self.assertTrue(provenance[key], key)
        self.assertEqual(len(result["summary"]), 6)
        self.assertLess(result["theory"]["linearized_smoother"]["mean_difference"], 1e-9)
        folder = self.folder / "reproduce-linear"
        self.assertEqual(json.loads((folder / "rows.json").read_text())["rows"], result["rows"])
        with open(folder / "rows.csv", newline="") as file:
            self.assertEqual(len(list(csv.DictReader(file))), 12)
        header = (folder / "trajectories.csv").read_text().splitlines()[0]
        self.assertIn("truth_y1", header)
        self.assertIn("kalman-optimal_y2", header)

    def test_text_has_tables_and_the_papers_numbers(self):
        text = self.succeed("reproduce", "linear", *SMALL, "--methods", "kalman-optimal", "--out",
                            "some")
        self.assertRegex(text, r"kalman-optimal +0\.1\d+ +0\.1\d+ +0\.135\n")
        self.assertIn("some: rows.csv, rows.json, trajectories.csv", text)

    def test_the_setting_is_the_papers(self):
        rows = self.rows("linear", "--sizes", "2048", "--seeds", "1", "--methods",
                         "raw,kalman-first-order,kalman-optimal")["rows"]
        state = {row["method"]: row["state_mse"] for row in rows}
        self.assertAlmostEqual(state["kalman-optimal"], 0.1355, delta=0.004)
        self.assertAlmostEqual(state["kalman-first-order"], 0.242, delta=0.008)
        self.assertAlmostEqual(rows[0]["position_mse"], 0.25, delta=0.005)

    def test_goes_on_after_a_kill_with_the_same_rows(self):
        arguments = ("lorenz", *SMALL, "--methods", "raw,eks,eks-flow,flow-filter", "--threads", "1")
        whole = self.rows(*arguments, "--out", "whole")["rows"]
        journal = self.folder / "killed/journal.jsonl"
        process = subprocess.Popen([str(PROGRAM), "reproduce", *arguments, "--out", "killed"],
                                   cwd=self.folder, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            if journal.exists() and journal.read_bytes().count(b"\n") >= 4:
                break
            time.sleep(0.005)
        process.kill()
        process.wait()
        # As if the kill had come in the middle of a line.
        with open(journal, "ab") as file:
            file.write(b'{"task": "eks", "settings"')
        resumed = self.rows(*arguments, "--out", "killed")
        self.assertGreaterEqual(resumed["provenance"]["resumed_cells"], 3)
        for a, b in zip(whole, resumed["rows"], strict=True):
            self.assertEqual({**a, "seconds": 0}, {**b, "seconds": 0})

    def test_ctrl_c_keeps_what_is_finished(self):
        process = subprocess.Popen([str(PROGRAM), "reproduce", "lorenz", "--sizes", "64,131072",
                                    "--seeds", "1", "--methods", "raw,polynomial-filter",
                                    "--validation", "64", "--test", "64", "--threads", "2", "--json",
                                    "-q"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        journal = self.folder / "reproduce-lorenz/journal.jsonl"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if journal.exists() and journal.read_bytes().count(b"\n") >= 3:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        output, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 128 + signal.SIGINT, said)
        self.assertIn("what is finished is kept", said)
        result = json.loads(output)
        self.assertFalse(result["provenance"]["complete"])
        self.assertEqual({row["n"] for row in result["rows"]
                          if row["method"] == "polynomial-filter"}, {64})

    def test_quiet_prints_nothing(self):
        result = self.run_program("reproduce", "linear", *SMALL, "--methods", "raw", "-q")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_list(self):
        listed = json.loads(self.succeed("reproduce", "--list", "--json"))
        self.assertIn("floor", [method["name"] for method in listed["lorenz"]])
        text = self.succeed("reproduce", "--list")
        for experiment in listed.values():
            for method in experiment:
                # Blanks between the name and what it is.
                self.assertRegex(text, rf"(?m)^ [ *]{method['name']}  +{re.escape(method['description'])}$")

    def test_what_is_refused(self):
        self.fail_with(2, ("reproduce",), ["EXPERIMENT is required: linear, lorenz or audio"])
        self.fail_with(2, ("reproduce", "lorentz"), ["did you mean lorenz?"])
        self.fail_with(2, ("reproduce", "linear", "--methods", "kalman-optimum"),
                       ["did you mean kalman-optimal?"])
        self.fail_with(2, ("reproduce", "linear", "--sizes", "10"), ["sizes = 10", "64..131072"])
        self.succeed("reproduce", "linear", *SMALL, "--methods", "raw", "--out", "done", "-q")
        self.fail_with(2, ("reproduce", "linear", "--quick", "--methods", "raw", "--out", "done"),
                       ["done/journal.jsonl:1", "validation = 64, but this one has 2048"])


if __name__ == "__main__":
    support.main()
