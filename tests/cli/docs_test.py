#!/usr/bin/python3
"""docs/cli.md: its commands run in their order, with its configuration file."""

import os
import re
import subprocess
from pathlib import Path

import support
from support import COMMANDS, PROGRAM, ProgramTest

PAGE = (Path(__file__).parents[2] / "docs/cli.md").read_text(encoding="ascii")


class Page(ProgramTest):
    def test_commands_run(self):
        config = re.search(r"```toml\n# (\S+)\n(.*?)```", PAGE, re.S)
        (self.folder / config[1]).write_text(config[2])
        lines = "".join(re.findall(r"```sh\n(.*?)```", PAGE, re.S)).splitlines()
        environment = dict(os.environ, PATH=f"{PROGRAM.parent}:{os.environ['PATH']}")
        for line in lines:
            short = re.sub(r"--hidden \d+ ", "", line)
            if line.startswith("kalmia fit"):
                short += " --hidden 8 --updates 10"
            with self.subTest(line=line):
                result = subprocess.run(["bash", "-c", short], cwd=self.folder, env=environment,
                                        text=True, capture_output=True, timeout=120)
                self.assertEqual(result.returncode, 0, result.stderr)
        for command in COMMANDS:
            self.assertTrue(any(f"kalmia {command} " in line for line in lines), command)


if __name__ == "__main__":
    support.main()
