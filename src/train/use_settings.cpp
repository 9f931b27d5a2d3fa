#include "train/use_settings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "infer/filter_pass.hpp"
#include "infer/refine.hpp"
#include "kalman/classical/batch.hpp"
#include "kalmia/error.hpp"

namespace kalmia::train {
namespace {

using kalman::row_at;

// Runs of steps that are shown, and runs after each that are hidden, over and over.
constexpr int kRuns[][2] = {{32, 8}, {32, 24}, {64, 64}};
// More steps than this would hardly change the choice.
constexpr int kMostGapSteps = 1 << 14;

// Pieces with values hidden in runs.
struct HiddenData {
  std::vector<std::vector<double>> y;
  std::vector<infer::SeriesView> whole, hidden;

  HiddenData(const ScaledData& data, const Split& split) {
    for (const HeldOut& each : split.held_out) whole.push_back(data.view(each.stretch));
    for (const StepRange& each : split.training) whole.push_back(data.view(each));
    whole = infer::first_steps(whole, kMostGapSteps);
    const auto M = static_cast<std::ptrdiff_t>(data.meas_dim());
    for (const infer::SeriesView& piece : whole) {
      std::vector<double>& values = y.emplace_back(piece.y, piece.y + piece.steps * M);
      for (int k = 0; k < piece.steps; ++k)
        if (is_hidden(k))
          std::fill_n(values.begin() + k * M, M, std::numeric_limits<double>::quiet_NaN());
    }
    hidden = whole;
    for (std::size_t p = 0; p < hidden.size(); ++p) hidden[p].y = y[p].data();
  }
  static bool is_hidden(int k) {
    int period = 0;
    for (const auto& [shown, gap] : kRuns) period += shown + gap;
    k %= period;
    for (const auto& [shown, gap] : kRuns) {
      if (k < shown + gap) return k >= shown;
      k -= shown + gap;
    }
    return false;
  }
};

// The logarithms of the mean absolute errors of hidden values, channel by channel, filtered and
// smoothed, summed: outliers decide little, and units nothing.
double error_of(const model::LearnedModel<float>& model, const HiddenData& data, ThreadTeam& team) {
  const auto name = [](int) { return std::string("the data"); };
  const int N = model.state_dim(), M = model.meas_dim();
  const auto size = static_cast<std::size_t>(M);
  std::vector<double> y(size), errors(2 * size);
  try {
    infer::FilterPass pass = infer::run_pass(model, data.hidden, {true, true, true}, team, name);
    infer::smooth_pass(pass, team, name);
    const Moments* kinds[] = {&pass.moments.filtered, &pass.moments.smoothed};
    for (int p = 0; p < pass.moments.series; ++p)
      for (int k = 0; k < pass.lengths[static_cast<std::size_t>(p)]; ++k) {
        if (!HiddenData::is_hidden(k)) continue;
        const double* seen =
            data.whole[static_cast<std::size_t>(p)].y + static_cast<std::ptrdiff_t>(k) * M;
        for (std::size_t kind = 0; kind < 2; ++kind) {
          model.measure(kinds[kind]->mean.data() + row_at(pass.moments, p, k, N), y.data());
          for (std::size_t m = 0; m < size; ++m)
            if (!std::isnan(seen[m])) errors[kind * size + m] += std::abs(seen[m] - y[m]);
        }
      }
  } catch (const NumericalError&) {
    return std::numeric_limits<double>::infinity();
  }
  double sum = 0;
  for (const double error : errors) sum += error == 0 ? 0 : std::log(error);
  return std::isfinite(sum) ? sum : std::numeric_limits<double>::infinity();
}

}  // namespace

double find_gap_trust(model::LearnedModel<float>& model, const ScaledData& data, const Split& split,
                      ThreadTeam& team) {
  const double before = model.description().gap_trust;
  if (model.is_static() || !model.description().recursive()) return before;
  const HiddenData hidden(data, split);
  const auto error_with = [&](double trust) {
    model.set_gap_trust(trust);
    return error_of(model, hidden, team);
  };
  const double trusted = error_with(1), without = error_with(0);
  model.set_gap_trust(before);
  return trusted <= without ? 1 : 0;
}

namespace {

// Pieces are long, so that how they start hardly counts; there are enough of them that the
// likelihoods of two shares differ by more than chance.
constexpr int kIteratedPiece = 2048;
constexpr int kMostNoiseSteps = 1 << 15;
// Passes to settle at the filter's noise, and at each smaller one.
constexpr int kFirstPasses = 10;
constexpr int kIteratedPasses = 4;
constexpr int kMostCuts = 8;
constexpr double kCut = 1.0 / 3;

std::vector<infer::SeriesView> pieces_of(const ScaledData& data,
                                         const std::vector<StepRange>& stretches) {
  std::vector<infer::SeriesView> pieces;
  int steps = 0;
  for (const StepRange& stretch : stretches)
    for (int from = stretch.begin; from < stretch.end && steps < kMostNoiseSteps;
         from += kIteratedPiece) {
      const StepRange part{stretch.series, from, std::min(stretch.end, from + kIteratedPiece)};
      pieces.push_back(data.view(part));
      steps += part.steps();
    }
  return pieces;
}

}  // namespace

double find_iterated_noise(const model::LearnedModel<float>& model, const ScaledData& data,
                           const std::vector<StepRange>& stretches, ThreadTeam& team) {
  if (model.expert().linear || !model.description().recursive() || model.description().tails > 0)
    return 1;
  const std::vector<infer::SeriesView> pieces = pieces_of(data, stretches);
  const auto name = [](int) { return std::string("the data"); };
  double best = 1;
  try {
    infer::FilterPass pass = infer::run_pass(model, pieces, {true, true, true}, team, name);
    infer::smooth_pass(pass, team, name);
    double least = infer::refine_pass(model, pieces, pass, {kFirstPasses, 1}, team, name);
    double noise = 1;
    for (int cut = 0; cut < kMostCuts; ++cut) {
      noise *= kCut;
      const double nll =
          infer::refine_pass(model, pieces, pass, {kIteratedPasses, noise, noise}, team, name);
      if (!(nll < least)) break;
      least = nll;
      best = noise;
    }
  } catch (const NumericalError&) {
    // So little noise that a pass breaks down is too little.
  }
  return best;
}

}  // namespace kalmia::train
