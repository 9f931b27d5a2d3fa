"""Shows that tools/check_changelog.py accepts a changelog that speaks of the version, and no other."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from check_changelog import problem  # noqa: E402


class CheckChangelog(unittest.TestCase):
    def test_an_unreleased_section_will_do(self):
        self.assertIsNone(problem("# Changelog\n\n## Unreleased\n\n- a filter\n", "0.1.0"))

    def test_a_section_of_the_version_will_do(self):
        self.assertIsNone(problem("# Changelog\n\n## 0.1.0 (2026-01-02)\n\n- a filter\n", "0.1.0"))
        self.assertIsNone(problem("## [0.1.0]\n- a filter\n", "0.1.0"))

    def test_only_other_versions_fail(self):
        self.assertIn("0.1.0", problem("## 0.1.0\n- a filter\n", "0.2.0"))

    def test_no_section_fails(self):
        self.assertIn("none", problem("# Changelog\n", "0.1.0"))

    def test_an_empty_section_fails(self):
        self.assertIn("no entry", problem("## Unreleased\n\n## 0.0.9\n- old\n", "0.1.0"))


if __name__ == "__main__":
    unittest.main()
