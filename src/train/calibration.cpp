#include "train/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "infer/model_impl.hpp"
#include "infer/scaled_data.hpp"
#include "kalmia/error.hpp"
#include "train/use_scores.hpp"

namespace kalmia::train {
namespace {

// A model that has learned no more numbers than this share of the values errs as much on other
// data.
constexpr double kFewNumbers = 0.01;
// By how much the logarithm of a noise may be wrong that was learned, or given.
constexpr double kLearnedNoise = 0.2;
constexpr double kGivenNoise = 0.05;
// Steps that factors are found on, of models with kUsualStates states: the time goes with the cube
// of their number, which the steps make up for in part.
constexpr int kMostSteps = 1 << 15;
constexpr int kFewestSteps = 1 << 10;
constexpr double kUsualStates = 8;
// Pieces of long data are at least as long as this, and as so many of the longest hidden run.
constexpr int kShortestPiece = 512;
constexpr int kPiecePerRun = 8;
// Forecasts are also made over this many steps, if that is no more than this share of the longest
// stretch; nor is any hidden run longer than that share.
constexpr int kAhead = 48;
constexpr double kLongestRun = 0.15;

std::vector<double> rows(const std::vector<double>& all, int width, const StepRange& stretch) {
  if (all.empty()) return all;
  return {all.begin() + static_cast<std::ptrdiff_t>(stretch.begin) * width,
          all.begin() + static_cast<std::ptrdiff_t>(stretch.end) * width};
}

// Inputs of a stretch, which begins with the values that are known there: the last ones before it,
// or else the first of the series.
std::vector<double> inputs_of(const Series& series, int width, const StepRange& stretch) {
  std::vector<double> u = rows(series.u, width, stretch);
  for (std::size_t c = 0; c < static_cast<std::size_t>(width) && c < u.size(); ++c) {
    const auto value = [&](int k) {
      return series.u[static_cast<std::size_t>(k) * static_cast<std::size_t>(width) + c];
    };
    for (int k = stretch.begin - 1; k >= 0 && std::isnan(u[c]); --k) u[c] = value(k);
    for (int k = stretch.begin; k < series.steps && std::isnan(u[c]); ++k) u[c] = value(k);
  }
  return u;
}

// Stretches as series of their own.
ShownData shown_stretches(const Dataset& data, const std::vector<HeldOut>& stretches) {
  ShownData shown{data, {}};
  shown.data.series.clear();
  shown.data.x_names.clear();
  for (const HeldOut& each : stretches) {
    const Series& from = data.series[static_cast<std::size_t>(each.stretch.series)];
    Series& to = shown.data.series.emplace_back();
    to.key = from.key;
    to.steps = each.stretch.steps();
    to.y = rows(from.y, data.meas_dim(), each.stretch);
    to.y_std = rows(from.y_std, data.meas_dim(), each.stretch);
    to.u = inputs_of(from, data.input_dim(), each.stretch);
    to.t = rows(from.t, 1, each.stretch);
    shown.first.push_back(each.score_from - each.stretch.begin);
  }
  return shown;
}

// At most so many steps of the ranges, in pieces of at least `length`, each with the steps before
// it in which a filter settles.
std::vector<HeldOut> selected(const std::vector<StepRange>& ranges, int most, int length) {
  std::size_t steps = 0;
  for (const StepRange& range : ranges) steps += static_cast<std::size_t>(range.steps());
  const bool all = steps <= static_cast<std::size_t>(most);
  std::vector<HeldOut> pieces;
  for (const StepRange& range : ranges) {
    const int first = range.begin + std::min(kSettling, range.steps() / 3);
    const int piece = all ? std::max(1, range.end - first) : length;
    for (int from = first; from < range.end; from += piece)
      pieces.push_back({{range.series, std::max(range.begin, from - kSettling),
                         std::min(range.end, from + piece)},
                        from});
  }
  if (all) return pieces;
  const std::size_t every =
      (steps + static_cast<std::size_t>(most) - 1) / static_cast<std::size_t>(most);
  std::vector<HeldOut> some;
  for (std::size_t i = every / 2; i < pieces.size(); i += every) some.push_back(pieces[i]);
  return some;
}

// The runs to hide in the data: as long as their own gaps, and as forecasts are.
HiddenRuns runs_of(const infer::ScaledData& all, const ShownData& shown) {
  int longest = 0;
  for (const Series& series : shown.data.series) longest = std::max(longest, series.steps);
  const int most = std::max(2, static_cast<int>(kLongestRun * longest));
  HiddenRuns runs{usual_runs(all)};
  for (int& run : runs.lengths) run = std::clamp(run, 2, most);
  if (kAhead > std::ranges::max(runs.lengths) && kAhead <= most) runs.lengths.push_back(kAhead);
  return runs;
}

bool is_static(const Model::Impl& model) {
  return model.first().is_static() && model.trained_smoother().empty();
}

// Networks read the measurements that a linearized smoother has over them: a smoothed state follows
// its own measurement by more than its covariance says, which values that are hidden cannot show.
// So where measurements are next to the state its variance is not made smaller.
void keep_where_measured(FoundFactors& found) {
  for (std::vector<double>& factors : found.factors.factors)
    factors.front() = std::max(factors.front(), 1.0);
}

void add_summary(const Model& model, const std::string& what, const FoundFactors& found,
                 std::vector<FitFactor>& factors) {
  const std::vector<std::string>& channels = model.impl().first().description().measured_names;
  for (std::size_t m = 0; m < found.factors.factors.size(); ++m)
    for (std::size_t k = 0; k < found.factors.steps.size(); ++k)
      factors.push_back(
          {.what = what,
           .channel = found.factors.shared() && channels.size() > 1 ? "" : channels[m],
           .steps = found.factors.steps[k],
           .factor = found.factors.factors[m][k],
           .log_error = found.log_error[m][k],
           .determined = found.determined[m][k] != 0});
}

}  // namespace

FoundCalibration find_factors(const Model& model, const CalibrationData& data,
                              const HiddenRuns& runs, double noise_std, int threads) {
  FoundCalibration result;
  model::Calibration& calibration = result.calibration.emplace();
  const std::vector<MethodPredictions> fitted = predict_hidden(model, data.fitted, runs, threads);
  std::vector<MethodPredictions> unseen;
  if (data.unseen) unseen = predict_hidden(model, *data.unseen, runs, threads);
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    const MethodPredictions& method = fitted[i];
    FoundFactors found =
        data.unseen ? search_factors(method.values, std::move(unseen[i].values), model.meas_dim(),
                                     noise_std)
                    : search_factors(method.values, model.meas_dim(), {.noise = noise_std});
    if (method.what == "linearized" && !model.impl().first().is_static())
      keep_where_measured(found);
    add_summary(model, method.what, found, result.factors);
    (method.what == "filter"       ? calibration.filter
     : method.what == "linearized" ? calibration.linearized
                                   : calibration.trained) = found.factors;
  }
  return result;
}

