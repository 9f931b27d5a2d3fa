"""The classical Kalman filter of statsmodels (one series) and in NumPy (many series)."""

import numpy as np
from statsmodels.tsa.statespace import kalman_filter as sm


class Statsmodels:
    """Calling it filters the one series of a case; means, covariances and likelihood are kept.

    The conventional filter. Only filtered moments and the summed likelihood are stored, which is the
    fastest setting; statsmodels' default tolerance stays, by which it stops computing covariances once
    they have converged.
    """

    def __init__(self, case, y):
        n, m, self.steps = case["state_dim"], case["meas_dim"], case["steps"]
        kf = sm.KalmanFilter(k_endog=m, k_states=n)
        kf.bind(np.asfortranarray(y[0].T))
        kf["design"] = np.reshape(case["H"], (m, n))
        kf["obs_cov"] = np.reshape(case["R"], (m, m))
        kf["transition"] = np.reshape(case["F"], (n, n))
        kf["selection"] = np.eye(n)
        kf["state_cov"] = np.reshape(case["Q"], (n, n))
        kf.initialize_known(np.array(case["x0"]), np.reshape(case["P0"], (n, n)))
        kf.set_filter_method(sm.FILTER_CONVENTIONAL)
        kf.set_conserve_memory(sm.MEMORY_NO_FORECAST | sm.MEMORY_NO_PREDICTED | sm.MEMORY_NO_GAIN
                               | sm.MEMORY_NO_SMOOTHING | sm.MEMORY_NO_LIKELIHOOD
                               | sm.MEMORY_NO_STD_FORECAST)
        self.filter = kf
        self.threads = 1
        self.setting = "statsmodels, conventional filter, storing filtered moments only"

    def __call__(self):
        return self.filter.filter()

    def results(self):
        done = self()
        return (np.ascontiguousarray(done.filtered_state.T)[None],
                np.ascontiguousarray(done.filtered_state_cov.transpose(2, 0, 1))[None],
                np.array([done.llf]))


class NumpyBatch:
    """Calling it filters all series of a case at once, in the manner of simdkalman: a loop over time,
    every operation over the series axis. Means, covariances and likelihood are kept.

    Two measurements: the innovation covariance is inverted in closed form. Small products over many
    series are matmul where one factor is shared (one BLAS product), and stacked matmul otherwise.
    """

    def __init__(self, case, y):
        n, m = case["state_dim"], case["meas_dim"]
        assert m == 2
        self.F = np.reshape(case["F"], (n, n))
        self.Q = np.reshape(case["Q"], (n, n))
        self.H = np.reshape(case["H"], (m, n))
        self.R = np.reshape(case["R"], (m, m))
        self.x0, self.P0 = np.array(case["x0"]), np.reshape(case["P0"], (n, n))
        self.y = np.ascontiguousarray(y.transpose(1, 0, 2))  # time first
        self.steps = y.shape[0] * y.shape[1]
        self.means = np.empty((y.shape[1], y.shape[0], n))  # filled again by each call
        self.covs = np.empty((y.shape[1], y.shape[0], n, n))
        self.threads = 2
        self.setting = "NumPy, all series at once"

    def __call__(self):
        F, Q, H, R, y = self.F, self.Q, self.H, self.R, self.y
        steps, series, m = y.shape
        n = len(F)
        Ft, Ht = np.ascontiguousarray(F.T), np.ascontiguousarray(H.T)
        means, covs = self.means, self.covs
        x = np.broadcast_to(self.x0, (series, n))
        P = np.broadcast_to(self.P0, (series, n, n))
        loglik = np.zeros(series)
        B = np.empty((series, 2, 2))
        for k in range(steps):
            r = y[k] - x @ Ht
            PH = P.reshape(-1, n) @ Ht
            PH = PH.reshape(series, n, m)
            S = H @ PH + R
            a, b, d = S[:, 0, 0], S[:, 0, 1], S[:, 1, 1]
            det = a * d - b * b
            B[:, 0, 0], B[:, 1, 1] = d / det, a / det
            B[:, 0, 1] = B[:, 1, 0] = -b / det
            K = PH @ B
            u = np.einsum("sij,sj->si", B, r)
            loglik += np.log(det) + np.einsum("si,si->s", r, u)
            x = means[k] = x + np.einsum("sij,sj->si", K, r)
            P = P - K @ PH.transpose(0, 2, 1)
            P = covs[k] = 0.5 * (P + P.transpose(0, 2, 1))
            x = x @ Ft
            P = F @ (P.reshape(-1, n) @ Ft).reshape(series, n, n) + Q
        loglik = -0.5 * (loglik + steps * m * np.log(2 * np.pi))
        return means, covs, loglik

    def results(self):
        means, covs, loglik = self()
        return means.transpose(1, 0, 2), covs.transpose(1, 0, 2, 3), loglik
