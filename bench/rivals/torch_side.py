"""The learned recursive filter in PyTorch, written for speed.

The GRU and the decoder run over all steps at once; Q = L L' and the likelihood are taken out of the loop
over time, which is left with a dozen batched operations. run.py tries the variants (the loop in eager
mode or TorchScript; the innovation covariance by cofactors or by Cholesky; one thread or two) and
times the best. Like Kalmia, the code takes any H and R.
"""

from typing import List, Optional, Tuple

import numpy as np
import torch
from torch import Tensor

from cases import diagonal_positions, split_parameters


def inverse_by_cofactors(S: Tensor) -> Tensor:
    """Inverse of [B, M, M] symmetric matrices, M <= 3."""
    m = S.size(-1)
    if m == 1:
        return 1.0 / S
    if m == 2:
        a, b, d = S[:, 0, 0], S[:, 0, 1], S[:, 1, 1]
        return (torch.stack([d, -b, -b, a], -1) / (a * d - b * b).unsqueeze(-1)).view(S.shape)
    # Rows of the adjugate of a symmetric matrix are the cross products of its other two rows.
    adjugate = torch.cross(S.roll(-1, -2), S.roll(-2, -2), dim=-1)
    return adjugate / (S[:, :1] * adjugate[:, :1]).sum(-1, keepdim=True)


def det_by_cofactors(S: Tensor) -> Tensor:
    """Determinant of [..., M, M] symmetric matrices, M <= 3."""
    m = S.size(-1)
    if m == 1:
        return S[..., 0, 0]
    if m == 2:
        return S[..., 0, 0] * S[..., 1, 1] - S[..., 0, 1] ** 2
    return (S[..., 0, :] * torch.cross(S[..., 1, :], S[..., 2, :], dim=-1)).sum(-1)


def recursion(y: Tensor, F0: Tensor, e: Tensor, Q: Tensor, x: Tensor, P: Tensor, Ht: Tensor,
              R: Tensor, A0: Optional[Tensor], A1: Optional[Tensor], cholesky: bool
              ) -> Tuple[Tensor, Tensor, Tensor, Tensor]:
    """The filter over all steps, for any H and R.

    y [T, B, M], F0 [T-1, B, N, N], e [T-1, B, N], Q [T-1, B, N, N]; x [B, N] and P [B, N, N] are the
    first prediction; Ht is H'. With A0 [N*N] and A1 [N, N*N] the transition is F0 + A + A A / 2,
    A = A0 + A1 x in units of dt; without, it is F0. Returns the innovations, the Cholesky factors
    or the inverses of their covariances, and the filtered means and covariances, time first.
    """
    y_ = y.unbind(0)
    F_, e_, Q_ = F0.unbind(0), e.unsqueeze(-1).unbind(0), Q.unbind(0)
    rs: List[Tensor] = []
    Ss: List[Tensor] = []
    xs: List[Tensor] = []
    Ps: List[Tensor] = []
    for k in range(y.size(0)):
        if k > 0:
            F = F_[k - 1]
            if A0 is not None and A1 is not None:
                A = torch.addmm(A0, x, A1).view_as(F)
                F = torch.baddbmm(F + A, A, A, alpha=0.5)
            x = torch.baddbmm(e_[k - 1], F, x.unsqueeze(-1)).squeeze(-1)
            P = torch.baddbmm(Q_[k - 1], torch.bmm(F, P), F.transpose(1, 2))
        r = y_[k] - torch.mm(x, Ht)
        PH = torch.matmul(P, Ht)
        S = torch.matmul(PH.transpose(1, 2), Ht) + R
        if cholesky:
            S = torch.linalg.cholesky(S)
            K = torch.cholesky_solve(PH.transpose(1, 2), S).transpose(1, 2)
        else:
            S = inverse_by_cofactors(S)
            K = torch.bmm(PH, S)
        x = torch.baddbmm(x.unsqueeze(-1), K, r.unsqueeze(-1)).squeeze(-1)
        P = torch.baddbmm(P, K, PH.transpose(1, 2), alpha=-1.0)
        P = 0.5 * (P + P.transpose(1, 2))  # without it float32 loses positive definiteness
        rs.append(r)
        Ss.append(S)
        xs.append(x)
        Ps.append(P)
    return torch.stack(rs), torch.stack(Ss), torch.stack(xs), torch.stack(Ps)


