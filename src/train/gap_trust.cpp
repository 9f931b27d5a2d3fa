#include "train/gap_trust.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "infer/calibrated.hpp"
#include "infer/filter_pass.hpp"
#include "kalman/classical_batch.hpp"
#include "kalmia/error.hpp"

namespace kalmia::train {
namespace {

using kalman::row_at;

// Of so many steps, the last ones are hidden.
constexpr int kPeriod = 30;
constexpr int kHidden = 10;
// Errors beyond so many deviations count as so many: outliers decide nothing.
constexpr double kMostDeviations = 5;

// Pieces with values hidden in runs.
struct HiddenData {
  std::vector<std::vector<double>> y;
  std::vector<infer::Piece> whole, hidden;

  HiddenData(const ScaledData& data, const std::vector<HeldOut>& held_out) {
    for (const HeldOut& each : held_out) {
      infer::Piece piece = data.piece(each.stretch);
      whole.push_back(piece);
      const auto M = static_cast<std::ptrdiff_t>(data.meas_dim());
      std::vector<double>& values = y.emplace_back(piece.y, piece.y + piece.steps * M);
      for (int k = 0; k < piece.steps; ++k)
        if (is_hidden(k))
          std::fill_n(values.begin() + k * M, M, std::numeric_limits<double>::quiet_NaN());
      hidden.push_back(piece);
    }
    for (std::size_t p = 0; p < hidden.size(); ++p) hidden[p].y = y[p].data();
  }
  static bool is_hidden(int k) { return k % kPeriod >= kPeriod - kHidden; }
};

// Minus twice the logarithm of the likelihood of a hidden value, up to a constant.
double surprise(double error, double variance) {
  return std::log(variance) + std::min(error * error / variance, kMostDeviations * kMostDeviations);
}

double surprise_of(const model::LearnedModel<float>& model, const HiddenData& data,
                   ThreadTeam& team) {
  const auto name = [](int) { return std::string("the held-out data"); };
  const int N = model.state_dim(), M = model.meas_dim();
  const auto size = static_cast<std::size_t>(M);
  std::vector<double> y(size), S(size * size);
  double sum = 0;
  try {
    infer::FilterPass pass = infer::run_pass(model, data.hidden, {true, true, true}, team, name);
    infer::smooth_pass(pass, team, name);
    for (int p = 0; p < pass.moments.series; ++p)
      for (int k = 0; k < pass.lengths[static_cast<std::size_t>(p)]; ++k) {
        if (!HiddenData::is_hidden(k)) continue;
        const double* seen = data.whole[static_cast<std::size_t>(p)].y + k * M;
        for (const Moments* moments : {&pass.moments.filtered, &pass.moments.smoothed}) {
          infer::predict_measurement(model, moments->mean.data() + row_at(pass.moments, p, k, N),
                                     moments->covariance.data() + row_at(pass.moments, p, k, N * N),
                                     y.data(), S.data());
          for (std::size_t m = 0; m < size; ++m)
            if (!std::isnan(seen[m]))
              sum += surprise(seen[m] - y[m],
                              S[m * (size + 1)] + model.emission().R()[m * (size + 1)]);
        }
      }
  } catch (const NumericalError&) {
    return std::numeric_limits<double>::infinity();
  }
  return std::isfinite(sum) ? sum : std::numeric_limits<double>::infinity();
}

}  // namespace

void choose_gap_trust(model::LearnedModel<float>& model, const ScaledData& data,
                      const std::vector<HeldOut>& held_out, ThreadTeam& team) {
  if (model.is_static() || !model.description().recursive || held_out.empty()) return;
  const HiddenData hidden(data, held_out);
  const double trusted = surprise_of(model, hidden, team);
  model.set_gap_trust(0);
  if (trusted <= surprise_of(model, hidden, team)) model.set_gap_trust(1);
}

}  // namespace kalmia::train
