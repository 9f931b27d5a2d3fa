"""tools/build.py on lines as Ninja writes them, and on a tiny project."""

import io
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOOL = Path(__file__).parents[2] / "tools" / "build.py"
sys.path.insert(0, str(TOOL.parent))
from build import Progress, cost_of, costs, name_of  # noqa: E402

LIBRARY = "CMakeFiles/kalmia.dir/"


def built(path):
    return f"Building CXX object {path}.o"


class Names(unittest.TestCase):
    def test_steps_are_told_in_words(self):
        for step, name in (
                (built(LIBRARY + "src/heads/recursion/recursion.cpp"), "heads/recursion/recursion"),
                (built(LIBRARY + "Unity/unity_train_1_cxx.cxx"), "train"),
                (built(LIBRARY + "Unity/unity_matrices_0_cxx.cxx"), "matrix algebra"),
                (built("tests/CMakeFiles/data_tests.dir/Unity/unity_data_2_cxx.cxx"),
                 "tests of data"),
                ("Linking CXX executable tests/data_tests", "linking data_tests")):
            self.assertEqual(name_of(step), name)

    def test_the_longest_entry_of_the_list_counts(self):
        known = {"unity_train": 20, "tests.dir/Unity/unity_train": 40, "recursion": 30}
        self.assertEqual(cost_of("x/kalmia.dir/Unity/unity_train_0", known), 20)
        self.assertEqual(cost_of("x/train_tests.dir/Unity/unity_train_0", known), 40)
        self.assertGreater(cost_of("never heard of", known), 0)

    def test_the_list_has_seconds(self):
        self.assertGreater(len(costs()), 10)
        self.assertTrue(all(seconds > 0 for seconds in costs().values()))


class TimeLeft(unittest.TestCase):
    def setUp(self):
        self.now = 0.0
        self.out = io.StringIO()
        objects = ["heavy"] + [f"light{i}" for i in range(10)]
        self.progress = Progress(objects, {"heavy": 50, "light": 5}, self.out, lambda: self.now)

    def step(self, number, file, seconds):
        self.now += seconds
        self.progress.step(number, 11, built(file))

    def test_it_follows_from_the_share_of_the_work(self):
        self.assertIsNone(self.progress.left())
        self.step(1, "heavy", 100)  # half of the work
        self.assertAlmostEqual(self.progress.left(), 100)
        for i in range(10):
            self.step(2 + i, f"light{i}", 10)
        self.assertAlmostEqual(self.progress.left(), 0)

    def test_without_a_terminal_a_line_comes_every_half_minute(self):
        for i in range(10):
            self.step(1 + i, f"light{i}", 10)
        lines = self.out.getvalue().splitlines()
        self.assertEqual(len(lines), 4)
        self.assertIn("building: 4 of 11", lines[1])
        self.assertIn("about 3 minutes left", lines[1])


class Whole(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kalmia-build-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        (self.folder / "build.ninja").write_text(
            "rule cc\n  command = cp $in $out\n  description = Building CXX object $out\n"
            "rule bad\n  command = echo no such thing >&2; false\n"
            "build one.o: cc one\nbuild broken: bad one\ndefault one.o\n")
        (self.folder / "one").write_text("1")

    def build(self, *targets):
        return subprocess.run([sys.executable, TOOL, self.folder, *targets], text=True,
                              capture_output=True, timeout=60)

    def test_a_build_and_then_nothing_to_do(self):
        first = self.build()
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertIn("building: 1 of 1 (one)", first.stdout)
        self.assertTrue((self.folder / "one.o").is_file())
        self.assertEqual(self.build().stdout, "")

    def test_what_fails_is_shown(self):
        result = self.build("broken")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no such thing", result.stdout)


if __name__ == "__main__":
    unittest.main()
