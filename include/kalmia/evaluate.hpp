/// \file
/// How good a model's estimates are: against the truth, against hidden measurements, against
/// themselves.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "kalmia/data.hpp"
#include "kalmia/model.hpp"

namespace kalmia {

struct EvaluateOptions {
  /// Share of the measured values to hide before filtering and to score against, as if they were
  /// the truth.
  double hide = 0;
  /// Mean length of the runs they are hidden in.
  double hide_run = 1;
  /// Score forecasts of up to so many steps as well; 0: none.
  int horizon = 0;
  /// Which smoother is scored.
  SmoothOptions smoothing;
  std::uint64_t seed = 1;
  int threads = 0;
};

template <typename Options, typename Visitor>
requires std::same_as<std::remove_const_t<Options>, EvaluateOptions>
constexpr void visit_fields(Options& o, Visitor&& visit) {
  visit("hide", o.hide, "share of the measured values to hide and to score against");
  visit("hide_run", o.hide_run, "mean length of the runs they are hidden in");
  visit("horizon", o.horizon, "score forecasts of up to so many steps as well");
  visit("method", o.smoothing.method,
        "smoother: linearized, fused, recurrent, recursive, or auto: the networks if the model has "
        "any");
  visit("iterations", o.smoothing.iterations,
        "smooth again, at most so many times, with map and emission linearised at the result");
  visit("seed", o.seed, "seed of what is hidden");
  visit("threads", o.threads, "threads; 0: all the machine has");
}

/// Forecasts of so many steps ahead, against the truth of the states (else of the channels, else
/// against the measurements).
struct ForecastScore {
  std::optional<double> mse;
  std::optional<double> coverage95;  ///< share within the 95 % bars
};

/// Mean square errors of one measured channel, in its own unit; as those of all channels in
/// Evaluation.
struct ChannelScore {
  std::string name;
  double scale = 0;  ///< standard deviation of its measured values
  std::optional<double> mse_raw, mse_filtered, mse_smoothed;
  std::optional<double> gap_mse_interpolated, gap_mse_filtered, gap_mse_smoothed;
  std::optional<double> hidden_mse_interpolated, hidden_mse_filtered, hidden_mse_smoothed;
  std::optional<double> reducible_error;
};

/// Figures that do not apply are empty (null in JSON). Errors are mean squares over all channels
/// and steps, in the user's units, so that channels of large numbers decide them (`channels` has
/// those of each); where the truth is NaN there is nothing to compare. A value that
/// EvaluateOptions::hide took away counts as missing.
struct Evaluation {
  std::size_t steps = 0;
  std::size_t measured_values = 0;

  /// Against the truth of the measured channels, where they were measured.
  std::optional<double> mse_raw, mse_filtered, mse_smoothed;
  /// Against the truth of the measured channels, where they were missing; `interpolated` joins the
  /// neighbouring measurements by a line.
  std::optional<double> gap_mse_interpolated, gap_mse_filtered, gap_mse_smoothed;
  /// Against the truth of the states at all steps, where the truth has them.
  std::optional<double> state_mse_filtered, state_mse_smoothed;
  /// Against the hidden measurements (EvaluateOptions::hide).
  std::optional<double> hidden_mse_interpolated, hidden_mse_filtered, hidden_mse_smoothed;

  /// Sum of the log-likelihood of all measured values, and its mean.
  double log_likelihood = 0;
  double log_likelihood_per_value = 0;
  /// Normalised innovation squared per measured value: r' S^-1 r / M; 1 if the filter's idea of its
  /// innovations is right.
  std::optional<double> nis;
  /// Normalised estimation error squared of the smoothed states per dimension, against the truth;
  /// of the measured channels if the truth has only these. Empty as well if a covariance is not
  /// positive definite.
  std::optional<double> nees;
  /// The same of the filtered states.
  std::optional<double> nees_filtered;
  /// Share of the truth within the smoothed 95 % bars; without truth, of the measurements within
  /// the predicted ones.
  std::optional<double> coverage95;
  /// Share of the truth within the filtered 95 % bars.
  std::optional<double> coverage95_filtered;
  /// p-value of the Ljung-Box test that the innovations are white (smallest over channels,
  /// corrected for their number).
  std::optional<double> whiteness_p;
  /// The self-supervised error less the noise: mean square of y - h(x[k|<k]) less tr(R) / M (with
  /// missing values: less R_mm of each value), an estimate of the prediction's own error that needs
  /// no truth. It is negative where measurements are predicted better than the noise of the model
  /// allows: that is smaller than the model has it, or lasts from step to step.
  std::optional<double> reducible_error;
  /// What the trained smoother's prediction of a measurement has seen of it (Model::leak); far
  /// above 0, its likelihood and error bars cannot be believed.
  std::optional<double> leak;
  /// Of 1, 2, ... steps ahead (EvaluateOptions::horizon).
  std::vector<ForecastScore> forecasts;
  /// One for each measured channel.
  std::vector<ChannelScore> channels;

  std::string to_text() const;
  std::string to_json() const;
};

/// Filters and smooths `data` with `model` and scores the estimates: channels are h(x) of them,
/// with H P H' (Model::measured). Columns of truth named `true_<channel>` or `true_<state>` are
/// what they say; others beside them are left out. If none has such a name, their number decides:
/// they are the measured channels or all states, in order. Throws DataError if it does not decide
/// (as many states as channels that are something else), or if a name belongs to a channel and to a
/// state that is something else. Forecasts take inputs and lengths of steps from the rows that
/// follow.
Evaluation evaluate(const Model& model, const Dataset& data, const EvaluateOptions& options = {});

}  // namespace kalmia
