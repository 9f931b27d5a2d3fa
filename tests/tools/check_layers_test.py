"""Shows that tools/check_layers.py passes a good tree and fails each kind of bad one."""

import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import check_layers  # noqa: E402

README = """
| layer | state | what |
| --- | --- | --- |
| `base` | exists | a |
| `lanes` | exists | b |
| `train` | planned | c |
"""

GOOD = {
    "src/README.md": README,
    "src/base/random.hpp": "#include <vector>\n",
    "src/base/random.cpp": '#include "base/random.hpp"\n#include "kalmia/error.hpp"\n',
    "src/lanes/dense-inl.h": '#include <hwy/highway.h>\n#include "base/random.hpp"\n',
    "include/kalmia/error.hpp": "#include <stdexcept>\n",
    "include/kalmia/all.hpp": '#include "kalmia/error.hpp"\n',
    "tests/base/random_test.cpp": "",
    "tests/lanes/dense_test.cpp": "",
    "tests/lanes/dense_speed_test.cpp": "",
    "tests/support/reference.cpp": "",
    "tests/kalmia/error_test.cpp": "",
}


class CheckLayers(unittest.TestCase):
    def failures(self, changes=None):
        """Failures of the good tree with files changed; None removes a file."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in {**GOOD, **(changes or {})}.items():
                if text is None:
                    continue
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            return check_layers.check(root)

    def assert_one_failure(self, changes, *words):
        failures = self.failures(changes)
        self.assertEqual(len(failures), 1, failures)
        for word in words:
            self.assertIn(word, failures[0])

    def test_a_good_tree_passes(self):
        self.assertEqual(self.failures(), [])

    def test_an_include_of_a_later_layer_fails(self):
        self.assert_one_failure({"src/base/random.cpp": '\n#include "lanes/dense-inl.h"\n'},
                                "src/base/random.cpp:2", "later layer")

    def test_angle_brackets_hide_nothing(self):
        self.assert_one_failure({"src/base/random.cpp": "#include <lanes/dense-inl.h>\n"},
                                "later layer")

    def test_an_include_from_the_same_folder_fails(self):
        self.assert_one_failure({"src/base/random.cpp": '#include "random.hpp"\n'}, "random.hpp")

    def test_a_public_header_may_not_include_the_library(self):
        self.assert_one_failure({"include/kalmia/error.hpp": '#include "base/random.hpp"\n'},
                                "include/kalmia/error.hpp:1", "public header")

    def test_a_public_header_may_not_include_third_parties(self):
        self.assert_one_failure({"include/kalmia/error.hpp": "#include <Eigen/Core>\n"},
                                "Eigen/Core")

    def test_a_source_without_a_test_fails(self):
        self.assert_one_failure({"tests/lanes/dense_test.cpp": None}, "src/lanes/dense-inl.h",
                                "tests/lanes/dense_test.cpp")

    def test_a_test_without_a_source_fails(self):
        self.assert_one_failure({"tests/lanes/sparse_test.cpp": ""}, "tests/lanes/sparse_test.cpp")
        self.assert_one_failure({"tests/moon/dense_test.cpp": ""}, "tests/moon/dense_test.cpp")

    def test_a_file_that_is_neither_test_nor_helper_fails(self):
        self.assert_one_failure({"tests/lanes/sparse_check.cpp": ""}, "tests/lanes/sparse_check.cpp")
        self.assertEqual(self.failures({"tests/lanes/dense_kernels.cpp": ""}), [])

    def test_an_unlisted_folder_fails(self):
        self.assert_one_failure({"src/moon/phase.cpp": ""}, "src/moon")

    def test_the_state_of_a_layer_must_be_true(self):
        self.assert_one_failure({"src/train/loop.cpp": "", "tests/train/loop_test.cpp": ""},
                                "train", "planned")
        self.assert_one_failure({"src/lanes/dense-inl.h": None, "tests/lanes/dense_test.cpp": None,
                                 "tests/lanes/dense_speed_test.cpp": None}, "lanes", "exists")

    def test_exceptions_must_be_true(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            for name, text in GOOD.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            good = {"COVERED": {}, "UNTESTED": {}, "SPANNING": {}}
            for bad, word in (({"COVERED": {"lanes/gone": ("lanes/dense", "")}}, "does not exist"),
                              ({"COVERED": {"lanes/dense": ("base/random", "")}}, "of its own"),
                              ({"UNTESTED": {"lanes/dense": ""}}, "of its own"),
                              ({"SPANNING": {"lanes/all": ""}}, "does not exist")):
                with unittest.mock.patch.multiple(check_layers, **{**good, **bad}):
                    failures = list(check_layers.check_exceptions(root))
                self.assertEqual(len(failures), 1, failures)
                self.assertIn(word, failures[0])

    def test_a_missing_table_fails(self):
        self.assertTrue(any("no table" in f for f in self.failures({"src/README.md": "nothing"})))


if __name__ == "__main__":
    unittest.main()
