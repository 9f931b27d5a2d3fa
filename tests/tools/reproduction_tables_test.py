"""Shows that tools/reproduction_tables.py fills the tables of a page from results."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
from reproduction_tables import DOCS, TABLE, figure, filled, over_seeds  # noqa: E402


def result():
    methods = [{"name": "kalman-optimal", "self_supervised": False, "paper_state_mse": 0.241},
               {"name": "ours", "self_supervised": True, "paper_state_mse": None}]
    rows, summary = [], []
    for method in ("kalman-optimal", "ours"):
        for n in (128, 2048):
            errors = [0.25, 0.5, 0.3]
            rows += [{"method": method, "n": n, "seed": seed, "state_mse": error,
                      "position_mse": error if method == "ours" else 0.5, "nees": 1.0,
                      "coverage95": 0.95, "seconds": 20.0 + seed, "reducible_error": 0.75,
                      "reducible_error_std": 0.01, "prediction_error": 0.76}
                     for seed, error in enumerate(errors)]
            summary.append({"method": method, "n": n,
                            "state_mse": {"median": 0.3, "low": 0.25, "high": 0.5}})
    return {"experiment": "linear", "methods": methods, "rows": rows, "summary": summary,
            "provenance": {"options": {"sizes": [128, 2048], "seeds": 3, "test": 1000},
                           "started": "2026-01-02T03:04:05Z", "version": "0.1.0",
                           "compiler": "GCC 12", "instruction_set": "avx2", "threads": 2, "seconds": 90}}


class ReproductionTables(unittest.TestCase):
    def fill(self, kind, experiment="linear"):
        page = f"before\n<!-- table: {experiment} {kind} -->\nold\n<!-- end -->\nafter\n"
        return filled(page, {"linear": result()})

    def test_every_size_has_median_least_and_largest_beside_the_papers_numbers(self):
        cells = "0.3 (0.25 .. 0.5) | 0.3 (0.25 .. 0.5)"
        self.assertEqual(self.fill("state_mse"),
                         "before\n<!-- table: linear state_mse -->\n"
                         "| steps | 128 | 2,048 | paper |\n| --- | --- | --- | --- |\n"
                         f"| kalman-optimal * | {cells} | 0.241 |\n| ours | {cells} | - |\n"
                         "<!-- end -->\nafter\n")

    def test_what_all_seeds_share_is_said_once(self):
        self.assertEqual(over_seeds({"median": 0.25, "low": 0.25, "high": 0.25}), "0.25")

    def test_a_method_without_an_error_has_a_dash(self):
        self.assertEqual([over_seeds(None), over_seeds({"median": None, "low": None, "high": None})],
                         ["-", "-"])

    def test_the_largest_size(self):
        self.assertIn("| ours | 0.25 .. 0.5 | 1 | 0.95 | 0.75 +- 0.01 | 0.76 | 21 |\n",
                      self.fill("largest"))

    def test_spread_relative_to_the_optimal_filter(self):
        self.assertIn("| ours | 50.0 % | 50.0 % |\n", self.fill("spread"))

    def test_the_run(self):
        # Both methods took 20, 21 and 22 seconds: the same cells.
        self.assertIn("3 seeds, 1,000 test steps; 2026-01-02, version 0.1.0, GCC 12, avx2, "
                      "2 cells side by side, one thread each: 1 minutes of cells, done in 2. "
                      "Errors: median over seeds (least .. largest).\n", self.fill("run"))

    def test_a_run_beside_other_work_leaves_the_times(self):
        old = ("| method | error | seconds |\n| --- | --- | --- |\n| ours | 0.4 | 7 |\n")
        page = f"<!-- table: linear largest -->\n{old}<!-- end --><!-- table: linear run -->\n<!-- end -->"
        text = filled(page, {"linear": result()}, busy=True)
        self.assertIn("| prediction error, estimated | true | seconds |\n", text)
        self.assertIn("| ours | 0.25 .. 0.5 | 1 | 0.95 | 0.75 +- 0.01 | 0.76 | 7 |\n", text)
        self.assertIn("| kalman-optimal * | 0.25 .. 0.5 | 1 | 0.95 | 0.75 +- 0.01 | 0.76 | - |\n", text)
        self.assertIn("one thread each: beside other work. Errors: ", text)

    def test_other_experiments_stay(self):
        self.assertIn("\nold\n", self.fill("state_mse", "lorenz"))

    def test_figures(self):
        self.assertEqual([figure(v) for v in (None, 0.123456, 1e-5, 105.04, 12345.6)],
                         ["-", "0.1235", "1e-05", "105", "12346"])

    def test_audio_by_noises(self):
        audio = {"experiment": "audio", "methods": [{"name": "ours", "self_supervised": True},
                                                    {"name": "oracle", "self_supervised": False}],
                 "rows": [{"method": "ours", "noise": "tap", "ratio": 0.25, "snr_gain_db": 5.25,
                           "networks_kept": False},
                          {"method": "oracle", "noise": "tap", "ratio": 0.125, "snr_gain_db": 9.0}],
                 "provenance": {"options": {"noises": ["tap", "bike"]}}}
        page = "<!-- table: audio ratio -->\n<!-- end --><!-- table: audio snr_gain_db -->\n<!-- end -->"
        self.assertEqual(filled(page, {"audio": audio}),
                         "<!-- table: audio ratio -->\n| method | tap | bike |\n| --- | --- | --- |\n"
                         "| ours | 0.250 (=) | - |\n| oracle * | 0.125 | - |\n<!-- end -->"
                         "<!-- table: audio snr_gain_db -->\n| method | tap | bike |\n| --- | --- | --- |\n"
                         "| ours | 5.2 (=) | - |\n| oracle * | 9.0 | - |\n<!-- end -->")

    def test_the_page_of_audio_has_its_tables(self):
        found = {(match[2], match[3]) for match in TABLE.finditer((DOCS / "audio.md").read_text())}
        for kind in ("ratio", "mse", "si_sdr_gain_db", "run"):
            self.assertIn(("audio", kind), found)

    def test_the_page_has_tables_of_both_experiments(self):
        found = {(match[2], match[3]) for match in TABLE.finditer((DOCS / "reproduction.md").read_text())}
        for experiment in ("linear", "lorenz"):
            for kind in ("state_mse", "largest", "run"):
                self.assertIn((experiment, kind), found)


if __name__ == "__main__":
    unittest.main()
