// What the classical filters share: checking inputs, laying series out in lines of lanes, moving
// numbers between (series, step, ...) arrays and lanes, and running lines over threads.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kalman/classical/line_state.hpp"
#include "kalmia/classical.hpp"

namespace kalmia::kalman {

/// Up to 8 series that run together.
struct LinePlan {
  int count = 0;            ///< series in it; lanes beyond repeat lane 0
  int steps = 0;            ///< of the longest, which is lane 0
  int series[kLanes] = {};  ///< index of the series in each lane
  int length[kLanes] = {};  ///< its steps, not increasing from lane to lane
  /// Lanes whose series has a step k.
  lanes::LaneBits active(int k) const;
};

/// Throws ConfigError unless the view fits `meas_dim` and its lengths are in range.
void check_view(const MeasurementsView& y, int meas_dim);
/// Throws ConfigError unless the matrices fit and Q, P0 are covariances; R and H are checked by
/// Emission. Returns x0, or zeros if it is empty.
std::vector<double> check_noise_and_start(int state_dim, const std::vector<double>& Q,
                                          const std::vector<double>& x0,
                                          const std::vector<double>& P0);
/// Checks the model and spreads it over lanes.
ModelLines make_model_lines(const LinearModel& model);

/// Series sorted by length, longest first, eight to a line.
std::vector<LinePlan> plan_lines(const MeasurementsView& y);

/// Calls task(line, thread) for all lines on `threads` threads (0: all there are).
void for_each_line(int threads, const std::vector<LinePlan>& plans,
                   const std::function<void(const LinePlan& plan, int thread)>& task);
/// The number of threads that for_each_line will use.
int team_size(int threads, const std::vector<LinePlan>& plans);

/// Arrays as asked for; entries beyond a series' length are set to NaN. Arrays that have the right
/// size already are used again.
void prepare_result(const MeasurementsView& y, int state_dim, int meas_dim, bool smoothed,
                    const FilterOptions& options, FilterResult& result);

/// Loads y[k] of the active lanes into state.y and state.observed, and returns the lanes with a
/// missing component. Idle lanes repeat lane 0, so that they hold ordinary numbers. Adds the number
/// of observed components to `observed[lane]`. Throws DataError on an infinite value.
lanes::LaneBits load_measurements(const MeasurementsView& y, const LinePlan& plan, int k,
                                  lanes::LaneBits active, FilterState& state,
                                  double (&observed)[kLanes]);

/// Writes the means and innovations that step k of the active lanes left in `state` to the result's
/// arrays; adds to the log-likelihood what `observed` components contribute.
void store_means(const LinePlan& plan, int k, lanes::LaneBits active, const FilterState& state,
                 const double (&observed)[kLanes], FilterResult& result);
/// The same, and the covariances.
void store_step(const LinePlan& plan, int k, lanes::LaneBits active, const FilterState& state,
                const double (&observed)[kLanes], FilterResult& result);

/// Log-density of a measurement: -(nll + observed log(2 pi)) / 2.
double log_density(double nll, double observed);

/// Throws NumericalError naming the step and the first series among `failed`.
[[noreturn]] void throw_failed(const LinePlan& plan, int k, lanes::LaneBits failed,
                               const std::string& what);
/// ", component 2: the measurement is inf, but ...", to follow a place.
std::string infinite_text(int component, double value);
extern const char kInnovationFailure[];
extern const char kSmootherFailure[];

/// First number of row (series, k) in an array of rows of `width` numbers.
inline std::size_t row_at(const FilterResult& result, int series, int k, int width) {
  return (static_cast<std::size_t>(series) * static_cast<std::size_t>(result.steps) +
          static_cast<std::size_t>(k)) *
         static_cast<std::size_t>(width);
}

}  // namespace kalmia::kalman
