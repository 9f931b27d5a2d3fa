"""The cases of the comparison: models, weights and data, all from fixed seeds.

A case directory holds case.json and raw little-endian arrays; README.md lists them. Both sides read
the same files.
"""

import json
import zlib

import numpy as np

HIDDEN = 64
DECODER_HIDDEN = 64
LORENZ = {"sigma": 10.0, "rho": 28.0, "beta": 8.0 / 3.0, "dt": 0.05}


def rng(name):
    return np.random.default_rng(zlib.crc32(name.encode()))


# Data: float64 [batch][time][M].

def lorenz_derivative(x):
    x1, x2, x3 = x.T
    return np.stack([LORENZ["sigma"] * (x2 - x1), x1 * (LORENZ["rho"] - x3) - x2,
                     x1 * x2 - LORENZ["beta"] * x3], axis=-1)


def lorenz_data(batch, steps):
    """Noisy Lorenz trajectories, one per sequence, by RK4 with 50 steps between measurements."""
    random = rng("lorenz data")
    substeps = 50
    h = LORENZ["dt"] / substeps

    def advance(x):
        for _ in range(substeps):
            k1 = lorenz_derivative(x)
            k2 = lorenz_derivative(x + h / 2 * k1)
            k3 = lorenz_derivative(x + h / 2 * k2)
            k4 = lorenz_derivative(x + h * k3)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return x

    x = np.array([1.0, 1.0, 25.0]) + random.standard_normal((batch, 3))
    for _ in range(60):  # onto the attractor
        x = advance(x)
    y = np.empty((batch, steps, 3))
    for k in range(steps):
        y[:, k] = x
        x = advance(x)
    return y + 0.5 * random.standard_normal(y.shape)


def axis_dynamics():
    """The paper's linear system for one axis: [position, velocity, acceleration]."""
    c, tau = 0.06, 0.17
    return np.array([[0, 1, 0], [0, -c, 1], [0, -tau, 0]], dtype=float)


def matrix_exponential(A):
    """By the Taylor series; fine for the small matrix it is used for."""
    total, term = np.eye(len(A)), np.eye(len(A))
    for n in range(1, 30):
        term = term @ A / n
        total = total + term
    return total


def two_axes(block):
    return np.kron(np.eye(2), block)


LINEAR_H = np.eye(6)[[0, 3]]
LINEAR_Q = two_axes(0.01 * np.diag([1 / 3, 1, 3]))


def linear_data(batch, steps, name="linear data"):
    """Noisy positions of the linear system, each sequence starting near rest."""
    random = rng(name)
    F = two_axes(matrix_exponential(axis_dynamics()))
    deviation = np.sqrt(np.diag(LINEAR_Q))
    x = random.standard_normal((batch, 6))
    y = np.empty((batch, steps, 2))
    for k in range(steps):
        y[:, k] = x @ LINEAR_H.T
        x = x @ F.T + deviation * random.standard_normal((batch, 6))
    return y + 0.5 * random.standard_normal(y.shape)


def audio_data(batch, steps):
    """Sums of three sinusoids of unit variance, plus noise."""
    random = rng("audio data")
    time = np.arange(steps)
    frequency = random.uniform(0.01, 0.4, (batch, 3, 1))
    phase = random.uniform(0, 2 * np.pi, (batch, 3, 1))
    clean = np.sqrt(2 / 3) * np.sin(frequency * time + phase).sum(axis=1)
    return (clean + 0.5 * random.standard_normal(clean.shape))[:, :, None]


# Models.

def shift_matrix(n):
    F = np.eye(n, k=-1)
    F[0, 0] = 0.9
    return F


def learned_models():
    """Everything of case.json that describes the learned filters."""
    linear = {"kind": "linear", "F": (np.eye(6) + two_axes(axis_dynamics())).ravel().tolist()}
    audio = {"kind": "linear", "F": shift_matrix(16).ravel().tolist()}
    return {
        "lorenz": {"state_dim": 3, "meas_dim": 3, "window": 128,
                   "map": {"kind": "lorenz", **LORENZ, "order": 2},
                   "H": np.eye(3).ravel().tolist(), "R": (0.25 * np.eye(3)).ravel().tolist()},
        "linear": {"state_dim": 6, "meas_dim": 2, "window": 128, "map": linear,
                   "H": LINEAR_H.ravel().tolist(), "R": (0.25 * np.eye(2)).ravel().tolist()},
        "audio": {"state_dim": 16, "meas_dim": 1, "window": 256, "map": audio,
                  "H": np.eye(16)[0].tolist(), "R": [0.25]},
    }


