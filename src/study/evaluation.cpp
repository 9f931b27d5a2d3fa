#include "study/evaluation.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "kalmia/simulate.hpp"
#include "study/scores.hpp"
#include "study/whiteness.hpp"

namespace kalmia::study {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

double square(double value) { return value * value; }

bool is_identity(std::span<const double> H, std::size_t N, std::size_t M) {
  if (N != M) return false;
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j)
      if (H[i * N + j] != (i == j ? 1 : 0)) return false;
  return true;
}

// H x, for one row of x per step. A state that a channel does not depend on may be NaN.
std::vector<double> channels_of(std::span<const double> x, std::span<const double> H, std::size_t N,
                                std::size_t M) {
  const std::size_t steps = x.size() / N;
  std::vector<double> channels(steps * M, 0.0);
  for (std::size_t k = 0; k < steps; ++k)
    for (std::size_t m = 0; m < M; ++m)
      for (std::size_t i = 0; i < N; ++i)
        if (H[m * N + i] != 0) channels[k * M + m] += H[m * N + i] * x[k * N + i];
  return channels;
}

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

// Everything that is summed up over series.
class Scorer {
 public:
  Scorer(std::span<const double> H, std::span<const double> R, std::size_t N, std::size_t M,
         TruthKind truth)
      : H_(H),
        R_(R),
        N_(N),
        M_(M),
        has_channels_(truth != TruthKind::None),
        has_states_(truth == TruthKind::States ||
                    (truth == TruthKind::Channels && is_identity(H, N, M))),
        truth_(truth) {}

  void add(const Series& data, const Series& shown, const StateEstimates& filtered,
           const StateEstimates& smoothed, const Innovations& innovations) {
    const std::vector<double> y_filt = channels_of(filtered.mean, H_, N_, M_);
    const std::vector<double> y_smooth = channels_of(smoothed.mean, H_, N_, M_);
    const std::vector<double> line = interpolated(shown);
    const std::vector<double> truth = channel_truth(data);
    steps_ += static_cast<std::size_t>(shown.steps);
    for (std::size_t i = 0; i < shown.y.size(); ++i) {
      const bool measured = !std::isnan(shown.y[i]);
      values_ += measured ? 1 : 0;
      if (has_channels_ && measured) {
        raw_.add(square(shown.y[i] - truth[i]));
        filtered_.add(square(y_filt[i] - truth[i]));
        smoothed_.add(square(y_smooth[i] - truth[i]));
      } else if (has_channels_) {
        gap_line_.add(square(line[i] - truth[i]));
        gap_filtered_.add(square(y_filt[i] - truth[i]));
        gap_smoothed_.add(square(y_smooth[i] - truth[i]));
      }
      if (!measured) {
        // NaN, and so nothing, where there was no measurement to hide.
        hidden_line_.add(square(line[i] - data.y[i]));
        hidden_filtered_.add(square(y_filt[i] - data.y[i]));
        hidden_smoothed_.add(square(y_smooth[i] - data.y[i]));
      }
    }
    if (has_states_)
      add_states(data, filtered, smoothed);
    else if (has_channels_) {
      add_channels(truth, y_smooth, smoothed, coverage_, nees_);
      add_channels(truth, y_filt, filtered, coverage_filtered_, nees_filtered_);
    }
    add_innovations(innovations);
  }

