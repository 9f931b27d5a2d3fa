"""Shows that tools/check_documented.py notices numbers and promises that do not hold."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
import check_documented  # noqa: E402: from the folder above


class Differences(unittest.TestCase):
    def test_close_numbers_agree(self):
        documented = {"mse": {"raw": 100, "smoothed": 10}, "nis": None}
        found = {"mse": {"raw": 101, "smoothed": 10.5}, "nis": None, "more": 1}
        self.assertEqual(list(check_documented.differences(documented, found)), [])

    def test_other_numbers_are_named(self):
        wrong = list(check_documented.differences({"mse": {"raw": 100}}, {"mse": {"raw": 120}}))
        self.assertEqual(wrong, ["mse.raw is 120, documented as 100"])

    def test_missing_and_null_are_named(self):
        self.assertEqual(len(list(check_documented.differences({"a": 1}, {}))), 1)
        self.assertEqual(len(list(check_documented.differences({"a": 1}, {"a": None}))), 1)
        self.assertEqual(len(list(check_documented.differences({"a": None}, {"a": 1}))), 1)


class Promises(unittest.TestCase):
    def test_smoothing_pays(self):
        good = {"mse": {"raw": 2, "smoothed": 1}, "gaps": {"interpolated": None, "smoothed": None}}
        self.assertEqual(list(check_documented.broken_promises(good)), [])

    def test_smoothing_that_does_not_pay_is_named(self):
        bad = {"mse": {"raw": 1, "smoothed": 1}, "hidden": {"interpolated": 1, "smoothed": 2}}
        self.assertEqual(len(list(check_documented.broken_promises(bad))), 2)


class Blocks(unittest.TestCase):
    def test_commands_go_with_the_result_after_them(self):
        page = 'text\n```sh\na \\\n  b\nc\n```\nmore\n```json\n{"x": 1}\n```\n'
        self.assertEqual(list(check_documented.blocks(page)), [(["a    b", "c"], {"x": 1})])


if __name__ == "__main__":
    unittest.main()