class Filter(torch.nn.Module):
    """The recursive filter of one case, in one of the variants."""

    def __init__(self, case, params, dtype=torch.float32, script=False, cholesky=False):
        super().__init__()
        n, m, hidden = case["state_dim"], case["meas_dim"], case["hidden"]
        self.n, self.m = n, m
        arrays = {key: torch.tensor(np.array(value), dtype=dtype)
                  for key, value in split_parameters(case, params).items()}
        self.gru = torch.nn.GRU(m, hidden).to(dtype)
        with torch.no_grad():
            self.gru.weight_ih_l0.copy_(arrays["gru_fwd.weight_ih"])
            self.gru.weight_hh_l0.copy_(arrays["gru_fwd.weight_hh"])
            self.gru.bias_ih_l0.copy_(arrays["gru_fwd.bias_ih"])
            self.gru.bias_hh_l0.copy_(arrays["gru_fwd.bias_hh"])
        self.weight0 = torch.nn.Parameter(arrays["decoder.0.weight"])
        self.bias0 = torch.nn.Parameter(arrays["decoder.0.bias"])
        self.weight1 = torch.nn.Parameter(arrays["decoder.1.weight"])
        self.bias1 = torch.nn.Parameter(arrays["decoder.1.bias"])
        self.initial_e = torch.nn.Parameter(arrays["initial.e"])
        self.initial_L = torch.nn.Parameter(arrays["initial.L"])

        self.R = torch.tensor(case["R"], dtype=dtype).view(m, m)
        self.Ht = torch.tensor(case["H"], dtype=dtype).view(m, n).t().contiguous()
        # L as a matrix: take each entry from [packed, 0] by this index.
        place = torch.full((n, n), n * (n + 1) // 2, dtype=torch.long)
        place[tuple(torch.tril_indices(n, n))] = torch.arange(n * (n + 1) // 2)
        self.place = place.view(-1)
        self.diagonal = torch.zeros(n * (n + 1) // 2, dtype=torch.bool)
        self.diagonal[diagonal_positions(n)] = True

        if case["map"]["kind"] == "lorenz":
            assert case["map"]["order"] == 2
            sigma, rho, beta, dt = (case["map"][key] for key in ("sigma", "rho", "beta", "dt"))
            self.base = torch.eye(3, dtype=dtype)
            self.A0 = dt * torch.tensor([-sigma, sigma, 0, rho, -1, 0, 0, 0, -beta], dtype=dtype)
            self.A1 = torch.zeros(3, 9, dtype=dtype)
            self.A1[2, 3] = -dt  # rho - x3
            self.A1[1, 6] = dt   # x2
        else:
            self.base = torch.tensor(case["map"]["F"], dtype=dtype).view(n, n)
            self.A0 = self.A1 = None
        self.loop = torch.jit.script(recursion) if script else recursion
        self.cholesky = cholesky or m > 3

    def ordered_parameters(self):
        """In the order of params.bin."""
        gru = self.gru
        return [gru.weight_ih_l0, gru.weight_hh_l0, gru.bias_ih_l0, gru.bias_hh_l0, self.weight0,
                self.bias0, self.weight1, self.bias1, self.initial_e, self.initial_L]

    def covariance_factor(self, packed):
        """Packed rows [..., N(N+1)/2] with softplus on the diagonal, as matrices."""
        packed = torch.where(self.diagonal, torch.nn.functional.softplus(packed), packed)
        padded = torch.nn.functional.pad(packed, (0, 1))
        return padded.index_select(-1, self.place).view(*packed.shape[:-1], self.n, self.n)

    def moments(self, y):
        """What `recursion` returns, for y [T, B, M]."""
        n, batch = self.n, y.size(1)
        h, _ = self.gru(y[:-1])
        hidden = torch.relu(torch.nn.functional.linear(h, self.weight0, self.bias0))
        out = torch.nn.functional.linear(hidden, self.weight1, self.bias1)
        dF, e, packed = out.split([n * n, n, n * (n + 1) // 2], dim=-1)
        F = dF.reshape(*dF.shape[:-1], n, n) + self.base
        L = self.covariance_factor(packed)
        Q = L @ L.transpose(-1, -2)
        L0 = self.covariance_factor(self.initial_L)
        x0 = self.initial_e.expand(batch, n)
        P0 = (L0 @ L0.t()).expand(batch, n, n)
        return self.loop(y, F, e, Q, x0, P0, self.Ht, self.R, self.A0, self.A1,
                         self.cholesky)

    def loss(self, y):
        r, S, _, _ = self.moments(y)
        r = r.unsqueeze(-1)
        if self.cholesky:
            u = torch.linalg.solve_triangular(S, r, upper=False)
            logdet = 2 * S.diagonal(dim1=-2, dim2=-1).log().sum(-1)
            return (logdet + (u * u).sum((-1, -2))).mean()
        return ((r * (S @ r)).sum((-1, -2)) - det_by_cofactors(S).log()).mean()


def time_first(y, dtype=torch.float32):
    """[batch][time][M] as a contiguous tensor [T, B, M]."""
    return torch.tensor(y).to(dtype).transpose(0, 1).contiguous()


def first_step(case, y, params, dtype=torch.float32):
    """Loss and gradients, as one flat array, at the given weights."""
    model = Filter(case, params, dtype)
    loss = model.loss(time_first(y, dtype))
    loss.backward()
    grads = np.concatenate([p.grad.numpy().ravel() for p in model.ordered_parameters()])
    return loss.item(), grads


def variants(case):
    """What is tried: keyword arguments of `Trainer` and `Inference`."""
    methods = (False, True) if 1 < case["meas_dim"] <= 3 else (case["meas_dim"] > 3,)
    return [{"script": script, "cholesky": cholesky, "threads": threads}
            for threads in (2, 1) for script in (False, True) for cholesky in methods]


def describe(case, script, cholesky, threads):
    parts = ["PyTorch", "TorchScript" if script else "eager", f"batch {case['batch']}"]
    if case["meas_dim"] > 1:
        parts.append("Cholesky" if cholesky else "cofactors")
    return ", ".join(parts + ["1 thread" if threads == 1 else f"{threads} threads"])


class Trainer:
    """Calling it is one training iteration: forward, backward, clip, Adam."""

    def __init__(self, case, y, params, script, cholesky, threads):
        self.threads = threads
        self.model = Filter(case, params, script=script, cholesky=cholesky)
        self.parameters = self.model.ordered_parameters()
        self.optimizer = torch.optim.Adam(self.parameters, lr=case["learning_rate"])
        self.clip = case["clip"]
        self.y = time_first(y)
        self.steps = case["batch"] * case["window"]
        self.setting = describe(case, script, cholesky, threads)

    def __call__(self):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model.loss(self.y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.optimizer.step()
        return loss


class Inference:
    """Calling it filters the whole batch once and keeps means and covariances."""

    def __init__(self, case, y, params, script, cholesky, threads):
        self.threads = threads
        self.model = Filter(case, params, script=script, cholesky=cholesky)
        self.y = time_first(y)
        self.steps = case["batch"] * case["window"]
        self.setting = describe(case, script, cholesky, threads)

    def __call__(self):
        with torch.inference_mode():
            _, _, x, P = self.model.moments(self.y)
        return x, P

    def results(self):
        """Filtered means and covariances as float64 [batch][time]..."""
        x, P = self()
        return x.transpose(0, 1).double().numpy(), P.transpose(0, 1).double().numpy()


class Step(torch.nn.Module):
    """One step of the Lorenz filter (H = I) for one sequence, with the weights laid out for it: the
    decoder puts L out as a full matrix, so that nothing is rearranged in the step."""

    def __init__(self, model):
        super().__init__()
        n = model.n
        gru = model.gru
        for name, tensor in {"weight_ih": gru.weight_ih_l0, "weight_hh": gru.weight_hh_l0,
                             "bias_ih": gru.bias_ih_l0, "bias_hh": gru.bias_hh_l0,
                             "weight0": model.weight0, "bias0": model.bias0}.items():
            self.register_buffer(name, tensor.detach().clone())
        rows = torch.cat([torch.arange(n * n + n), n * n + n + model.place])
        padded = torch.nn.functional.pad
        weight1 = padded(model.weight1.detach(), (0, 0, 0, 1)).index_select(0, rows)
        bias1 = padded(model.bias1.detach(), (0, 1)).index_select(0, rows)
        bias1[:n * n] += model.base.reshape(-1)
        self.register_buffer("weight1", weight1.contiguous())
        self.register_buffer("bias1", bias1)
        self.register_buffer("diagonal", torch.eye(n, dtype=torch.bool))
        self.register_buffer("R", model.R)
        self.register_buffer("A0", model.A0)
        self.register_buffer("A1t", model.A1.t().contiguous())
        self.n = n

    def forward(self, previous: Tensor, y: Tensor, h: Tensor, x: Tensor, P: Tensor
                ) -> Tuple[Tensor, Tensor, Tensor]:
        """(y[k-1], y[k], state) -> state; y [1, N], h [1, hidden], x [N], P [N, N]."""
        n = self.n
        h = torch.gru_cell(previous, h, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        hidden = torch.relu(torch.addmv(self.bias0, self.weight0, h[0]))
        dF, e, L = torch.addmv(self.bias1, self.weight1, hidden).split([n * n, n, n * n])
        L = L.view(n, n)
        L = torch.where(self.diagonal, torch.nn.functional.softplus(L), L)
        A = torch.addmv(self.A0, self.A1t, x).view(n, n)
        F = torch.addmm(dF.view(n, n) + A, A, A, alpha=0.5)
        x = torch.addmv(e, F, x)
        P = torch.addmm(L.mm(L.t()), F.mm(P), F.t())
        # P (P + R)^-1 = ((P + R)^-1 P)' since both are symmetric.
        C, _ = torch.linalg.cholesky_ex(P + self.R)
        K = torch.cholesky_solve(P, C).t()
        x = torch.addmv(x, K, y[0] - x)
        P = torch.addmm(P, K, P, alpha=-1.0)
        return h, x, 0.5 * (P + P.t())


class Stream:
    """Calling it filters one sequence step by step; returns the last mean and covariance."""

    def __init__(self, case, y, params, compiled):
        self.threads = 1  # one step is too small to share
        model = Filter(case, params)
        assert model.Ht.equal(torch.eye(model.n))
        self.step = Step(model).eval()
        if compiled:
            self.step = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.script(self.step)))
        measurements = torch.tensor(y[0], dtype=torch.float32).unsqueeze(1)
        self.y = list(measurements.unbind(0))
        with torch.inference_mode():
            _, _, x, P = model.moments(measurements[:2])
        self.start = torch.zeros(1, case["hidden"]), x[0, 0], P[0, 0]
        self.steps = case["window"]
        self.setting = "PyTorch, " + ("frozen TorchScript" if compiled else "eager") + ", 1 thread"

    def __call__(self):
        y, step = self.y, self.step
        h, x, P = self.start
        with torch.inference_mode():
            for k in range(1, len(y)):
                h, x, P = step(y[k - 1], y[k], h, x, P)
        return x, P

    def results(self):
        return tuple(moment.double().numpy() for moment in self())
