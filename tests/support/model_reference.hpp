// The specification of the learned models: one sequence, double, Eigen, no tricks. Predict and
// update are those of reference.hpp; this file adds the networks and how they meet the recursion.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "heads/architecture.hpp"
#include "lanes/panel.hpp"
#include "support/reference.hpp"

namespace kalmia::reference {

/// What a sequence takes from one window to the next: the encoder's state (nn/encoder.hpp),
/// x[k|<=k], P[k|<=k].
struct ModelCarry {
  Vector h;
  Gaussian state;
};

/// One sequence's share of a window; y.size() is its length.
struct ModelSequence {
  std::vector<Vector> y;          ///< NaN = missing
  std::vector<Vector> input_fwd;  ///< features of y[k-1]
  std::vector<Vector> input_bwd;  ///< features of y[k+1]; two-sided models only
  std::vector<Vector> centre;     ///< c[k], or empty: 0
  std::vector<Vector> trust;      ///< of the residual of each state, or empty: 1
  std::vector<double> lost;       ///< share of the climate, or empty: 0
  std::vector<double> dt;         ///< length of the step to k, or empty: the model's
  std::vector<Vector> u;          ///< inputs during it, or empty
  bool fresh = true;              ///< the series starts here; `start` is then not read
  /// Sets what step k reads, given the state before it; empty: it stands above.
  std::function<void(std::size_t k, const Gaussian& before, ModelSequence& sequence)> show;
  ModelCarry start;
};

/// An expert map: sets F and e at x, for a step of length dt with inputs u.
using ExpertMap =
    std::function<void(const Vector& x, double dt, const Vector& u, Matrix& F, Vector& e)>;

struct Model {
  const heads::Architecture* architecture = nullptr;
  const engine::NetworkLayout* networks = nullptr;  ///< of networks that describe no states
  std::vector<double> parameters;                   ///< in the layout of architecture->parameters
  Matrix H, R;
  ExpertMap map;  ///< empty: F and e are the decoder's alone
  /// The noise of a density L L' over a step of a flow, from F of the expert map; empty: in
  /// proportion to dt.
  std::function<Matrix(const Matrix& F, double dt, const Matrix& L)> noise;
  double dt = 1;  ///< the usual length of a step
  /// The climate of the states with a finite spread (heads::Climate); empty: none.
  Vector climate_mean, climate_spread;
  Matrix climate_A, climate_Q;

