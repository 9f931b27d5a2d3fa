#!/usr/bin/python3
"""Checks that CHANGELOG.md speaks of the version being built.

usage: tools/check_changelog.py VERSION [CHANGELOG.md]

There must be a section "## Unreleased" or "## VERSION" (a date may follow), with at least one entry.
"""

import re
import sys
from pathlib import Path


def sections(text):
    """The second-level sections of a changelog as {first word of the heading: body}."""
    parts = re.split(r"^## +\[?([^\]\s]+).*$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2]))


def problem(text, version):
    """What is wrong with the changelog `text`, or None."""
    found = sections(text)
    bodies = [found[name] for name in ("Unreleased", version) if name in found]
    if not bodies:
        names = ", ".join(found) or "none"
        return f"no section Unreleased or {version}; sections found: {names}"
    if not any(re.search(r"^[-*] +\S", body, flags=re.MULTILINE) for body in bodies):
        return f"the section for Unreleased or {version} has no entry"
    return None


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    path = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parent.parent / "CHANGELOG.md"
    wrong = problem(path.read_text(), sys.argv[1])
    if wrong:
        print(f"{path.name}: {wrong}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