  Evaluation result(double log_likelihood) const {
    Evaluation e;
    e.steps = steps_;
    e.measured_values = values_;
    e.mse_raw = raw_.value();
    e.mse_filtered = filtered_.value();
    e.mse_smoothed = smoothed_.value();
    e.gap_mse_interpolated = gap_line_.value();
    e.gap_mse_filtered = gap_filtered_.value();
    e.gap_mse_smoothed = gap_smoothed_.value();
    e.state_mse_filtered = state_filtered_.value();
    e.state_mse_smoothed = state_smoothed_.value();
    e.hidden_mse_interpolated = hidden_line_.value();
    e.hidden_mse_filtered = hidden_filtered_.value();
    e.hidden_mse_smoothed = hidden_smoothed_.value();
    e.log_likelihood = log_likelihood;
    e.log_likelihood_per_value = values_ > 0 ? log_likelihood / static_cast<double>(values_) : 0;
    e.nis = nis_.value();
    e.nees = nees_.value();
    e.nees_filtered = nees_filtered_.value();
    e.coverage95_filtered = coverage_filtered_.value();
    e.coverage95 = has_channels_ ? coverage_.value() : innovation_coverage_.value();
    e.reducible_error = reducible_.value();
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

  // NaN where there is none.
  std::vector<double> channel_truth(const Series& data) const {
    if (!has_channels_ || data.x.empty()) return std::vector<double>(data.y.size(), kNan);
    return truth_ == TruthKind::Channels ? data.x : channels_of(data.x, H_, N_, M_);
  }

  void add_states(const Series& data, const StateEstimates& filtered,
                  const StateEstimates& smoothed) {
    std::vector<double> error(N_);
    for (std::size_t k = 0; k * N_ < data.x.size(); ++k) {
      const auto add = [&](const StateEstimates& found, Mean& squares, Mean& coverage,
                           MeanNormalisedSquare& nees) {
        const double* P = found.covariance.data() + k * N_ * N_;
        for (std::size_t i = 0; i < N_; ++i) {
          error[i] = found.mean[k * N_ + i] - data.x[k * N_ + i];
          squares.add(square(error[i]));
          coverage.add(within_95(error[i], P[i * N_ + i]));
        }
        nees.add(error, {P, N_ * N_});
      };
      add(filtered, state_filtered_, coverage_filtered_, nees_filtered_);
      add(smoothed, state_smoothed_, coverage_, nees_);
    }
  }

  void add_channels(const std::vector<double>& truth, const std::vector<double>& y,
                    const StateEstimates& found, Mean& coverage, MeanNormalisedSquare& nees) {
    const Eigen::Map<const RowMajor> H(H_.data(), static_cast<Eigen::Index>(M_),
                                       static_cast<Eigen::Index>(N_));
    std::vector<double> error(M_);
    for (std::size_t k = 0; k * M_ < truth.size(); ++k) {
      const Eigen::Map<const RowMajor> P(found.covariance.data() + k * N_ * N_, H.cols(), H.cols());
      const RowMajor S = H * P * H.transpose();
      for (std::size_t m = 0; m < M_; ++m) {
        const auto i = static_cast<Eigen::Index>(m);
        error[m] = y[k * M_ + m] - truth[k * M_ + m];
        coverage.add(within_95(error[m], S(i, i)));
      }
      nees.add(error, {S.data(), M_ * M_});
    }
  }

  void add_innovations(const Innovations& innovations) {
    const std::span<const double> residual = innovations.residual, S = innovations.covariance;
    for (std::size_t k = 0; k * M_ < residual.size(); ++k) {
      nis_.add(residual.subspan(k * M_, M_), S.subspan(k * M_ * M_, M_ * M_));
      for (std::size_t m = 0; m < M_; ++m) {
        const double r = residual[k * M_ + m];
        reducible_.add(
            r * r - (innovations.noise.empty() ? R_[m * M_ + m] : innovations.noise[k * M_ + m]));
        innovation_coverage_.add(within_95(r, S[(k * M_ + m) * M_ + m]));
      }
    }
  }

  std::span<const double> H_, R_;
  std::size_t N_, M_;
  bool has_channels_, has_states_;
  TruthKind truth_;
  std::size_t steps_ = 0, values_ = 0;
  Mean raw_, filtered_, smoothed_, gap_line_, gap_filtered_, gap_smoothed_;
  Mean hidden_line_, hidden_filtered_, hidden_smoothed_, state_filtered_, state_smoothed_;
  Mean coverage_, coverage_filtered_, innovation_coverage_, reducible_;
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

TruthKind truth_kind(const Dataset& data, std::size_t state_dim, std::size_t meas_dim) {
  const std::size_t columns = data.x_names.size();
  if (columns == 0) return TruthKind::None;
  if (columns == meas_dim) return TruthKind::Channels;
  if (columns == state_dim) return TruthKind::States;
  throw DataError(fmt::format(
      "{}: the truth has {} columns, but it must have {} (the measured channels) or {} (all states "
      "of the model)",
      data.source.empty() ? "evaluate" : data.source, columns, meas_dim, state_dim));
}

Dataset with_matching_truth(const Dataset& data, const std::vector<std::string>& state_names,
                            const std::vector<std::string>& channel_names) {
  for (const std::vector<std::string>& wanted : {state_names, channel_names}) {
    std::vector<std::size_t> columns;
    for (const std::string& name : wanted) {
      const auto found = std::find(data.x_names.begin(), data.x_names.end(), "true_" + name);
      if (found == data.x_names.end()) break;
      columns.push_back(static_cast<std::size_t>(found - data.x_names.begin()));
    }
    if (columns.size() != wanted.size()) continue;
    Dataset matched = data;
    matched.x_names.clear();
    for (const std::size_t column : columns) matched.x_names.push_back(data.x_names[column]);
    for (std::size_t s = 0; s < data.series.size(); ++s) {
      const std::vector<double>& from = data.series[s].x;
      std::vector<double>& to = matched.series[s].x;
      to.clear();
      for (std::size_t row = 0; row < from.size(); row += data.x_names.size())
        for (const std::size_t column : columns) to.push_back(from[row + column]);
    }
    return matched;
  }
  return data;
}

Dataset shown_data(const Dataset& data, const EvaluateOptions& o) {
  std::string wrong;
  const auto require = [&](bool holds, const char* name, auto value, const char* rule) {
    if (!holds) wrong += fmt::format("\n  {} = {}, but it must be {}", name, value, rule);
  };
  require(o.hide >= 0 && o.hide < 1, "hide", o.hide, "in [0, 1)");
  require(o.hide_run >= 1 && std::isfinite(o.hide_run), "hide_run", o.hide_run, ">= 1 and finite");
  require(o.horizon >= 0 && o.horizon <= 100000, "horizon", o.horizon, "in 0..100000");
  require(o.threads >= 0, "threads", o.threads, ">= 0");
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

Evaluation score(const Dataset& data, const Dataset& shown, const Estimates& filtered,
                 const Estimates& smoothed, const std::vector<Innovations>& innovations,
                 std::span<const double> H, std::span<const double> R) {
  const auto M = static_cast<std::size_t>(shown.meas_dim());
  const std::size_t N = H.size() / M;
  Scorer scorer(H, R, N, M, truth_kind(data, N, M));
  for (std::size_t s = 0; s < shown.series.size(); ++s)
    scorer.add(data.series[s], shown.series[s], filtered.series[s], smoothed.series[s],
               innovations[s]);
  Evaluation evaluation = scorer.result(filtered.log_likelihood);
  evaluation.whiteness_p = whiteness(innovations, M);
  return evaluation;
}

}  // namespace kalmia::study
