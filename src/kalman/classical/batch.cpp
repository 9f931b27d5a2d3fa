#include "kalman/classical/batch.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <numeric>

#include "base/threads.hpp"
#include "kalman/matrix_checks.hpp"
#include "kalmia/error.hpp"

namespace kalmia::kalman {
namespace {

const double kNan = std::numeric_limits<double>::quiet_NaN();
const double kLogTwoPi = std::log(2 * std::numbers::pi);

int length_of(const MeasurementsView& y, int series) {
  return y.lengths.empty() ? y.steps : y.lengths[static_cast<std::size_t>(series)];
}

std::string place(int k, int series) {
  return "step " + std::to_string(k) + ", series " + std::to_string(series);
}

std::vector<double> or_zeros(const std::vector<double>& vector, int size) {
  return vector.empty() ? std::vector<double>(static_cast<std::size_t>(size)) : vector;
}

// Writes one lane's row; where the step kept a covariance, the row before it holds the numbers.
void store_row(const double* lines, int width, int lane, bool same_as_before, double* row) {
  if (same_as_before)
    std::memcpy(row, row - width, static_cast<std::size_t>(width) * sizeof(double));
  else
    read_lane(lines, width, lane, row);
}

}  // namespace

const char kInnovationFailure[] =
    "innovation covariance H P H' + R is not positive definite (P has overflowed or is not a "
    "covariance: check the scales of F and Q, and that unstable states are measured)";
const char kSmootherFailure[] =
    "predicted covariance is not positive semi-definite (check the scales of F and Q)";

std::string infinite_text(int component, double value) {
  return ", component " + std::to_string(component) + ": the measurement is " + number_text(value) +
         ", but it must be finite, or NaN if missing";
}

lanes::LaneBits LinePlan::active(int k) const {
  if (count > 0 && length[count - 1] > k) return (lanes::LaneBits{1} << count) - 1;
  lanes::LaneBits bits = 0;
  for (int b = 0; b < count && length[b] > k; ++b) bits |= lanes::LaneBits{1} << b;
  return bits;
}

void check_view(const MeasurementsView& y, int meas_dim) {
  if (y.meas_dim != meas_dim)
    throw ConfigError("measurements have " + std::to_string(y.meas_dim) +
                      " components, but the model's meas_dim is " + std::to_string(meas_dim));
  if (y.series < 0 || y.steps < 0)
    throw ConfigError("measurements have " + std::to_string(y.series) + " series of " +
                      std::to_string(y.steps) + " steps, but neither may be negative");
  if (y.lengths.empty()) return;
  if (y.lengths.size() != static_cast<std::size_t>(y.series))
    throw ConfigError("lengths has " + std::to_string(y.lengths.size()) +
                      " entries, but there are " + std::to_string(y.series) + " series");
  for (int s = 0; s < y.series; ++s)
    if (length_of(y, s) < 0 || length_of(y, s) > y.steps)
      throw ConfigError("lengths[" + std::to_string(s) + "] = " + std::to_string(length_of(y, s)) +
                        ", but it must be in 0.." + std::to_string(y.steps));
}

std::vector<double> check_noise_and_start(int state_dim, const std::vector<double>& Q,
                                          const std::vector<double>& x0,
                                          const std::vector<double>& P0) {
  if (state_dim < 1)
    throw ConfigError("state_dim = " + std::to_string(state_dim) + ", but it must be >= 1");
  check_matrix("Q", Q, state_dim, state_dim);
  check_symmetric("Q", Q, state_dim);
  check_positive_semidefinite("Q", Q, state_dim);
  std::vector<double> start = or_zeros(x0, state_dim);
  check_matrix("x0", start, state_dim, 1);
  check_matrix("P0", P0, state_dim, state_dim);
  check_symmetric("P0", P0, state_dim);
  check_positive_semidefinite("P0", P0, state_dim);
  return start;
}

ModelLines make_model_lines(const LinearModel& model) {
  const int N = model.state_dim;
  const std::vector<double> x0 = check_noise_and_start(N, model.Q, model.x0, model.P0);
  check_matrix("F", model.F, N, N);
  const std::vector<double> e = or_zeros(model.e, N);
  check_matrix("e", e, N, 1);
  return {spread_over_lanes(model.F),  spread_over_lanes(e),
          spread_over_lanes(model.Q),  spread_over_lanes(x0),
          spread_over_lanes(model.P0), Emission(N, model.meas_dim, model.H, model.R)};
}

std::vector<LinePlan> plan_lines(const MeasurementsView& y) {
  std::vector<int> order(static_cast<std::size_t>(y.series));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return length_of(y, a) > length_of(y, b); });
  std::vector<LinePlan> plans;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kLanes == 0) plans.emplace_back();
    LinePlan& plan = plans.back();
    plan.series[plan.count] = order[i];
    plan.length[plan.count] = length_of(y, order[i]);
    ++plan.count;
    plan.steps = plan.length[0];
  }
  return plans;
}

int team_size(int threads, const std::vector<LinePlan>& plans) {
  check_threads(threads);
  const int wanted = threads == 0 ? hardware_threads() : threads;
  return std::clamp(static_cast<int>(plans.size()), 1, wanted);
}

void for_each_line(int threads, const std::vector<LinePlan>& plans,
                   const std::function<void(const LinePlan& plan, int thread)>& task) {
  ThreadTeam team(team_size(threads, plans));
  team.run(static_cast<int>(plans.size()),
           [&](int line, int thread) { task(plans[static_cast<std::size_t>(line)], thread); });
}