DATA = {"lorenz": lorenz_data, "linear": linear_data, "audio": audio_data}


def parameter_shapes(model):
    """Names and shapes in the order of params.bin and grads.bin."""
    n, m = model["state_dim"], model["meas_dim"]
    hidden, decoder = model["hidden"], model["decoder_hidden"]
    out = n * n + n + n * (n + 1) // 2
    return [("gru_fwd.weight_ih", (3 * hidden, m)), ("gru_fwd.weight_hh", (3 * hidden, hidden)),
            ("gru_fwd.bias_ih", (3 * hidden,)), ("gru_fwd.bias_hh", (3 * hidden,)),
            ("decoder.0.weight", (decoder, hidden)), ("decoder.0.bias", (decoder,)),
            ("decoder.1.weight", (out, decoder)), ("decoder.1.bias", (out,)),
            ("initial.e", (n,)), ("initial.L", (n * (n + 1) // 2,))]


def split_parameters(model, flat):
    arrays, at = {}, 0
    for name, shape in parameter_shapes(model):
        size = int(np.prod(shape))
        arrays[name] = flat[at:at + size].reshape(shape)
        at += size
    assert at == flat.size, f"{flat.size} parameters, but the model has {at}"
    return arrays


def diagonal_positions(n):
    """Where the diagonal of an n x n lower triangle packed by rows stands."""
    return [i * (i + 3) // 2 for i in range(n)]


def initial_parameters(name, model):
    """PyTorch-like uniform weights; a last layer that begins small; softplus of the diagonals 0.3."""
    random = rng(name + " weights")
    n = model["state_dim"]
    bound = {"gru_fwd": 1 / np.sqrt(model["hidden"]), "decoder.0": 1 / np.sqrt(model["hidden"]),
             "decoder.1": 0.05 / np.sqrt(model["decoder_hidden"])}
    diagonal = np.log(np.expm1(0.3))
    parts = {}
    for key, shape in parameter_shapes(model):
        scale = bound.get(key.rsplit(".", 1)[0], 0.0)
        parts[key] = random.uniform(-scale, scale, shape)
    if name == "lorenz":  # measurements of size 20 would otherwise saturate the gates
        parts["gru_fwd.weight_ih"] *= 0.2
    parts["decoder.1.bias"][n * n + n + np.array(diagonal_positions(n))] += diagonal
    parts["initial.e"] = 0.1 * random.standard_normal(n)
    if name == "lorenz":
        parts["initial.e"] += [0, 0, 25]
    spread = 3.0 if name == "lorenz" else 1.5  # of the first state
    parts["initial.L"][diagonal_positions(n)] = spread
    return np.concatenate([parts[key].ravel() for key, _ in parameter_shapes(model)]).astype("<f4")


def write(directory, case, **arrays):
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("*"):
        if old.is_file():
            old.unlink()
    (directory / "case.json").write_text(json.dumps(case, indent=1) + "\n")
    for name, array in arrays.items():
        array.tofile(directory / f"{name}.bin")


_data = {}


def learned_case(directory, kind, name, batch, steps=None):
    """Writes a case of the learned filter; returns (case, y, params)."""
    model = {"kind": kind, **learned_models()[name], "hidden": HIDDEN,
             "decoder_hidden": DECODER_HIDDEN, "batch": batch, "threads": 2}
    if steps is not None:
        model["window"] = steps
    if kind == "train":
        model.update(learning_rate=1e-3, clip=1.0)
    key = (name, model["window"])
    if key not in _data or len(_data[key]) < batch:
        # Drawn for the largest batch at once: a smaller batch is the beginning of a larger one.
        _data[key] = DATA[name](1024 if steps is None and name == "lorenz" else batch,
                                model["window"])
    y = np.ascontiguousarray(_data[key][:batch]).astype("<f8")
    params = initial_parameters(name, model)
    write(directory, model, y=y, params=params)
    return model, y, params


def kf_case(directory, series, steps):
    """Writes a case of the classical filter; returns (case, y)."""
    case = {"kind": "kf", "state_dim": 6, "meas_dim": 2, "series": series, "steps": steps,
            "F": two_axes(matrix_exponential(axis_dynamics())).ravel().tolist(),
            "Q": LINEAR_Q.ravel().tolist(), "H": LINEAR_H.ravel().tolist(),
            "R": (0.25 * np.eye(2)).ravel().tolist(),
            "x0": [0.0] * 6, "P0": np.eye(6).ravel().tolist(), "threads": 2}
    y = linear_data(series, steps, "kf data").astype("<f8")
    write(directory, case, y=y)
    return case, y
