"""Shows that tools/linear_errors.py computes the errors of filters on the paper's linear system."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(0)
from linear_errors import Q, R, errors, exponential, figures, gain, matrix  # noqa: E402

ERRATA = Path(__file__).parents[2] / "docs/errata.md"


class LinearErrors(unittest.TestCase):
    def test_the_optimal_filter_has_the_error_that_it_states(self):
        F = exponential(matrix(False))
        P = np.eye(3)
        for _ in range(1000):
            P = F @ P @ F.T + Q
            P = P - np.outer(P[:, 0], P[0]) / (P[0, 0] + R)
        self.assertLess(abs(errors(F, F, Q) - np.diag(P)).max(), 1e-9)

    def test_a_wrong_map_has_the_error_of_a_simulation(self):
        A = matrix(False)
        F, first, noise = exponential(A), np.eye(3) + A, 0.036 * np.eye(3)
        K = gain(first, noise)[:, 0]
        random = np.random.default_rng(1)
        series, steps = 400, 400
        x, filtered = np.zeros((series, 3)), np.zeros((series, 3))
        total = np.zeros(3)
        for k in range(2 * steps):
            x = x @ F.T + random.normal(size=(series, 3)) * np.sqrt(np.diag(Q))
            filtered = filtered @ first.T
            y = x[:, 0] + random.normal(size=series) * np.sqrt(R)
            filtered += np.outer(y - filtered[:, 0], K)
            if k >= steps:
                total += ((x - filtered) ** 2).mean(0) / steps
        expected = errors(F, first, noise)
        self.assertLess(abs(total / expected - 1).max(), 0.02)

    def test_a_filter_that_loses_its_way_has_no_error(self):
        F = exponential(matrix(False))
        self.assertTrue(np.isinf(errors(F, 2 * np.eye(3), 1e-9 * np.eye(3))).all())

    def test_the_page_has_its_figures(self):
        text = ERRATA.read_text(encoding="ascii")
        for printed in (False, True):
            found = list(figures(printed).values())
            for each in found[:2]:
                self.assertIn(f"{each:.4f}", text)
            self.assertIn(f"{found[2]:.3f}" if not printed else f"{found[2]:.1f}", text)
        # No single number does better than the covariance.
        A = matrix(False)
        F = exponential(A)
        single = min(errors(F, np.eye(3) + A, q * np.eye(3)).mean() for q in (0.02, 0.036, 0.06))
        self.assertLess(figures(False)["first-order filter"], single)


if __name__ == "__main__":
    unittest.main()
