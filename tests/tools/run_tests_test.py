"""Shows that tools/run_tests.py reports passing and failing CTest runs as what they are."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools/run_tests.py"


def run(tests):
    """Runs the tool on a folder with the CTest tests {name: shell command}."""
    with tempfile.TemporaryDirectory() as folder:
        lines = [f'add_test("{name}" "/bin/sh" "-c" "{command}")' for name, command in tests.items()]
        (Path(folder) / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")
        done = subprocess.run([sys.executable, str(TOOL), folder], capture_output=True, text=True)
        return done.returncode, done.stdout


class RunTests(unittest.TestCase):
    def test_all_passing(self):
        code, output = run({"a_test: One": "exit 0", "a_test: Two": "exit 0", "b.check": "exit 0"})
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"a_test +2 passed")
        self.assertRegex(output, r"b +1 passed")
        self.assertTrue(output.strip().splitlines()[-1].startswith("All 3 tests passed"), output)

    def test_a_failure_is_shown_in_full_and_named_at_the_end(self):
        code, output = run({"a_test: One": "echo what went wrong; exit 3", "a_test: Two": "exit 0"})
        self.assertEqual(code, 1)
        self.assertIn("what went wrong", output)
        last = output.strip().splitlines()[-2:]
        self.assertIn("a_test: One", last[0])
        self.assertIn("1 of 2 tests FAILED", last[1])

    def test_a_crash_is_a_failure(self):
        code, output = run({"a_test: One": "kill -SEGV $$"})
        self.assertEqual(code, 1, output)
        self.assertIn("FAILED", output)

    def test_a_missing_program_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "CTestTestfile.cmake").write_text('add_test("a: b" "/no/such/program")\n')
            done = subprocess.run([sys.executable, str(TOOL), folder], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stdout)


if __name__ == "__main__":
    unittest.main()