void prepare_result(const MeasurementsView& y, int state_dim, int meas_dim, bool smoothed,
                    const FilterOptions& options, FilterResult& result) {
  result.series = y.series;
  result.steps = y.steps;
  result.state_dim = state_dim;
  result.meas_dim = meas_dim;
  result.log_likelihood.assign(static_cast<std::size_t>(y.series), 0.0);
  result.iterations.clear();
  result.last_change.clear();
  const auto prepare = [&](Array& array, int width, bool wanted) {
    const std::size_t size = static_cast<std::size_t>(y.series) *
                             static_cast<std::size_t>(y.steps) * static_cast<std::size_t>(width);
    if (!wanted || size == 0) {
      array = Array();
      return;
    }
    if (array.size() != size) array = Array(size);
    for (int s = 0; s < y.series; ++s)
      std::fill(array.data() + row_at(result, s, length_of(y, s), width),
                array.data() + row_at(result, s, y.steps, width), kNan);
  };
  const auto prepare_moments = [&](Moments& moments, bool wanted) {
    prepare(moments.mean, state_dim, wanted);
    prepare(moments.covariance, state_dim * state_dim, wanted && options.covariances);
  };
  prepare_moments(result.predicted, options.predicted);
  prepare_moments(result.filtered, options.filtered);
  prepare_moments(result.smoothed, smoothed);
  prepare(result.innovations, meas_dim, options.innovations);
}

lanes::LaneBits load_measurements(const MeasurementsView& y, const LinePlan& plan, int k,
                                  lanes::LaneBits active, FilterState& state,
                                  double (&observed)[kLanes]) {
  const int M = state.M;
  // The usual case first: everything measured. The flags are then not read.
  bool finite = true;
  for (int b = 0; b < kLanes; ++b) {
    const int series = plan.series[((active >> b) & 1) != 0 ? b : 0];
    const double* row = y.data + (static_cast<std::ptrdiff_t>(series) * y.steps + k) * M;
    for (int m = 0; m < M; ++m) {
      state.y[m * kLanes + b] = row[m];
      finite = finite && row[m] - row[m] == 0;  // false for NaN and infinities
    }
    observed[b] = M;
  }
  if (finite && (active & 1) != 0) return 0;
  lanes::LaneBits missing = 0;
  for (int b = 0; b < kLanes; ++b) {
    const bool runs = ((active >> b) & 1) != 0;
    if (b > 0 && !runs && (active & 1) != 0) {  // as lane 0, just loaded
      for (int m = 0; m < M; ++m) {
        state.y[m * kLanes + b] = state.y[m * kLanes];
        state.observed[m * kLanes + b] = state.observed[m * kLanes];
      }
      continue;
    }
    const int series = plan.series[runs ? b : 0];
    const double* row = y.data + (static_cast<std::ptrdiff_t>(series) * y.steps + k) * M;
    int seen = 0;
    for (int m = 0; m < M; ++m) {
      const double value = row[m];
      const bool known = !std::isnan(value);
      if (std::isinf(value)) throw DataError(place(k, series) + infinite_text(m, value));
      state.y[m * kLanes + b] = value;
      state.observed[m * kLanes + b] = known ? 1 : 0;
      seen += known ? 1 : 0;
    }
    observed[b] = seen;
    if (seen < M) missing |= lanes::LaneBits{1} << b;
  }
  return missing;
}

void store_means(const LinePlan& plan, int k, lanes::LaneBits active, const FilterState& state,
                 const double (&observed)[kLanes], FilterResult& result) {
  const auto store = [&](Array& array, const double* lines, int width) {
    if (array.empty()) return;
    for (int b = 0; b < plan.count; ++b)
      if (((active >> b) & 1) != 0)
        read_lane(lines, width, b, array.data() + row_at(result, plan.series[b], k, width));
  };
  store(result.predicted.mean, state.x_pred, state.N);
  store(result.filtered.mean, state.x_filt, state.N);
  store(result.innovations, state.innovation, state.M);
  for (int b = 0; b < plan.count; ++b)
    if (((active >> b) & 1) != 0)
      result.log_likelihood[static_cast<std::size_t>(plan.series[b])] +=
          log_density(state.nll[b], observed[b]);
}

void store_step(const LinePlan& plan, int k, lanes::LaneBits active, const FilterState& state,
                const double (&observed)[kLanes], FilterResult& result) {
  store_means(plan, k, active, state, observed, result);
  const int width = state.N * state.N;
  // Row k-1 exists whenever the covariances were kept.
  const auto store = [&](Array& array, const double* lines) {
    if (array.empty()) return;
    for (int b = 0; b < plan.count; ++b)
      if (((active >> b) & 1) != 0)
        store_row(lines, width, b, state.kept,
                  array.data() + row_at(result, plan.series[b], k, width));
  };
  store(result.predicted.covariance, state.P_pred);
  store(result.filtered.covariance, state.P_filt);
}

double log_density(double nll, double observed) { return -0.5 * (nll + observed * kLogTwoPi); }

void throw_failed(const LinePlan& plan, int k, lanes::LaneBits failed, const std::string& what) {
  int series = std::numeric_limits<int>::max();
  for (int b = 0; b < plan.count; ++b)
    if ((failed >> b) & 1) series = std::min(series, plan.series[b]);
  throw NumericalError(place(k, series) + ": " + what);
}

}  // namespace kalmia::kalman
