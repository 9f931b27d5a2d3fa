"""Shows that tools/compare_runs.py tells programs that compute the same from those that do not."""

import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
TOOLS = Path(__file__).parents[2] / "tools"
sys.path.insert(0, str(TOOLS))
try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(0)
import compare_runs  # noqa: E402
import run_list  # noqa: E402
from run_outputs import compare_files  # noqa: E402

# A program with the commands of RUN: each writes what the real one would, of numbers that are made up.
FAKE = """#!{python} -IS
import json, struct, sys
noise, gain, extra, seconds, name, code, listed = 0.5, 2.0, {{}}, 1.0, "y1", 0, 3
{change}
words = sys.argv[1:]
command = words[0]
out = words[words.index("-o") + 1] if "-o" in words else None
def array(numbers):
    header = repr({{"descr": "<f8", "fortran_order": False, "shape": (len(numbers),)}}) + "\\n"
    return (b"\\x93NUMPY\\x01\\x00" + struct.pack("<H", len(header)) + header.encode()
            + struct.pack("<%dd" % len(numbers), *numbers))
sys.stdin.read()
print("networks  1/2  %g s left" % seconds, file=sys.stderr)
if command == "fit":
    data = struct.pack("<2f", noise, 1)
    description = json.dumps({{"theta": [1, gain], **extra}})
    header = json.dumps({{"__metadata__": {{"kalmia_version": str(seconds), "description": description}},
                         "noise.R": {{"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}}})
    open(out, "wb").write(struct.pack("<Q", len(header)) + header.encode() + data)
    print("static model: loss 1.5 in %g s, %g million steps/s" % (seconds, seconds))
elif command == "filter" and code:
    print("kalmia filter: m.kalmia: it broke", file=sys.stderr)
    sys.exit(code)
elif out and out.endswith(".npz"):
    import zipfile
    with zipfile.ZipFile(out, "w") as file:
        file.writestr(zipfile.ZipInfo("mean.npy", (1990 + int(seconds), 1, 1, 0, 0, 0)),
                      array([1, gain]))
elif out:
    rows = "".join("%d,%r,%r\\n" % (k, gain * k, k * 1.0) for k in range(listed))
    open(out, "w").write("t," + name + ",true_y1\\n" + rows)
else:
    print(json.dumps({{"theta": [1, gain], "seconds": seconds, **extra}}))
"""
RUN = run_list.Run("small", (
    run_list.step("fit @data.csv -o m.kalmia"), run_list.step("info m.kalmia --json"),
    run_list.step("filter m.kalmia @data.csv -o filter.npz", run_list.Lines("data.csv", ("t", "y1"))),
    run_list.step("forecast m.kalmia @data.csv -o forecast.csv")), True)


def tensor_file(header, numbers, version="1"):
    metadata = {"kalmia_version": version, "crc32": version, "description": json.dumps(header)}
    data = np.array(numbers, "<f4").tobytes()
    text = json.dumps({"__metadata__": metadata,
                       "R": {"dtype": "F32", "shape": [len(numbers)], "data_offsets": [0, len(data)]}})
    return len(text).to_bytes(8, "little") + text.encode() + data


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


class Programs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def compare(self, change, *options, old=""):
        """Compares a fake program with one that has a line changed: exit code and output."""
        programs = []
        for name, line in (("old", old), ("new", change)):
            path = Path(self.folder.name) / name
            path.write_text(FAKE.format(python=sys.executable, change=line))
            path.chmod(0o755)
            programs.append(str(path))
        printed = io.StringIO()
        with (mock.patch.object(run_list, "all_runs", lambda: [RUN]),
              mock.patch.dict(run_list.SIMULATED, {"data.csv": "pendulum"}),
              contextlib.redirect_stdout(printed)):
            code = compare_runs.main([*programs, *options])
        return code, printed.getvalue()

    def assert_differs(self, change, *fragments, options=(), old=""):
        code, output = self.compare(change, *options, old=old)
        self.assertEqual(code, 1, output)
        self.assertIn("1 of 1 runs differ", output)
        for each in fragments:
            self.assertIn(each, output.splitlines()[0])

    def test_the_same(self):
        code, output = self.compare("")
        self.assertEqual(code, 0, output)
        self.assertRegex(output, r"^small  same\nall 1 runs are the same \(4 commands")

    def test_times_and_versions_do_not_count(self):
        code, output = self.compare("seconds = 17.25")
        self.assertEqual(code, 0, output)

    def test_a_number_of_the_model_alone(self):
        self.assert_differs("noise = 0.50000006", "m.kalmia noise.R: 6e-08")

    def test_a_number_of_estimates(self):
        self.assert_differs("gain = 2.0000002", "filter.npz mean: 1e-07", "forecast.csv y1: 1e-07",
                            "m.kalmia description.theta[]: 1e-07")

    def test_details_list_every_array(self):
        code, output = self.compare("noise, gain = 0.6, 2.1", "--details")
        self.assertEqual(code, 1)
        lines = [line.strip() for line in output.splitlines()]
        self.assertIn("m.kalmia noise.R: 0.1", lines)
        self.assertIn("m.kalmia description.theta[]: 0.048", lines)

    def test_columns_and_rows(self):
        self.assert_differs("name = 'z1'", "forecast.csv columns: only OLD has y1; only NEW has z1")
        self.assert_differs("listed = 4", "forecast.csv: 3 and 4 rows")

    def test_exit_codes_with_the_message(self):
        self.assert_differs("code = 3", "03-filter: exit code 0 and 3",
                            "(kalmia filter: m.kalmia: it broke)")
        self.assert_differs("", "03-filter: exit code 3 and 0", "it broke", old="code = 3")

    def test_both_failing_is_not_the_same(self):
        self.assert_differs("code = 3", "03-filter: exit code 3 of both", "it broke", old="code = 3")

    def test_new_keys(self):
        change = "extra = {'more': 1}"
        self.assert_differs(change, "m.kalmia description.more: only NEW has this key")
        self.assertEqual(self.compare(change, "--ignore-new-keys")[0], 0)
        self.assert_differs(change + "; gain = 3.0", "m.kalmia description.theta[]: 0.33",
                            options=["--ignore-new-keys"])

    def test_networks_that_were_not_kept_are_named(self):
        change = "extra = {'training': {'summary': {'networks': False}}}"
        code, output = self.compare(change, old=change)
        self.assertEqual(code, 0)
        self.assertIn("same (the fit did not keep its networks)", output)

    def test_kept_outputs(self):
        keep = Path(self.folder.name) / "kept"
        self.compare("gain = 3.0", "--keep", str(keep))
        for side in ("old", "new"):
            self.assertTrue((keep / side / "small" / "filter.npz").exists())
            self.assertIn("static model", (keep / side / "small" / "01-fit.stdout").read_text())

    def test_wrong_options(self):
        for words, fragment in ((["/bin/true"], "two are compared"),
                                (["/bin/true", "/no/such"], "/no/such is no program"),
                                (["/bin/true", "/bin/true", "--only", "nothing"], "no run is named")):
            done = subprocess.run([sys.executable, str(TOOLS / "compare_runs.py"), *words],
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 2)
            self.assertIn(fragment, done.stderr)


