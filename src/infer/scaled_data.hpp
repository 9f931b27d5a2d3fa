// Measurements in the model's units.
#pragma once

#include <vector>

#include "infer/run.hpp"
#include "kalmia/data.hpp"
#include "model/learned_model.hpp"

namespace kalmia::infer {

/// Steps begin..end-1 of a series.
struct Stretch {
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

/// The measurements of all series in the model's units, NaN = missing. Truth stays behind.
class ScaledData {
 public:
  ScaledData(const Dataset& data, const model::Units& units);

  int meas_dim() const { return meas_dim_; }
  const double* at(int series, int step) const {
    return y_[static_cast<std::size_t>(series)].data() +
           static_cast<std::ptrdiff_t>(step) * meas_dim_;
  }
  Piece piece(const Stretch& stretch) const {
    return {at(stretch.series, stretch.begin), stretch.steps()};
  }
  /// A whole series.
  Stretch series(int index) const {
    return {index, 0, static_cast<int>(y_[static_cast<std::size_t>(index)].size()) / meas_dim_};
  }
  int series_count() const { return static_cast<int>(y_.size()); }
  /// The measured values of one step, M numbers.
  Measured measured(const double* y) const;
  /// Those of a stretch.
  Measured measured(const Stretch& stretch) const;

 private:
  int meas_dim_;
  std::vector<double> log_unit_;  // M
  std::vector<std::vector<double>> y_;
};

}  // namespace kalmia::infer
