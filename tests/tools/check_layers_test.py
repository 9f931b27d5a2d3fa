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

| public header | layer | what |
| --- | --- | --- |
| `kalmia/error.hpp` | `base` | d |
| `kalmia/all.hpp` | `lanes` | e |
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

    def test_a_public_header_of_a_later_layer_fails(self):
        self.assert_one_failure({"src/base/random.cpp": '\n#include "kalmia/all.hpp"\n'},
                                "src/base/random.cpp:2", "base includes kalmia/all.hpp",
                                "belongs to lanes, a later layer")
        self.assertEqual(self.failures({"src/lanes/dense-inl.h": '#include "kalmia/all.hpp"\n'}), [])

    def test_no_way_leads_to_it_by_another_header(self):
        # base/random.cpp -> kalmia/error.hpp -> kalmia/all.hpp: the second include is what is wrong.
        self.assert_one_failure({"include/kalmia/error.hpp": '#include "kalmia/all.hpp"\n',
                                 "include/kalmia/all.hpp": ""},
                                "include/kalmia/error.hpp:1", "base includes kalmia/all.hpp")
        # base/random.cpp -> base/random.hpp -> kalmia/all.hpp
        self.assert_one_failure({"src/base/random.hpp": '#include "kalmia/all.hpp"\n'},
                                "src/base/random.hpp:1", "base includes kalmia/all.hpp")

    def test_every_public_header_has_one_true_row(self):
        def changed(old, new):
            return {"src/README.md": README.replace(old, new)}
        row = "| `kalmia/error.hpp` | `base` | d |\n"
        self.assert_one_failure(changed(row, ""), "include/kalmia/error.hpp", "no layer")
        self.assert_one_failure(changed(row, row + row), "kalmia/error.hpp", "2 rows")
        self.assert_one_failure(changed(row, row + row.replace("error", "gone")), "kalmia/gone.hpp",
                                "does not exist")
        self.assert_one_failure(changed("`base` | d", "`moon` | d"), "kalmia/error.hpp", "moon")

    def test_a_file_that_the_readme_names_exists(self):
        self.assertEqual(self.failures({"src/README.md": README + "\n    base/random.cpp, lanes/dense-inl.h\n"}),
                         [])
        self.assert_one_failure({"src/README.md": README + "\nsee `base/chance.cpp`\n"}, "base/chance.cpp")

    def test_an_include_from_the_same_folder_fails(self):
        self.assert_one_failure({"src/base/random.cpp": '#include "random.hpp"\n'}, "random.hpp")

    def test_a_public_header_may_not_include_the_library(self):
        self.assert_one_failure({"include/kalmia/error.hpp": '#include "base/random.hpp"\n'},
                                "include/kalmia/error.hpp:1", "public header")

    def test_a_public_header_may_not_include_third_parties(self):
        self.assert_one_failure({"include/kalmia/error.hpp": "#include <Eigen/Core>\n"},
                                "Eigen/Core")

    def test_the_program_stands_on_public_headers_and_the_lowest_layer(self):
        self.assertEqual(self.failures({"cli/main.cpp": '#include "base/random.hpp"\n#include "run.hpp"\n'
                                                        '#include "kalmia/all.hpp"\n'}), [])
        self.assert_one_failure({"cli/main.cpp": '#include "lanes/dense-inl.h"\n'}, "cli/main.cpp:1",
                                "lanes/dense-inl.h")

    def test_a_source_without_a_test_fails(self):
        self.assert_one_failure({"tests/lanes/dense_test.cpp": None}, "src/lanes/dense-inl.h",
                                "tests/lanes/dense_test.cpp")

    def test_code_on_lanes_is_tested_by_what_compiles_it(self):
        sparse = {"src/lanes/sparse-inl.h": ""}
        self.assert_one_failure(sparse, "src/lanes/sparse-inl.h")
        # A test of its layer, directly or by other code on lanes; a test of another layer is no test
        # of it.
        include = '#include "lanes/sparse-inl.h"\n'
        self.assertEqual(self.failures({**sparse, "tests/lanes/dense_test.cpp": include}), [])
        self.assertEqual(self.failures({**sparse, "src/lanes/dense-inl.h": include,
                                        "tests/lanes/dense_test.cpp":
                                            '#include "lanes/dense-inl.h"\n'}), [])
        self.assert_one_failure({**sparse, "tests/base/random_test.cpp": include},
                                "src/lanes/sparse-inl.h")
        # A source with a test.
        self.assertEqual(self.failures({**sparse, "src/lanes/solve.cpp": include,
                                        "tests/lanes/solve_test.cpp": ""}), [])

    def test_a_folder_may_be_tested_as_a_whole(self):
        folder = {"src/lanes/blocks/row.cpp": "", "src/lanes/blocks/column.cpp": ""}
        self.assertEqual(len(self.failures(folder)), 2)
        self.assertEqual(self.failures({**folder, "tests/lanes/blocks_test.cpp": ""}), [])
        self.assertEqual(self.failures({**folder, "tests/lanes/blocks_speed_test.cpp": ""}), [])
        self.assert_one_failure({"src/lanes/block.cpp": "", **folder,
                                 "tests/lanes/blocks_test.cpp": ""}, "src/lanes/block.cpp")

    def test_a_header_without_code_needs_no_test(self):
        def header(text):
            return {"src/base/shape.hpp": text, "tests/base/random_test.cpp": ""}
        for text in ("enum class Kind { A, B };\n",
                     "struct Size { int rows = 0; std::vector<int> all{}; };\n",
                     "struct Map { virtual ~Map() = default; virtual int at(int i) const = 0;\n"
                     "  virtual const Map* as() const { return nullptr; }\n"
                     "  explicit Map(int n) : n_(std::move(n)), m_(n) {}\n"
                     "  int n() const { return n_; } };\n",
                     "// f(x) { return x + 1; }\nint f(int x);\n"):
            self.assertEqual(self.failures(header(text)), [], text)
        for text in ("inline int f(int x) { return x + 1; }\n",
                     "struct A { A(int n) : n_(n) { check(n); } };\n",
                     "template <typename T> T f(T x) noexcept { if (x) { return x; } return 0; }\n"):
            self.assert_one_failure(header(text), "src/base/shape.hpp")
        self.assert_one_failure({"src/base/shape.hpp": "int f();\n", "src/base/shape.cpp": ""},
                                "src/base/shape")

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
            for name, text in {**GOOD, "src/lanes/shape.hpp": "enum class Kind { A };\n",
                               "src/lanes/solve.cpp": ""}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            good = {"COVERED": {}, "SPANNING": {}}
            for bad, word in (({"COVERED": {"lanes/gone": ("lanes/dense", "")}}, "does not exist"),
                              ({"COVERED": {"lanes/dense": ("base/random", "")}}, "of its own"),
                              ({"COVERED": {"lanes/shape": ("lanes/dense", "")}}, "needs no test"),
                              ({"COVERED": {"lanes/solve": ("lanes/gone", "")}}, "has no test"),
                              ({"SPANNING": {"lanes/all": ""}}, "does not exist")):
                with unittest.mock.patch.multiple(check_layers, **{**good, **bad}):
                    failures = list(check_layers.check_exceptions(root))
                self.assertEqual(len(failures), 1, failures)
                self.assertIn(word, failures[0])

    def test_a_missing_table_fails(self):
        self.assertTrue(any("no table" in f for f in self.failures({"src/README.md": "nothing"})))


if __name__ == "__main__":
    unittest.main()
