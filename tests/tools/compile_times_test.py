"""tools/compile_times.py on a compilation database of two tiny files."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
TOOL = Path(__file__).parents[2] / "tools" / "compile_times.py"
sys.path.insert(0, str(TOOL.parent))
from compile_times import command_of  # noqa: E402


class CompileTimes(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="kalmia-compile-times-")
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        entries = []
        for name in ("one", "two"):
            (self.folder / f"{name}.cpp").write_text("int f();\n")
            entries.append({"directory": str(self.folder), "file": f"{name}.cpp",
                            "command": f"c++ -o {name}.o -c {name}.cpp"})
        (self.folder / "compile_commands.json").write_text(json.dumps(entries))

    def run_tool(self, *options):
        return subprocess.run([sys.executable, TOOL, self.folder, *options], text=True,
                              capture_output=True, timeout=120)

    def test_every_file_is_compiled_and_nothing_is_left(self):
        result = self.run_tool()
        self.assertEqual(result.returncode, 0, result.stderr)
        for text in ("one.cpp", "two.cpp", "all 2 files"):
            self.assertIn(text, result.stdout)
        self.assertEqual(list(self.folder.glob("*.o")), [])

    def test_some_files_as_a_table(self):
        lines = self.run_tool("--only", "two", "--markdown", "5").stdout.splitlines()
        self.assertEqual(lines[0], "| file | CPU seconds |")
        self.assertEqual(len(lines), 4)
        self.assertIn("two.cpp", lines[2])
        self.assertIn("all 1 files", lines[3])

    def test_what_matches_nothing_is_said(self):
        result = self.run_tool("--only", "three")
        self.assertEqual(result.returncode, 1)
        self.assertIn("'three'", result.stderr)

    def test_no_cache_in_front(self):
        words = command_of({"command": "/usr/bin/ccache /usr/bin/c++ -O3 -o a.o -c a.cpp"}, "x.o")
        self.assertEqual(words, ["/usr/bin/c++", "-O3", "-o", "x.o", "-c", "a.cpp"])


if __name__ == "__main__":
    unittest.main()