  const engine::NetworkLayout& layout() const {
    return networks != nullptr ? *networks : *architecture;
  }
  /// A named parameter as a matrix.
  Matrix operator()(const std::string& name) const {
    const nn::ParameterView& view = layout().parameters.at(name);
    Matrix matrix(view.rows, view.cols);
    for (int i = 0; i < view.rows; ++i)
      for (int j = 0; j < view.cols; ++j)
        matrix(i, j) = parameters[static_cast<std::size_t>(view.offset + i * view.cols + j)];
    return matrix;
  }
};

struct ModelRun {
  std::vector<Gaussian> predicted, filtered;
  std::vector<double> nll;  ///< r' S^-1 r + log det S of each step, over its observed components
  ModelCarry end;
};

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
inline double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

/// h' = GRU(x, h) with the parameters `prefix`.*, by PyTorch's equations (nn/gru.hpp).
inline Vector gru(const Model& model, const std::string& prefix, const Vector& x, const Vector& h) {
  const Vector from_x = model(prefix + ".weight_ih") * x + model(prefix + ".bias_ih");
  const Vector from_h = model(prefix + ".weight_hh") * h + model(prefix + ".bias_hh");
  const Eigen::Index units = h.size();
  Vector h_new(units);
  for (Eigen::Index u = 0; u < units; ++u) {
    const double r = sigmoid(from_x(u) + from_h(u));
    const double z = sigmoid(from_x(units + u) + from_h(units + u));
    const double n = std::tanh(from_x(2 * units + u) + r * from_h(2 * units + u));
    h_new(u) = (1 - z) * n + z * h(u);
  }
  return h_new;
}

/// (h', c') = LSTM(x, h, c) with the parameters `prefix`.*, by PyTorch's equations (nn/lstm.hpp).
/// `state` is h, c.
inline Vector lstm(const Model& model, const std::string& prefix, const Vector& x,
                   const Vector& state) {
  const Eigen::Index units = state.size() / 2;
  const Vector sum = model(prefix + ".weight_ih") * x + model(prefix + ".bias_ih") +
                     model(prefix + ".weight_hh") * state.head(units) + model(prefix + ".bias_hh");
  Vector moved(2 * units);
  for (Eigen::Index u = 0; u < units; ++u) {
    const double i = sigmoid(sum(u)), f = sigmoid(sum(units + u));
    const double g = std::tanh(sum(2 * units + u)), o = sigmoid(sum(3 * units + u));
    moved(units + u) = f * state(units + u) + i * g;
    moved(u) = o * std::tanh(moved(units + u));
  }
  return moved;
}

/// tanh(sum over j of W_j x[k-j] + b) with the parameters `prefix`.* (nn/conv.hpp). `past` is
/// x[k-taps+1], ..., x[k-1].
inline Vector conv(const Model& model, const std::string& prefix, const Vector& x,
                   const Vector& past) {
  const Matrix W = model(prefix + ".weight");
  const Eigen::Index taps = W.cols() / x.size();
  Vector sum = model(prefix + ".bias");
  for (Eigen::Index j = 0; j < taps; ++j) {
    const Eigen::Index place = (taps - 1 - j) * x.size();
    const Vector input = j == 0 ? x : Vector(past.segment(place, x.size()));
    sum += W.middleCols(place, x.size()) * input;
  }
  return sum.array().tanh();
}

/// (v - mean) / sqrt(var + 1e-5).
inline Vector norm(const Vector& v) {
  const Vector away = v.array() - v.mean();
  return away / std::sqrt(away.squaredNorm() / static_cast<double>(v.size()) + 1e-5);
}

/// A transformer of one block with the parameters `prefix`.* (nn/transformer.hpp). `state` is key,
/// value and mark of the last steps, oldest first, which moves on.
inline Vector transformer(const Model& model, const std::string& prefix, const Vector& x,
                          Vector& state) {
  const Vector u = model(prefix + ".embed.weight") * x + model(prefix + ".embed.bias").col(0);
  const Eigen::Index H = u.size();
  const Matrix position = model(prefix + ".position");
  const Eigen::Index heads = position.rows(), taps = position.cols(), d = H / heads;
  const Vector q = model(prefix + ".query.weight") * norm(u) + model(prefix + ".query.bias").col(0);
  Vector slots(taps * (2 * H + 1));
  slots << state, model(prefix + ".key_value.weight") * norm(u), 1.0;
  Vector heard = Vector::Zero(H);
  for (Eigen::Index head = 0; head < heads; ++head) {
    double sum = 0;
    Vector values = Vector::Zero(d);
    for (Eigen::Index lag = 0; lag < taps; ++lag) {
      const Vector slot = slots.segment((taps - 1 - lag) * (2 * H + 1), 2 * H + 1);
      if (slot(2 * H) == 0) continue;
      const double weight = std::exp(q.segment(head * d, d).dot(slot.segment(head * d, d)) /
                                         std::sqrt(static_cast<double>(d)) +
                                     position(head, lag));
      sum += weight;
      values += weight * slot.segment(H + head * d, d);
    }
    heard.segment(head * d, d) = values / sum;
  }
  const Vector r =
      u + model(prefix + ".output.weight") * heard + model(prefix + ".output.bias").col(0);
  const Vector sum =
      model(prefix + ".expand.weight") * norm(r) + model(prefix + ".expand.bias").col(0);
  const Vector inner = sum.array().tanh();
  state = slots.tail(state.size()).eval();
  const Vector out =
      r + model(prefix + ".contract.weight") * inner + model(prefix + ".contract.bias").col(0);
  return out.array().tanh();
}

/// A temporal convolutional network with the parameters `prefix`.* (nn/tcn.hpp). `state` is z_l of
/// the last 2^l steps, layer by layer, oldest first, which moves on.
inline Vector tcn(const Model& model, const std::string& prefix, const Vector& x, Vector& state) {
  Vector z = model(prefix + ".embed.weight") * x + model(prefix + ".embed.bias").col(0);
  const Eigen::Index H = z.size();
  Eigen::Index begin = 0;
  for (int layer = 0; begin < state.size(); ++layer) {
    const std::string name = prefix + "." + std::to_string(layer);
    const Eigen::Index kept = H << layer;
    const Vector sum = model(name + ".older") * state.segment(begin, H) +
                       model(name + ".newer") * z + model(name + ".bias").col(0);
    Vector moved(kept + H);
    moved << state.segment(begin, kept), z;
    state.segment(begin, kept) = moved.tail(kept);
    z += Vector(sum.array().tanh());
    begin += kept;
  }
  return z.array().tanh();
}

/// One step of the encoder in a direction ("_fwd", "_bwd"): moves its state on and gives h.
inline Vector encode(const Model& model, const std::string& direction, const Vector& x,
                     Vector& state) {
  const engine::NetworkOptions& options = model.layout().networks;
  const std::string prefix = std::string(nn::encoder_name(options.encoder)) + direction;
  if (options.encoder == nn::EncoderKind::Conv) {
    const Vector h = conv(model, prefix, x, state);
    Vector inputs(state.size() + x.size());
    inputs << state, x;
    state = inputs.tail(state.size());
    return h;
  }
  if (options.encoder == nn::EncoderKind::Transformer) return transformer(model, prefix, x, state);
  if (options.encoder == nn::EncoderKind::Tcn) return tcn(model, prefix, x, state);
  state = options.encoder == nn::EncoderKind::Gru ? gru(model, prefix, x, state)
                                                  : lstm(model, prefix, x, state);
  return state.head(options.hidden);
}

/// The decoder: W in + b, layer by layer, with ReLU between the layers.
inline Vector decode(const Model& model, const Vector& h) {
  Vector out = h;
  const int layers = model.layout().decoder.layers();
  for (int i = 0; i < layers; ++i) {
    const std::string layer = "decoder." + std::to_string(i);
    if (i > 0) out = out.cwiseMax(0);
    out = (model(layer + ".weight") * out + model(layer + ".bias")).eval();
  }
  return out;
}

/// A lower triangle from its packed entries; the diagonal goes through softplus.
inline Matrix lower_triangle(const Vector& packed, int n) {
  Matrix L = Matrix::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < i; ++j) L(i, j) = packed(lanes::triangle_index(i, j));
    L(i, i) = softplus(packed(lanes::triangle_index(i, i)));
  }
  return L;
}

