// Measurements in the model's units.
#pragma once

#include <vector>

#include "infer/run.hpp"
#include "kalmia/data.hpp"
#include "model/learned_model.hpp"

namespace kalmia::infer {

/// Steps begin..end-1 of a series.
struct StepRange {
  int series = 0;
  int begin = 0;
  int end = 0;
  int steps() const { return end - begin; }
};

/// How many values were measured, and the sum of the logarithms of their units: what it takes to
/// state a likelihood in the user's units.
struct Measured {
  double values = 0;
  double log_units = 0;
  void add(const Measured& other) {
    values += other.values;
    log_units += other.log_units;
  }
  /// Their log-likelihood in the user's units, constants included, from the engine's
  /// nll = r' M^-1 r + log det M over these values.
  double log_likelihood(double nll) const;
  /// The mean negative log-likelihood of a value.
  double loss(double nll) const { return -log_likelihood(nll) / values; }
};

/// The measurements of all series in the model's units, NaN = missing, and what drives their steps.
/// Truth stays behind.
class ScaledData {
 public:
  /// `dt`: the usual length of a step.
  ScaledData(const Dataset& data, const model::Units& units, double dt);
  /// Takes the noise of each value from the data, if they say it, as weights of noise whose
  /// standard deviations are `noise_std` (M, in the user's units).
  void set_weights(const Dataset& data, const std::vector<double>& noise_std);

  int meas_dim() const { return meas_dim_; }
  const double* at(int series, int step) const {
    return y_[static_cast<std::size_t>(series)].data() +
           static_cast<std::ptrdiff_t>(step) * meas_dim_;
  }
  SeriesView view(const StepRange& stretch) const {
    SeriesView piece{at(stretch.series, stretch.begin), stretch.steps(),
                     dt_ratio(stretch.series, stretch.begin),
                     inputs(stretch.series, stretch.begin)};
    piece.weight = weight(stretch.series, stretch.begin);
    return piece;
  }
  /// Weights of the noise at `step`, M numbers; null: all are 1.
  const double* weight(int series, int step) const {
    return weight_.empty() ? nullptr
                           : weight_[static_cast<std::size_t>(series)].data() +
                                 static_cast<std::ptrdiff_t>(step) * meas_dim_;
  }
  /// The data say how noisy each value is.
  bool weighted() const { return !weight_.empty(); }
  /// Lengths of the steps that lead to `step` and on, over the usual one; null: all are 1.
  const double* dt_ratio(int series, int step) const {
    const std::vector<double>& all = drive_[static_cast<std::size_t>(series)].dt;
    return all.empty() ? nullptr : all.data() + step;
  }
  /// Inputs at `step`, U numbers; null where there are none.
  const double* inputs(int series, int step) const {
    const std::vector<double>& all = drive_[static_cast<std::size_t>(series)].u;
    return all.empty() ? nullptr : all.data() + static_cast<std::ptrdiff_t>(step) * input_dim_;
  }
  /// Some step is longer or shorter than usual.
  bool irregular() const { return irregular_; }
  /// A whole series.
  StepRange series(int index) const {
    return {index, 0, static_cast<int>(y_[static_cast<std::size_t>(index)].size()) / meas_dim_};
  }
  int series_count() const { return static_cast<int>(y_.size()); }
  /// The measured values of one step, M numbers.
  Measured measured(const double* y) const;
  /// The measured values of a stretch.
  Measured measured(const StepRange& stretch) const;

 private:
  int meas_dim_;
  int input_dim_;
  bool irregular_ = false;
  std::vector<double> log_unit_;  // M
  std::vector<std::vector<double>> y_;
  std::vector<std::vector<double>> weight_;  // as y_, or empty
  std::vector<model::SeriesDrive> drive_;    // dt over the usual one
};

}  // namespace kalmia::infer
