// Measurements in the model's units, and which of them are for learning and which for choosing.
#pragma once

#include <cstdint>
#include <vector>

#include "infer/run.hpp"
#include "kalmia/data.hpp"
#include "model/learned_model.hpp"

namespace kalmia::train {

/// Steps begin..end-1 of a series.
struct Stretch {
  int series = 0;
  int begin = 0;
  int end = 0;
  int steps() const { return end - begin; }
};

/// A stretch to be filtered, of which only the steps from `score_from` on count: the filter has
/// settled by then.
struct HeldOut {
  Stretch stretch;
  int score_from = 0;
};

/// How a data set is divided. Held out are whole series where there are at least kManySeries of
/// them and none has more than kLongestShare of the steps, else the end of each.
struct Split {
  std::vector<Stretch> training;
  std::vector<HeldOut> held_out;
};

inline constexpr int kManySeries = 10;
inline constexpr double kLongestShare = 0.25;
/// Steps a filter runs before held-out steps count.
inline constexpr int kSettling = 64;

/// `share` of the steps are held out (0: none). Held-out ends are cut into pieces that run side by
/// side. Series that are empty take part in nothing.
Split split_data(const std::vector<int>& lengths, double share, std::uint64_t seed);

/// How many values were measured, and the sum of the logarithms of their units: what it takes to
/// state a likelihood in the user's units.
struct Measured {
  double values = 0;
  double log_units = 0;
  void add(const Measured& other) {
    values += other.values;
    log_units += other.log_units;
  }
  /// The mean negative log-likelihood of a value in the user's units, from the engine's
  /// nll = r' M^-1 r + log det M over these values.
  double loss(double nll) const;
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
  infer::Piece piece(const Stretch& stretch) const {
    return {at(stretch.series, stretch.begin), stretch.steps()};
  }
  /// The measured values of one step, M numbers.
  Measured measured(const double* y) const;
  /// Those of a stretch.
  Measured measured(const Stretch& stretch) const;

 private:
  int meas_dim_;
  std::vector<double> log_unit_;  // M
  std::vector<std::vector<double>> y_;
};

/// Mean negative log-likelihood of a held-out measured value, in the user's units (nats).
template <typename T>
double held_out_loss(const model::LearnedModel<T>& model, const ScaledData& data,
                     const std::vector<HeldOut>& held_out, ThreadTeam& team);

}  // namespace kalmia::train