/// h_bwd[k] from y[k+1], y[k+2], ...; h_bwd = 0 at the last step.
inline std::vector<Vector> backward_states(const Model& model, const ModelSequence& sequence) {
  std::vector<Vector> h(sequence.y.size(), Vector::Zero(model.architecture->options.hidden));
  Vector state = Vector::Zero(model.architecture->encoder_state_rows());
  for (std::size_t k = sequence.y.size(); k-- > 1;)
    h[k - 1] = encode(model, "_bwd", sequence.input_bwd[k - 1], state);
  return h;
}

/// The posterior with x[k-1] held fixed, then integrated over: paper, last appendix. (I - K H) F is
/// what the update makes of the columns of F where 0 is measured.
inline Gaussian alternative_posterior(const Gaussian& before, const Vector& x_pred, const Matrix& F,
                                      const Matrix& Q, const Vector& y, const Matrix& H,
                                      const Matrix& R) {
  Gaussian result = update({x_pred, Q}, y, H, R).filtered;
  Matrix AF = F;
  for (Eigen::Index j = 0; j < F.cols(); ++j)
    AF.col(j) = update({F.col(j), Q}, 0 * y, H, R).filtered.mean;
  if (!F.isZero()) result.cov += AF * before.cov * AF.transpose();
  return result;
}

