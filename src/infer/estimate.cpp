// Model's filter, smoother and innovations: one pass gives whatever is asked for.
#include <cmath>

#include "infer/model_impl.hpp"
#include "infer/series_run.hpp"
#include "kalman/classical_batch.hpp"

namespace kalmia {
namespace {

using infer::FilterPass;
using kalman::row_at;

constexpr int kMostIterations = 1000;

struct Parts {
  bool filtered = false;
  bool smoothed = false;
  bool innovations = false;
};

// The moments of series `i` of a pass in the user's units.
StateEstimates in_user_units(const model::Units& units, const Moments& moments,
                             const FilterPass& pass, int i, const Series& series) {
  const int N = pass.moments.state_dim;
  StateEstimates out = infer::room_for(series, series.steps, N);
  out.t = series.t;
  for (int k = 0; k < series.steps; ++k)
    units.to_user(moments.mean.data() + row_at(pass.moments, i, k, N),
                  moments.covariance.data() + row_at(pass.moments, i, k, N * N),
                  out.mean.data() + static_cast<std::ptrdiff_t>(k) * N,
                  out.covariance.data() + static_cast<std::ptrdiff_t>(k) * N * N);
  return out;
}

// Entry (m, l) of H P H'.
double quadratic(const std::vector<double>& H, std::size_t m, const double* P, std::size_t l,
                 int state_dim) {
  const auto N = static_cast<std::size_t>(state_dim);
  double sum = 0;
  for (std::size_t i = 0; i < N; ++i) {
    if (H[m * N + i] == 0) continue;
    for (std::size_t j = 0; j < N; ++j) sum += H[m * N + i] * P[i * N + j] * H[l * N + j];
  }
  return sum;
}

// y - H x[k|<k] and H P[k|<k] H' + R of series `i` of a pass, in the user's units. `y`: its
// measurements in the model's, where a large offset takes no digits; `weight`: those of its noise,
// or null.
Innovations innovations_of(const model::LearnedModel<float>& model, const std::vector<double>& R,
                           const FilterPass& pass, int i, const double* y, const double* weight) {
  const int N = model.state_dim();
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const auto steps = static_cast<std::size_t>(pass.lengths[static_cast<std::size_t>(i)]);
  const model::Units& units = model.description().units;
  std::vector<double> y_pred(M), H = model.expert().H;
  Innovations out;
  out.residual.resize(steps * M);
  out.covariance.resize(steps * M * M);
  out.noise.resize(steps * M);
  const auto R_at = [&](std::size_t k, std::size_t m, std::size_t l) {
    const double* w = weight + k * M;
    return weight == nullptr ? R[m * M + l] : R[m * M + l] / std::sqrt(w[m] * w[l]);
  };
  for (std::size_t k = 0; k < steps; ++k) {
    const Moments& predicted = pass.moments.predicted;
    const double* x = predicted.mean.data() + row_at(pass.moments, i, static_cast<int>(k), N);
    const double* P =
        predicted.covariance.data() + row_at(pass.moments, i, static_cast<int>(k), N * N);
    if (model.expert().emission != nullptr) H = model.emission_at(x);
    model.measure(x, y_pred.data());
    for (std::size_t m = 0; m < M; ++m) {
      out.residual[k * M + m] = units.y_scale[m] * (y[k * M + m] - y_pred[m]);
      for (std::size_t l = 0; l < M; ++l)
        out.covariance[(k * M + m) * M + l] =
            units.y_scale[m] * units.y_scale[l] * quadratic(H, m, P, l, N) + R_at(k, m, l);
      out.noise[k * M + m] = R_at(k, m, m);
    }
  }
  return out;
}

Analysis estimate(const Model& public_model, const Dataset& data, int threads, const Parts& parts,
                  const SmoothOptions& options = {}) {
  options.validate(public_model.impl().learned->fusion() != nullptr);
  const model::LearnedModel<float>& model = *public_model.impl().learned;
  infer::SeriesRun run(model, data, threads);
  Analysis result{run.empty_estimates(), run.empty_estimates(), {}};
  if (parts.filtered) result.filtered.series.resize(data.series.size());
  if (parts.smoothed) result.smoothed.series.resize(data.series.size());
  if (parts.innovations) result.innovations.resize(data.series.size());
  const std::vector<double> R = public_model.noise();
  const model::Units& units = model.description().units;
  double nll = 0;
  run.for_each_pass(
      {parts.smoothed || parts.innovations, parts.smoothed || parts.filtered, parts.smoothed},
      [&](FilterPass& pass, const std::vector<int>& chunk) {
        if (parts.smoothed) run.smooth(pass, chunk, options);
        for (int i = 0; i < static_cast<int>(chunk.size()); ++i) {
          const auto s = static_cast<std::size_t>(chunk[static_cast<std::size_t>(i)]);
          const Series& series = data.series[s];
          const FilterResult& moments = pass.moments;
          nll += moments.log_likelihood[static_cast<std::size_t>(i)];
          if (parts.filtered)
            result.filtered.series[s] = in_user_units(units, moments.filtered, pass, i, series);
          if (parts.smoothed)
            result.smoothed.series[s] = in_user_units(units, moments.smoothed, pass, i, series);
          if (parts.innovations)
            result.innovations[s] =
                innovations_of(model, R, pass, i, run.y(chunk[static_cast<std::size_t>(i)], 0),
                               run.weight(chunk[static_cast<std::size_t>(i)], 0));
        }
      });
  result.filtered.log_likelihood = result.smoothed.log_likelihood = run.log_likelihood(nll);
  return result;
}

}  // namespace

Estimates Model::filter(const Dataset& data, int threads) const {
  return estimate(*this, data, threads, {.filtered = true}).filtered;
}

Estimates Model::smooth(const Dataset& data, int threads, const SmoothOptions& options) const {
  return estimate(*this, data, threads, {.smoothed = true}, options).smoothed;
}

std::vector<Innovations> Model::innovations(const Dataset& data, int threads) const {
  return estimate(*this, data, threads, {.innovations = true}).innovations;
}

Analysis Model::analyse(const Dataset& data, int threads, const SmoothOptions& options) const {
  return estimate(*this, data, threads, {true, true, true}, options);
}

void SmoothOptions::validate(bool has_fused) const {
  if (method != "auto" && method != "linearized" && method != "fused")
    throw ConfigError("method = \"" + method + "\", but it must be auto, linearized or fused");
  if (method == "fused" && !has_fused)
    throw ConfigError(
        "method = \"fused\", but the model has no fused smoother; fit it with smoother = fused");
  if (iterations < 0 || iterations > kMostIterations)
    throw ConfigError("iterations = " + std::to_string(iterations) + ", but it must be in 0.." +
                      std::to_string(kMostIterations));
  if (method == "fused" && iterations > 0)
    throw ConfigError("iterations = " + std::to_string(iterations) +
                      ", but only the linearized smoother is iterated");
}

}  // namespace kalmia