CalibrationData calibration_data(const FitContext& fit, const Model& model,
                                 double learned_numbers) {
  const Dataset& data = fit.data.all();
  const double share = std::min(1.0, std::pow(kUsualStates / model.state_dim(), 2));
  const int most = std::max(kFewestSteps, static_cast<int>(share * kMostSteps));
  const auto shown = [&](const std::vector<StepRange>& ranges) {
    return shown_stretches(data,
                           selected(ranges, most, std::max(kShortestPiece, kPiecePerRun * kAhead)));
  };
  if (!is_static(model.impl()) || learned_numbers > kFewNumbers * fit.holdout.values)
    return {shown(fit.split().training), shown(held_out_ranges(fit.split()))};
  std::vector<StepRange> whole;
  for (std::size_t s = 0; s < data.series.size(); ++s)
    if (data.series[s].steps > 0) whole.push_back({static_cast<int>(s), 0, data.series[s].steps});
  return {shown(whole), {}};
}

FoundCalibration calibrate(const FitContext& fit, const Model& finished, double learned_numbers) {
  if (fit.little_data()) return {};
  const model::LearnedModel<float>& model = finished.impl().first();
  const model::ModelDescription& description = model.description();
  infer::ScaledData all(fit.data.all(), description.units, description.dt);
  const CalibrationData data = calibration_data(fit, finished, learned_numbers);
  const auto without = [](const Error& error) {
    FoundCalibration none;
    none.notes.push_back(std::string("covariances are not calibrated, but as computed: ") +
                         error.what());
    return none;
  };
  try {
    return find_factors(finished, data, runs_of(all, data.unseen ? *data.unseen : data.fitted),
                        fit.noise.learned() ? kLearnedNoise : kGivenNoise, fit.spec.train.threads);
  } catch (const NumericalError& error) {
    return without(error);
  } catch (const DataError& error) {  // a stretch is too unlike the whole
    return without(error);
  }
}

}  // namespace kalmia::train