/// The part w of the transition is the climate's, in the rows of the states that it knows.
inline void mix_with_climate(const Model& model, double w, Matrix& F, Vector& e, Matrix& Q) {
  Vector kept = Vector::Ones(e.size());
  for (Eigen::Index i = 0; i < e.size(); ++i)
    if (std::isfinite(model.climate_spread(i))) kept(i) = 1 - w;
  const Matrix root = kept.cwiseSqrt().asDiagonal();
  F = kept.asDiagonal() * F + w * model.climate_A;
  e = kept.asDiagonal() * e + w * (model.climate_mean - model.climate_A * model.climate_mean);
  Q = root * Q * root + w * model.climate_Q;
}

/// Draws a prediction toward the mean, until it is no wider than the climate.
inline void saturate(const Model& model, Gaussian& predicted) {
  Vector g = Vector::Ones(predicted.mean.size());
  for (Eigen::Index i = 0; i < g.size(); ++i)
    g(i) = std::min(1.0, model.climate_spread(i) / std::sqrt(predicted.cov(i, i)));
  predicted.mean =
      model.climate_mean + g.asDiagonal() * (predicted.mean - model.climate_mean).eval();
  predicted.cov = g.asDiagonal() * predicted.cov * g.asDiagonal();
}

/// Runs a model over one sequence. Paper: Algorithms 1 and 3, App. C for the recurrent models.
inline ModelRun run(const Model& model, const ModelSequence& given) {
  ModelSequence sequence = given;
  const heads::Architecture& architecture = *model.architecture;
  const heads::ArchitectureOptions& options = architecture.options;
  const int N = options.state_dim;
  const int triangle = lanes::triangle_size(N);
  std::vector<Vector> h_bwd;
  if (options.two_sided) h_bwd = backward_states(model, sequence);

  ModelRun result;
  result.end = sequence.start;
  Gaussian& state = result.end.state;
  for (std::size_t k = 0; k < sequence.y.size(); ++k) {
    if (sequence.show) sequence.show(k, state, sequence);
    Gaussian predicted;
    Matrix F_step = Matrix::Zero(N, N), Q_step;
    const bool starts = k == 0 && sequence.fresh;
    // A two-sided recurrent model with a centre has the future to go by.
    const bool has_start = options.recursive() || !options.two_sided || sequence.centre.empty();
    if (starts) result.end.h = Vector::Zero(architecture.encoder_state_rows());
    if (starts && has_start) {
      const Matrix L = lower_triangle(model("initial.L"), N);
      predicted = {model("initial.e"), L * L.transpose()};
      Q_step = predicted.cov;
    } else {
      const Vector h = starts ? Vector(Vector::Zero(options.hidden))
                              : encode(model, "_fwd", sequence.input_fwd[k], result.end.h);
      Vector features = h;
      if (options.two_sided) {
        features.resize(2 * options.hidden);
        features << h, h_bwd[k];
      }
      const Vector out = decode(model, features);
      Vector e = out.segment(architecture.e_row(), N);
      const double dt = sequence.dt.empty() ? model.dt : sequence.dt[k];
      Matrix L = Matrix::Zero(N, N);
      if (options.head == heads::HeadKind::Diagonal)
        for (int i = 0; i < N; ++i) L(i, i) = std::log1p(std::exp(out(architecture.L_row() + i)));
      else
        L = lower_triangle(out.segment(architecture.L_row(), triangle), N);
      L *= std::sqrt(dt / model.dt);
      Matrix F = Matrix::Zero(N, N);
      if (options.recursive()) {
        // The residual acts on x[k-1] - c[k], the expert map on x[k-1].
        for (int i = 0; i < N; ++i) F.row(i) = out.segment(i * N, N).transpose();
        // A state whose centre is not finite has no residual, others as much as is trusted.
        for (int i = 0; i < N && !sequence.centre.empty(); ++i) {
          double trust = sequence.trust.empty() ? 1 : sequence.trust[k](i);
          if (!std::isfinite(sequence.centre[k](i))) trust = 0;
          F.col(i) *= trust;
          e(i) *= trust;
        }
        Vector of_centre = Vector::Zero(N);
        for (int i = 0; i < N && !sequence.centre.empty(); ++i)
          if (std::isfinite(sequence.centre[k](i))) of_centre += F.col(i) * sequence.centre[k](i);
        Matrix F_expert = Matrix::Zero(N, N);
        Vector e_expert = Vector::Zero(N);
        if (model.map)
          model.map(state.mean, dt, sequence.u.empty() ? Vector() : sequence.u[k], F_expert,
                    e_expert);
        if (options.transition == heads::TransitionRule::TowardCentre) {
          const Matrix rest = Matrix::Identity(N, N) - F;  // F is the gain here
          F = rest * F_expert;
          e += rest * e_expert + of_centre;
        } else {
          F += F_expert;
          e += e_expert - of_centre;
        }
        Q_step = L * L.transpose();
        if (model.noise)
          Q_step = model.noise(F_expert, dt, L / std::sqrt(dt));  // L is that of the whole step
        if (!sequence.lost.empty() && sequence.lost[k] > 0)
          mix_with_climate(model, sequence.lost[k], F, e, Q_step);
        predicted = predict(state, F, e, Q_step);
        if (!sequence.lost.empty() && sequence.lost[k] > 0) saturate(model, predicted);
        F_step = F;
      } else {
        // About the centre; a state that has none is as it was before the first measurement.
        for (int i = 0; i < N && !sequence.centre.empty(); ++i) {
          if (std::isfinite(sequence.centre[k](i))) {
            e(i) += sequence.centre[k](i);
            continue;
          }
          e(i) = model("initial.e")(i);
          L.row(i).setZero();
          L(i, i) = lower_triangle(model("initial.L"), N)(i, i);
        }
        predicted = {e, L * L.transpose()};
      }
    }
    Update updated = update(predicted, sequence.y[k], model.H, model.R);
    if (options.posterior == heads::PosteriorRule::Alternative)
      updated.filtered = alternative_posterior(state, predicted.mean, F_step, Q_step, sequence.y[k],
                                               model.H, model.R);
    state = updated.filtered;
    result.predicted.push_back(predicted);
    result.filtered.push_back(updated.filtered);
    result.nll.push_back(updated.nll);
  }
  return result;
}

