#include "study/evaluation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kalmia/option_rules.hpp"
#include "kalmia/simulate.hpp"
#include "model/drift.hpp"
#include "study/scores.hpp"
#include "study/whiteness.hpp"

namespace kalmia::study {
namespace {

double square(double value) { return value * value; }

// A mean of normalised squares, given up for good at the first covariance that is not positive
// definite: a mean over the others would be of another kind.
class MeanNormalisedSquare {
 public:
  void add(std::span<const double> error, std::span<const double> covariance) {
    const std::optional<NormalisedSquare> one = normalised_square(error, covariance);
    if (one)
      mean_.add(one->square, one->components);
    else
      broken_ = true;
  }
  std::optional<double> value() const { return broken_ ? std::nullopt : mean_.value(); }

 private:
  Mean mean_;
  bool broken_ = false;
};

// The mean squares of one channel.
struct ChannelSums {
  Mean raw, filtered, smoothed, gap_line, gap_filtered, gap_smoothed;
  Mean hidden_line, hidden_filtered, hidden_smoothed, reducible;
  model::RunningMoments measured;

  ChannelScore score(std::string name) const {
    ChannelScore score;
    score.name = std::move(name);
    score.scale = measured.count > 1 ? std::sqrt(measured.variance()) : 0;
    score.mse_raw = raw.value();
    score.mse_filtered = filtered.value();
    score.mse_smoothed = smoothed.value();
    score.gap_mse_interpolated = gap_line.value();
    score.gap_mse_filtered = gap_filtered.value();
    score.gap_mse_smoothed = gap_smoothed.value();
    score.hidden_mse_interpolated = hidden_line.value();
    score.hidden_mse_filtered = hidden_filtered.value();
    score.hidden_mse_smoothed = hidden_smoothed.value();
    score.reducible_error = reducible.value();
    return score;
  }
};

// The mean over all channels: every value counts the same.
std::optional<double> over_all(const std::vector<ChannelSums>& channels, Mean ChannelSums::*which) {
  Mean all;
  for (const ChannelSums& each : channels) all.add((each.*which).sum(), (each.*which).count());
  return all.value();
}

// Everything that is summed up over series.
class Scorer {
 public:
  Scorer(const Measure& measure, std::span<const double> R, const Truth& truth)
      : measure_(measure),
        R_(R),
        N_(measure.states),
        M_(measure.channels),
        truth_(truth),
        channels_(measure.channels) {}

  void add(std::size_t s, const Series& data, const Series& shown, const StateEstimates& filtered,
           const StateEstimates& smoothed, const Innovations& innovations) {
    const Channels filt = channels_of(filtered), smooth = channels_of(smoothed);
    const std::vector<double> line = interpolated(shown);
    const std::vector<double>& truth = truth_.y[s];
    steps_ += static_cast<std::size_t>(shown.steps);
    for (std::size_t i = 0; i < shown.y.size(); ++i) {
      const bool measured = !std::isnan(shown.y[i]);
      values_ += measured ? 1 : 0;
      // Where the truth is NaN nothing is added.
      ChannelSums& sums = channels_[i % M_];
      if (measured) {
        sums.measured.add(shown.y[i]);
        sums.raw.add(square(shown.y[i] - truth[i]));
        sums.filtered.add(square(filt.y[i] - truth[i]));
        sums.smoothed.add(square(smooth.y[i] - truth[i]));
      } else {
        sums.gap_line.add(square(line[i] - truth[i]));
        sums.gap_filtered.add(square(filt.y[i] - truth[i]));
        sums.gap_smoothed.add(square(smooth.y[i] - truth[i]));
        // NaN as well where there was no measurement to hide.
        sums.hidden_line.add(square(line[i] - data.y[i]));
        sums.hidden_filtered.add(square(filt.y[i] - data.y[i]));
        sums.hidden_smoothed.add(square(smooth.y[i] - data.y[i]));
      }
    }
    if (truth_.states) {
      add_states(truth_.x[s], filtered, state_filtered_, coverage_filtered_, nees_filtered_);
      add_states(truth_.x[s], smoothed, state_smoothed_, coverage_, nees_);
    } else if (truth_.channels) {
      add_channels(truth, filt, coverage_filtered_, nees_filtered_);
      add_channels(truth, smooth, coverage_, nees_);
    }
    add_innovations(innovations);
  }