class Outputs(unittest.TestCase):
    def found(self, name, old, new, **options):
        return [str(each) for each in compare_files(name, old, new, **options)]

    def test_arrays(self):
        a = np.array([1.0, 2.0, np.nan])
        self.assertEqual(self.found("e.npz", npz(mean=a), npz(mean=a.copy())), [])
        self.assertEqual(self.found("e.npz", npz(mean=a), npz(mean=a * 1.5)), ["e.npz mean: 0.33"])
        self.assertEqual(self.found("e.npz", npz(mean=a), npz(mean=[1.0, 2, 3])), ["e.npz mean: inf"])
        # A sign of zero is a bit, too.
        self.assertEqual(self.found("e.npz", npz(mean=[0.0]), npz(mean=[-0.0])), ["e.npz mean: 0"])
        self.assertEqual(self.found("e.npz", npz(mean=a), npz(mean=a[:2])),
                         ["e.npz mean: float64[3] and float64[2]"])
        self.assertEqual(self.found("e.npz", npz(mean=a), npz(mean=a, P=a)), ["e.npz P: only NEW has it"])

    def test_models(self):
        old = tensor_file({"theta": [1.0, 2.0], "calibration": None}, [1, 2])
        self.assertEqual(self.found("m.kalmia", old, tensor_file(
            {"theta": [1.0, 2.0], "calibration": None}, [1, 2], version="2")), [])
        # A value is no new key, whatever is ignored.
        self.assertEqual(self.found("m.kalmia", old, tensor_file(
            {"theta": [1.0, 2.0], "calibration": {"filter": 1}}, [1, 2]), ignore_new_keys=True),
            ['m.kalmia description.calibration: "null" and "{"filter": 1}"'])
        self.assertEqual(self.found("m.kalmia", old, tensor_file(
            {"theta": [1.0], "calibration": None}, [1, 2.5])),
            ["m.kalmia description.theta: 2 and 1 entries", "m.kalmia R: 0.2"])
        self.assertIn("cannot be read", self.found("m.kalmia", old, b"nothing")[0])

    def test_tables(self):
        old = b"t,y,seconds\n0,1.5,3\n1,,3\n"
        self.assertEqual(self.found("e.csv", old, b"t,y,seconds\n0,1.5,4\n1,,5\n"), [])
        self.assertEqual(self.found("e.csv", old, b"t,y,seconds\n0,3,3\n1,,3\n"), ["e.csv y: 0.5"])
        self.assertEqual(self.found("e.csv", old, b"t,y,seconds\n0,1.50,3\n1,,3\n"), ["e.csv y: 0"])
        self.assertEqual(self.found("e.csv", old, b"t,seconds,y\n0,3,1.5\n1,3,\n"),
                         ["e.csv columns: another order"])

    def test_text(self):
        old = b"loss 1.5 in 0.2 s\nkept\n"
        self.assertEqual(self.found("a.stdout", old, b"loss 1.5 in 17.0 s\nkept\n"), [])
        self.assertEqual(self.found("a.stdout", old, b"loss 1.2 in 0.2 s\nkept\n"), ["a.stdout: 0.2"])
        self.assertEqual(self.found("a.stdout", old, b"loss 1.5 in 0.2 s\nleft out\n"),
                         ['a.stdout line 2: "kept" and "left out"'])
        self.assertEqual(self.found("a.stdout", b'{"a": 1}\n{"a": 2}\n', b'{"a": 1}\n{"a": 4}\n'),
                         ["a.stdout [].a: 0.5"])

    def test_other_files(self):
        self.assertEqual(self.found("a.flac", b"1", b"2"), ["a.flac: other bytes"])


class List(unittest.TestCase):
    def test_names_are_unique_and_data_exist(self):
        runs = run_list.all_runs()
        names = [run.name for run in runs]
        self.assertEqual(len(names), len(set(names)))
        known = {**run_list.SIMULATED, **run_list.DERIVED}
        for run in runs:
            for step in run.steps:
                for file in [word[1:] for word in step.arguments if word.startswith("@")]:
                    self.assertIn(file, known, run.name)


if __name__ == "__main__":
    unittest.main()