/// What the future adds to a filter (heads/fusion/fusion_pass-inl.h), at one step.
struct FusedStep {
  Gaussian fused;     ///< x[k] given all but y[k]
  Gaussian smoothed;  ///< and given y[k]
  double nll = 0;
};

/// Runs fusion networks over a sequence in reverse. `prior`: the filter's predictions. The decoded
/// z and U are an ordinary measurement U' z of the state, with noise of variance 1.
inline std::vector<FusedStep> fuse(const Model& model, const ModelSequence& sequence,
                                   const std::vector<Gaussian>& prior) {
  const heads::Architecture& architecture = *model.architecture;
  const int N = architecture.state_dim();
  std::vector<FusedStep> result;
  Vector h = sequence.start.h;
  for (std::size_t k = 0; k < sequence.y.size(); ++k) {
    Gaussian fused = prior[k];
    if (k == 0 && sequence.fresh) {
      h = Vector::Zero(architecture.encoder_state_rows());
    } else {
      const Vector out = decode(model, encode(model, "_fwd", sequence.input_fwd[k], h));
      Vector z = out.segment(architecture.e_row(), N);
      Matrix U = lower_triangle(out.segment(architecture.L_row(), lanes::triangle_size(N)), N);
      for (int i = 0; i < N && !sequence.centre.empty(); ++i) {
        if (std::isfinite(sequence.centre[k](i)))
          z(i) += sequence.centre[k](i);
        else
          U.row(i).setZero();  // nothing is known of this state
      }
      fused = update(prior[k], U.transpose() * z, U.transpose(), Matrix::Identity(N, N)).filtered;
    }
    const Update updated = update(fused, sequence.y[k], model.H, model.R);
    result.push_back({fused, updated.filtered, updated.nll});
  }
  return result;
}

}  // namespace kalmia::reference
