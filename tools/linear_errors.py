#!/usr/bin/python3
"""Prints the errors of Kalman filters on the paper's linear system, exactly: the figures of
docs/errata.md, item 2.

usage: tools/linear_errors.py

Mean squares over all states of one direction, filtered, once nothing changes any more; no data are
drawn. The first-order filter has the map I + A and the process noise of least error among all
covariances, as `kalman-first-order` of `kalmia reproduce linear`. Needs NumPy.
"""

import numpy as np

C, TAU = 0.06, 0.17
Q = 0.01 * np.diag([1 / 3, 1, 3])
R = 0.25  # of the position, which is what is measured


def matrix(printed):
    """A of dx = A x dt; position, velocity, acceleration."""
    return np.array([[0, 1, 0], [0, -C, 1], [0, -TAU * C if printed else -TAU, 0]])


def exponential(A):
    """exp A by its series, for a small A."""
    total = term = np.eye(len(A))
    for n in range(1, 40):
        term = term @ A / n
        total = total + term
    return total


def sum_of_powers(G, S):
    """X = G X G' + S, by doubling."""
    for _ in range(40):
        S, G = S + G @ S @ G.T, G @ G
    return S


def gain(F, noise):
    """The gain that a filter with this map and process noise ends with."""
    P, K = np.eye(3), np.zeros((3, 1))
    for _ in range(10000):
        P = F @ P @ F.T + noise
        before, K = K, P[:, :1] / (P[0, 0] + R)
        P = P - K @ P[:1]
        if abs(K - before).max() < 1e-12:
            break
    return K


def errors(F, map_of_filter, noise):
    """Mean squares of position, velocity and acceleration. F is the system's own map.

    The error e = x - x_filt moves with u, the true velocity and acceleration, since the filter's
    map is wrong about them:

        e' = (I - K H) (F_filter e + (F - F_filter) x + w) - K r,   u' = F u + w.
    """
    K = gain(map_of_filter, noise)
    W = np.eye(3)
    W[:, :1] -= K
    G = np.zeros((5, 5))
    G[:3, :3] = W @ map_of_filter
    G[:3, 3:] = W @ (F - map_of_filter)[:, 1:]  # nothing depends on the position itself
    G[3:, 3:] = F[1:, 1:]
    if abs(np.linalg.eigvals(G)).max() >= 1:
        return np.full(3, np.inf)
    enters = np.vstack([W, np.eye(3)[1:]])
    S = enters @ Q @ enters.T
    S[:3, :3] += R * K @ K.T
    return np.diag(sum_of_powers(G, S))[:3]


def covariance(v):
    """D U U' D, D = diag(exp v0, exp v1, exp v2), U = [1, 0, 0; v3, 1, 0; v4, v5, 1]."""
    L = np.diag(np.exp(v[:3])) @ np.array([[1, 0, 0], [v[3], 1, 0], [v[4], v[5], 1]])
    return L @ L.T


def minimum(value, x):
    """The least value found from x on, by BFGS with central differences."""
    def gradient(at):
        return np.array([value(at + 1e-4 * e) - value(at - 1e-4 * e) for e in np.eye(len(x))]) / 2e-4

    least, slope, B = value(x), gradient(x), np.eye(len(x))
    for _ in range(100):
        step = -B @ slope
        step /= max(1, abs(step).max())
        while value(x + step) >= least and abs(step).max() > 1e-9:
            step = step / 2
        if value(x + step) >= least:
            break
        x = x + step
        least, change, slope = value(x), gradient(x) - slope, gradient(x)
        if step @ change > 0:
            V = np.eye(len(x)) - np.outer(step, change) / (step @ change)
            B = V @ B @ V.T + np.outer(step, step) / (step @ change)
    return least


def first_order_error(F, first):
    """The least error over all covariances."""
    def error(v):
        return errors(F, first, covariance(v)).mean()

    starts = [np.array([0.5 * np.log(q)] * 3 + [0.0] * 3) for q in 10.0 ** np.arange(-4, 2)]
    return minimum(error, min(starts, key=error))


def figures(printed):
    A = matrix(printed)
    F = exponential(A)
    best = errors(F, F, Q)
    spread = np.diag(sum_of_powers(F[1:, 1:], Q[1:, 1:]))
    return {"optimal filter": best.mean(),
            "first-order filter": first_order_error(F, np.eye(3) + A),
            "positions of the optimal filter, 0 for the rest": (best[0] + spread.sum()) / 3}


def main():
    for printed in (False, True):
        print(f"entry (3, 2) of A: {'-tau c, as printed' if printed else '-tau'}")
        for name, error in figures(printed).items():
            print(f"  {name:48} {error:.4f}")


if __name__ == "__main__":
    main()
