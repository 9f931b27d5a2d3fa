// The learned models once more, batched and differentiated by LibTorch: an oracle that shares no
// code with the engine or the reference. float64 throughout.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/batch.hpp"

namespace kalmia::test {

using torch::Tensor;

/// x (batch x N) -> F (batch x N x N), e (batch x N).
using TorchMap = std::function<std::pair<Tensor, Tensor>(const Tensor& x)>;

/// The first `batch` lanes of a lane group.
struct TorchData {
  Tensor input_fwd, input_bwd, y, centre;  // steps x batch x rows
  Tensor seen;                             // steps x batch x M, 1 or 0
  Tensor length;                           // batch
  Tensor fresh;                            // batch x 1, bool
  Tensor h, x, P;                          // leaves: what the lanes carry into the window; h is
                                           // the state of the encoder
};

struct TorchModel {
  std::map<std::string, Tensor> parameters;  // leaves, by the engine's names and shapes
  Tensor H, R;                               // R is a leaf
  TorchMap map;                              // empty: none
  bool recursive = true, diagonal = false, two_sided = false;
  nn::EncoderKind encoder = nn::EncoderKind::Gru;
  int layers = 0;  // of the decoder
};

struct TorchMoments {
  Tensor x_pred, P_pred, x_filt, P_filt, nll;  // steps x batch x ...
  Tensor h, x, P;                              // after each lane's last step
  Tensor loss;
};

/// A panel [step][row][lane] as steps x batch x rows.
template <typename T>
Tensor panel_tensor(const T* data, int steps, int rows, int lanes, int batch) {
  std::vector<double> values(data, data + static_cast<std::ptrdiff_t>(steps) * rows * lanes);
  return torch::from_blob(values.data(), {steps, rows, lanes}, torch::kFloat64)
      .permute({0, 2, 1})
      .slice(1, 0, batch)
      .contiguous()
      .clone();
}

inline Tensor leaf(const Tensor& value) { return value.detach().clone().requires_grad_(true); }

template <typename T>
TorchModel torch_model(const heads::Architecture& architecture, const Buffer<T>& parameters,
                       const kalman::Emission& emission, TorchMap map) {
  TorchModel model;
  for (const nn::ParameterView& view : architecture.parameters.views()) {
    Tensor value =
        panel_tensor(parameters.data() + view.offset, 1, view.rows, view.cols, view.cols)[0].t();
    model.parameters[view.name] = leaf(view.cols == 1 ? value.reshape({view.rows}) : value);
  }
  const int N = architecture.state_dim(), M = architecture.meas_dim();
  model.H = panel_tensor(emission.H().data(), 1, M, N, N)[0].t().contiguous();
  model.R = leaf(panel_tensor(emission.R().data(), 1, M, M, M)[0]);
  model.map = std::move(map);
  model.recursive = architecture.options.recursive();
  model.diagonal = architecture.options.head == heads::HeadKind::Diagonal;
  model.two_sided = architecture.options.two_sided;
  model.encoder = architecture.options.encoder;
  model.layers = architecture.decoder.layers();
  return model;
}

template <typename T>
TorchData torch_data(const heads::Architecture& architecture, const heads::StateGroup<T>& group,
                     int batch) {
  const int N = architecture.state_dim(), M = architecture.meas_dim();
  const int inputs = architecture.options.input_dim;
  const auto panel = [&](const auto& buffer, int steps, int rows) {
    return panel_tensor(buffer.data(), steps, rows, group.lanes, batch);
  };
  TorchData data;
  data.input_fwd = panel(group.input_fwd, group.steps, inputs);
  if (!group.input_bwd.empty()) data.input_bwd = panel(group.input_bwd, group.steps, inputs);
  data.seen = torch::ones({group.steps, batch, M}, torch::kFloat64);
  if (!group.observed.empty()) data.seen = panel(group.observed, group.steps, M);
  data.y = torch::where(data.seen > 0, panel(group.y, group.steps, M),
                        torch::zeros({1}, torch::kFloat64));
  if (!group.centre.empty()) data.centre = panel(group.centre, group.steps, N);
  data.length = torch::full({batch}, group.steps, torch::kInt64);
  for (int lane = 0; lane < batch && !group.length.empty(); ++lane)
    data.length[lane] = group.length[static_cast<std::size_t>(lane)];
  data.fresh = torch::ones({batch, 1}, torch::kBool);
  for (int lane = 0; lane < batch && !group.fresh.empty(); ++lane)
    data.fresh[lane][0] = group.fresh[static_cast<std::size_t>(lane)] != 0;
  data.h = leaf(panel(group.carry.h, 1, architecture.encoder_state_rows())[0]);
  data.x = leaf(panel(group.carry.x, 1, N)[0]);
  data.P = leaf(panel(group.carry.P, 1, N * N)[0].reshape({batch, N, N}));
  return data;
}

/// batch x N (N + 1) / 2 -> batch x N x N, lower triangular with softplus on the diagonal.
inline Tensor torch_triangle(const Tensor& packed, std::int64_t N) {
  using torch::indexing::Slice;
  const Tensor where = torch::tril_indices(N, N);
  Tensor L = torch::zeros({packed.size(0), N, N}, torch::kFloat64);
  L.index_put_({Slice(), where[0], where[1]}, packed);
  const Tensor diagonal = torch::nn::functional::softplus(L.diagonal(0, -2, -1));
  return L.tril(-1) + torch::diag_embed(diagonal);
}

/// One step of a transformer: h, and its state after it. `parameter` gives its parameters by name.
template <typename Parameter>
std::pair<Tensor, Tensor> torch_transformer(const Parameter& parameter, const Tensor& input,
                                            const Tensor& state) {
  const Tensor u = torch::linear(input, parameter("embed.weight"), parameter("embed.bias"));
  const Tensor position = parameter("position");
  const std::int64_t batch = u.size(0), H = u.size(1);
  const std::int64_t heads = position.size(0), taps = position.size(1), d = H / heads;
  const auto norm = [&](const Tensor& v) { return torch::layer_norm(v, {H}, {}, {}, 1e-5); };
  const auto by_heads = [&](const Tensor& of, std::int64_t steps) {
    return of.reshape({batch, steps, heads, d}).permute({0, 2, 1, 3});
  };
  const Tensor q = torch::linear(norm(u), parameter("query.weight"), parameter("query.bias"));
  const Tensor slots = torch::cat({state, torch::linear(norm(u), parameter("key_value.weight")),
                                   torch::ones({batch, 1}, torch::kFloat64)},
                                  1);
  const Tensor newest_first = slots.reshape({batch, taps, 2 * H + 1}).flip(1);
  const Tensor keys = by_heads(newest_first.slice(2, 0, H), taps);
  const Tensor values = by_heads(newest_first.slice(2, H, 2 * H), taps);
  const Tensor missing = (newest_first.select(2, 2 * H) == 0).reshape({batch, 1, 1, taps});
  Tensor scores =
      torch::matmul(by_heads(q, 1), keys.transpose(-1, -2)) / std::sqrt(static_cast<double>(d)) +
      position.unsqueeze(1);
  scores = scores.masked_fill(missing, -std::numeric_limits<double>::infinity());
  const Tensor heard = torch::matmul(torch::softmax(scores, -1), values).reshape({batch, H});
  const Tensor r = u + torch::linear(heard, parameter("output.weight"), parameter("output.bias"));
  const Tensor inner =
      torch::tanh(torch::linear(norm(r), parameter("expand.weight"), parameter("expand.bias")));
  const Tensor out =
      r + torch::linear(inner, parameter("contract.weight"), parameter("contract.bias"));
  return {torch::tanh(out), slots.slice(1, 2 * H + 1)};
}

/// One step of a temporal convolutional network.
template <typename Parameter>
std::pair<Tensor, Tensor> torch_tcn(const Parameter& parameter, const Tensor& input,
                                    const Tensor& state) {
  Tensor z = torch::linear(input, parameter("embed.weight"), parameter("embed.bias"));
  const std::int64_t H = z.size(1);
  std::vector<Tensor> moved;
  std::int64_t begin = 0;
  for (int layer = 0; begin < state.size(1); ++layer) {
    const std::string name = std::to_string(layer) + ".";
    const std::int64_t end = begin + (H << layer);
    const Tensor sum =
        torch::linear(z, parameter((name + "newer").c_str()), parameter((name + "bias").c_str())) +
        torch::linear(state.slice(1, begin, begin + H), parameter((name + "older").c_str()));
    moved.push_back(torch::cat({state.slice(1, begin + H, end), z}, 1));
    z = z + torch::tanh(sum);
    begin = end;
  }
  return {torch::tanh(z), moved.empty() ? state : torch::cat(moved, 1)};
}

/// One step of an encoder in a direction ("_fwd", "_bwd"): h (batch x hidden) and its state after
/// it.
inline std::pair<Tensor, Tensor> torch_encode(const TorchModel& m, const std::string& direction,
                                              const Tensor& input, const Tensor& state) {
  const std::string prefix = std::string(nn::encoder_name(m.encoder)) + direction;
  const auto parameter = [&](const char* name) { return m.parameters.at(prefix + "." + name); };
  if (m.encoder == nn::EncoderKind::Conv) {
    const std::int64_t inputs = input.size(1), hidden = parameter("bias").size(0);
    const Tensor series = torch::cat({state, input}, 1);  // oldest first
    const Tensor weight = parameter("weight").reshape({hidden, -1, inputs}).permute({0, 2, 1});
    const Tensor sum = torch::conv1d(series.reshape({input.size(0), -1, inputs}).permute({0, 2, 1}),
                                     weight, parameter("bias"));
    return {torch::tanh(sum).squeeze(2), series.slice(1, inputs)};
  }
  if (m.encoder == nn::EncoderKind::Transformer) return torch_transformer(parameter, input, state);
  if (m.encoder == nn::EncoderKind::Tcn) return torch_tcn(parameter, input, state);
  const Tensor W_ih = parameter("weight_ih"), W_hh = parameter("weight_hh");
  const Tensor b_ih = parameter("bias_ih"), b_hh = parameter("bias_hh");
  if (m.encoder == nn::EncoderKind::Lstm) {
    const std::vector<Tensor> old = state.chunk(2, 1);
    const auto [h, c] = torch::lstm_cell(input, {old[0], old[1]}, W_ih, W_hh, b_ih, b_hh);
    return {h, torch::cat({h, c}, 1)};
  }
  const Tensor h = torch::gru_cell(input, state, W_ih, W_hh, b_ih, b_hh);
  return {h, h};
}

inline Tensor transposed(const Tensor& A) { return A.transpose(-1, -2); }

/// The whole window; loss is the sum of nll over lanes and steps.
inline TorchMoments torch_run(const TorchModel& m, const TorchData& d) {
  const std::int64_t steps = d.y.size(0), batch = d.y.size(1), N = m.H.size(1);
  const std::int64_t triangle = N * (N + 1) / 2;
  const Tensor one = torch::eye(N, torch::kFloat64);

  const std::int64_t hidden = m.parameters.at("decoder.0.weight").size(1) / (m.two_sided ? 2 : 1);
  const Tensor no_h = torch::zeros({batch, hidden}, torch::kFloat64);
  std::vector<Tensor> h_bwd(static_cast<std::size_t>(steps), no_h);
  Tensor state_bwd = torch::zeros_like(d.h);
  for (std::int64_t k = steps - 2; m.two_sided && k >= 0; --k) {
    const auto at = static_cast<std::size_t>(k);
    const Tensor more = (d.length > k + 1).unsqueeze(1);
    const auto [h, state] = torch_encode(m, "_bwd", d.input_bwd[k], state_bwd);
    h_bwd[at] = h * more;
    state_bwd = state * more;
  }

  const Tensor e0 = m.parameters.at("initial.e").unsqueeze(0);
  const Tensor L0 = torch_triangle(m.parameters.at("initial.L").unsqueeze(0), N);
  std::vector<Tensor> x_preds, P_preds, x_filts, P_filts, nlls;
  Tensor state = d.h, x = d.x, P = d.P;
  for (std::int64_t k = 0; k < steps; ++k) {
    const Tensor active = (d.length > k).unsqueeze(1);
    const Tensor starts = k == 0 ? d.fresh : torch::zeros_like(d.fresh);
    // Networks.
    const auto [encoded, moved] = torch_encode(m, "_fwd", d.input_fwd[k], state);
    const Tensor h_new = torch::where(starts, no_h, encoded);
    const Tensor state_new = torch::where(starts, torch::zeros_like(state), moved);
    Tensor out = m.two_sided ? torch::cat({h_new, h_bwd[static_cast<std::size_t>(k)]}, 1) : h_new;
    for (int i = 0; i < m.layers; ++i) {
      const std::string layer = "decoder." + std::to_string(i);
      if (i > 0) out = torch::relu(out);
      out =
          torch::linear(out, m.parameters.at(layer + ".weight"), m.parameters.at(layer + ".bias"));
    }
    // Transition.
    const std::vector<Tensor> parts =
        out.split_with_sizes({m.recursive ? N * N : 0, N, m.diagonal ? N : triangle}, 1);
    Tensor e = parts[1];
    const Tensor L = m.diagonal ? torch::diag_embed(torch::nn::functional::softplus(parts[2]))
                                : torch_triangle(parts[2], N);
    Tensor x_pred, P_pred;
    if (m.recursive) {
      Tensor residual = parts[0].reshape({batch, N, N});
      Tensor from = x;
      if (d.centre.defined()) {
        // A state whose centre is not finite has no column of F and no entry of e.
        const Tensor centred = torch::isfinite(d.centre[k]);
        from = x - torch::nan_to_num(d.centre[k]);
        residual = residual * centred.unsqueeze(1);
        e = e * centred;
      }
      x_pred = torch::matmul(residual, from.unsqueeze(2)).squeeze(2) + e;
      Tensor F = residual;
      if (m.map) {
        const auto [F_expert, e_expert] = m.map(x);
        x_pred = x_pred + torch::matmul(F_expert, x.unsqueeze(2)).squeeze(2) + e_expert;
        F = F + F_expert;
      }
      P_pred = torch::matmul(torch::matmul(F, P), transposed(F)) + torch::matmul(L, transposed(L));
    } else {
      x_pred = e;
      Tensor root = L;
      if (d.centre.defined()) {
        // Relative to the centre; a state without one has its part of the initial state.
        const Tensor known = torch::isfinite(d.centre[k]);
        x_pred = torch::where(known, e + torch::nan_to_num(d.centre[k]), e0);
        root = torch::where(known.unsqueeze(2), L, torch::diag_embed(torch::diagonal(L0, 0, 1, 2)));
      }
      P_pred = torch::matmul(root, transposed(root));
    }
    // A two-sided recurrent model with a centre has the future to go by where a series starts.
    if (m.recursive || !m.two_sided || !d.centre.defined()) {
      x_pred = torch::where(starts, e0, x_pred);
      P_pred = torch::where(starts.unsqueeze(2), torch::matmul(L0, transposed(L0)), P_pred);
    }
    // Update with the observed rows of H; a missing component measures nothing, with noise 1.
    const Tensor seen = d.seen[k] * active;
    const Tensor H = seen.unsqueeze(2) * m.H;
    const Tensor R = seen.unsqueeze(2) * m.R * seen.unsqueeze(1) + torch::diag_embed(1 - seen);
    const Tensor r = seen * d.y[k] - torch::matmul(H, x_pred.unsqueeze(2)).squeeze(2);
    const Tensor S = torch::matmul(torch::matmul(H, P_pred), transposed(H)) + R;
    const Tensor C = torch::linalg_cholesky(S);
    const Tensor K = transposed(torch::cholesky_solve(torch::matmul(H, P_pred), C));
    const Tensor whitened = torch::cholesky_solve(r.unsqueeze(2), C).squeeze(2);
    const Tensor nll = (r * whitened).sum(1) + 2 * C.diagonal(0, -2, -1).log().sum(1);
    const Tensor x_filt = x_pred + torch::matmul(K, r.unsqueeze(2)).squeeze(2);
    const Tensor IKH = one - torch::matmul(K, H);
    const Tensor P_filt = torch::matmul(torch::matmul(IKH, P_pred), transposed(IKH)) +
                          torch::matmul(torch::matmul(K, R), transposed(K));
    state = torch::where(active, state_new, state);
    x = torch::where(active, x_filt, x);
    P = torch::where(active.unsqueeze(2), P_filt, P);
    x_preds.push_back(x_pred);
    P_preds.push_back(P_pred);
    x_filts.push_back(x_filt);
    P_filts.push_back(P_filt);
    nlls.push_back(nll * active.squeeze(1));
  }
  TorchMoments result{torch::stack(x_preds),
                      torch::stack(P_preds),
                      torch::stack(x_filts),
                      torch::stack(P_filts),
                      torch::stack(nlls),
                      state,
                      x,
                      P,
                      {}};
  result.loss = result.nll.sum();
  return result;
}

}  // namespace kalmia::test