  Evaluation result(double log_likelihood, const std::vector<std::string>& names) const {
    Evaluation e;
    e.steps = steps_;
    e.measured_values = values_;
    e.mse_raw = over_all(channels_, &ChannelSums::raw);
    e.mse_filtered = over_all(channels_, &ChannelSums::filtered);
    e.mse_smoothed = over_all(channels_, &ChannelSums::smoothed);
    e.gap_mse_interpolated = over_all(channels_, &ChannelSums::gap_line);
    e.gap_mse_filtered = over_all(channels_, &ChannelSums::gap_filtered);
    e.gap_mse_smoothed = over_all(channels_, &ChannelSums::gap_smoothed);
    e.state_mse_filtered = state_filtered_.value();
    e.state_mse_smoothed = state_smoothed_.value();
    e.hidden_mse_interpolated = over_all(channels_, &ChannelSums::hidden_line);
    e.hidden_mse_filtered = over_all(channels_, &ChannelSums::hidden_filtered);
    e.hidden_mse_smoothed = over_all(channels_, &ChannelSums::hidden_smoothed);
    e.log_likelihood = log_likelihood;
    e.log_likelihood_per_value = values_ > 0 ? log_likelihood / static_cast<double>(values_) : 0;
    e.nis = nis_.value();
    e.nees = nees_.value();
    e.nees_filtered = nees_filtered_.value();
    e.coverage95_filtered = coverage_filtered_.value();
    e.coverage95 =
        truth_.channels || truth_.states ? coverage_.value() : innovation_coverage_.value();
    e.reducible_error = over_all(channels_, &ChannelSums::reducible);
    for (std::size_t m = 0; m < M_; ++m)
      e.channels.push_back(channels_[m].score(m < names.size() ? names[m] : ""));
    return e;
  }

 private:
  std::vector<double> interpolated(const Series& shown) const {
    std::vector<double> line(shown.y.size());
    std::vector<double> channel(shown.y.size() / M_);
    for (std::size_t m = 0; m < M_; ++m) {
      for (std::size_t k = 0; k < channel.size(); ++k) channel[k] = shown.y[k * M_ + m];
      const std::vector<double> filled = interpolate_gaps(channel, shown.t);
      for (std::size_t k = 0; k < channel.size(); ++k) line[k * M_ + m] = filled[k];
    }
    return line;
  }

  // What is measured of estimates: (steps, M) and (steps, M, M).
  struct Channels {
    std::vector<double> y, S;
  };

  Channels channels_of(const StateEstimates& found) const {
    const auto steps = static_cast<std::size_t>(found.steps);
    Channels channels{std::vector<double>(steps * M_), std::vector<double>(steps * M_ * M_)};
    for (std::size_t k = 0; k < steps; ++k)
      measure_.at(found.mean.data() + k * N_, found.covariance.data() + k * N_ * N_,
                  channels.y.data() + k * M_, channels.S.data() + k * M_ * M_);
    return channels;
  }

  void add_states(const std::vector<double>& truth, const StateEstimates& found, Mean& squares,
                  Mean& coverage, MeanNormalisedSquare& nees) {
    std::vector<double> error(N_);
    for (std::size_t k = 0; k * N_ < truth.size(); ++k) {
      const double* P = found.covariance.data() + k * N_ * N_;
      for (std::size_t i = 0; i < N_; ++i) {
        error[i] = found.mean[k * N_ + i] - truth[k * N_ + i];
        squares.add(square(error[i]));
        coverage.add(within_95(error[i], P[i * N_ + i]));
      }
      nees.add(error, {P, N_ * N_});
    }
  }

  void add_channels(const std::vector<double>& truth, const Channels& found, Mean& coverage,
                    MeanNormalisedSquare& nees) {
    std::vector<double> error(M_);
    for (std::size_t k = 0; k * M_ < truth.size(); ++k) {
      const double* S = found.S.data() + k * M_ * M_;
      for (std::size_t m = 0; m < M_; ++m) {
        error[m] = found.y[k * M_ + m] - truth[k * M_ + m];
        coverage.add(within_95(error[m], S[m * (M_ + 1)]));
      }
      nees.add(error, {S, M_ * M_});
    }
  }

  void add_innovations(const Innovations& innovations) {
    const std::span<const double> residual = innovations.residual, S = innovations.covariance;
    for (std::size_t k = 0; k * M_ < residual.size(); ++k) {
      nis_.add(residual.subspan(k * M_, M_), S.subspan(k * M_ * M_, M_ * M_));
      for (std::size_t m = 0; m < M_; ++m) {
        const double r = residual[k * M_ + m];
        channels_[m].reducible.add(
            r * r - (innovations.noise.empty() ? R_[m * M_ + m] : innovations.noise[k * M_ + m]));
        innovation_coverage_.add(within_95(r, S[(k * M_ + m) * M_ + m]));
      }
    }
  }

  const Measure& measure_;
  std::span<const double> R_;
  std::size_t N_, M_;
  const Truth& truth_;
  std::size_t steps_ = 0, values_ = 0;
  std::vector<ChannelSums> channels_;
  Mean state_filtered_, state_smoothed_, coverage_, coverage_filtered_, innovation_coverage_;
  MeanNormalisedSquare nis_, nees_, nees_filtered_;
};

// The smallest p-value over channels times their number: no more than this share of good filters
// falls below any level (Bonferroni).
std::optional<double> whiteness(const std::vector<Innovations>& innovations, std::size_t M) {
  std::optional<double> smallest;
  std::size_t tested = 0;
  for (std::size_t m = 0; m < M; ++m) {
    std::vector<std::vector<double>> normalised;
    normalised.reserve(innovations.size());
    for (const Innovations& one : innovations)
      normalised.push_back(normalised_innovations(one.residual, one.covariance, M, m));
    const std::optional<LjungBox> test =
        ljung_box(std::vector<std::span<const double>>(normalised.begin(), normalised.end()));
    if (!test) continue;
    ++tested;
    smallest = std::min(smallest.value_or(1), test->p);
  }
  if (smallest) smallest = std::min(1.0, *smallest * static_cast<double>(tested));
  return smallest;
}

}  // namespace

Dataset shown_data(const Dataset& data, const EvaluateOptions& o) {
  std::string wrong;
  const auto require = [&](bool holds, const char* name, auto value, const std::string& rule) {
    if (!holds) wrong += fmt::format("\n  {} = {}, but it must be {}", name, value, rule);
  };
  require(o.hide >= 0 && o.hide < 1, "hide", o.hide, "in [0, 1)");
  require(o.hide_run >= 1 && std::isfinite(o.hide_run), "hide_run", o.hide_run, ">= 1 and finite");
  require(o.horizon >= 0 && o.horizon <= 100000, "horizon", o.horizon, "in 0..100000");
  require(kThreadsRange.holds(o.threads), "threads", o.threads, kThreadsRange.text());
  if (o.hide == 0 && o.hide_run != EvaluateOptions{}.hide_run)
    wrong +=
        fmt::format("\n  hide_run = {} has no effect: nothing is hidden; set hide", o.hide_run);
  if (!wrong.empty()) throw ConfigError("evaluate: invalid options:" + wrong);
  Dataset shown = data;
  if (o.hide > 0) {
    SpoilOptions spoiling;
    spoiling.missing = o.hide;
    spoiling.missing_run = o.hide_run;
    spoil(shown, spoiling, o.seed);
  }
  return shown;
}

Evaluation score(const Dataset& data, const Dataset& shown, const Truth& truth,
                 const Estimates& filtered, const Estimates& smoothed,
                 const std::vector<Innovations>& innovations, const Measure& measure,
                 std::span<const double> R) {
  Scorer scorer(measure, R, truth);
  for (std::size_t s = 0; s < shown.series.size(); ++s)
    scorer.add(s, data.series[s], shown.series[s], filtered.series[s], smoothed.series[s],
               innovations[s]);
  Evaluation evaluation = scorer.result(filtered.log_likelihood, data.y_names);
  evaluation.whiteness_p = whiteness(innovations, measure.channels);
  return evaluation;
}

}  // namespace kalmia::study
