// extended_kalman_filter, extended_rts_smoother and iterated_extended_smoother.
#include <algorithm>
#include <cmath>

#include "kalman/classical/batch.hpp"
#include "kalman/classical/line_step.hpp"
#include "kalman/classical/smoother.hpp"
#include "kalman/matrix_checks.hpp"
#include "kalmia/classical.hpp"
#include "kalmia/error.hpp"

namespace kalmia {
namespace kalman {
namespace {

// The checked model, and what one thread needs to run lines of it.
struct Prepared {
  const NonlinearModel& model;
  std::vector<double> x0;
  Buffer<double> Q, R;
};

struct Workspace {
  Workspace(int N, int M)
      : filter(N, M),
        smoother(N),
        x(static_cast<std::size_t>(N)),
        value(static_cast<std::size_t>(std::max(N, M))),
        jacobian(static_cast<std::size_t>(std::max(N, M) * N)) {}
  FilterState filter;
  SmootherState smoother;
  std::vector<double> x, value, jacobian;
  // Points of linearisation of a line, (lane, step, N); empty: the filter's own estimates.
  std::vector<double> at;
};

Prepared prepare(const NonlinearModel& model) {
  std::vector<double> x0 = check_noise_and_start(model.state_dim, model.Q, model.x0, model.P0);
  if (model.meas_dim < 1)
    throw ConfigError("meas_dim = " + std::to_string(model.meas_dim) + ", but it must be >= 1");
  check_measurement_noise(model.R, model.meas_dim);
  if (!model.transition) throw ConfigError("transition is empty, but it must be a function");
  if (!model.emission) throw ConfigError("emission is empty, but it must be a function");
  return {model, std::move(x0), spread_over_lanes(model.Q), spread_over_lanes(model.R)};
}

// The point at which lane b is linearised at step k, if one is prescribed.
const double* point(const Workspace& w, const LinePlan& plan, int b, int k, int N) {
  return w.at.data() + (static_cast<std::ptrdiff_t>(b) * plan.steps + k) * N;
}

// Calls f at w.x and checks what it gives.
void call(const NonlinearModel::Function& f, const char* name, int rows, int N, int k, int series,
          Workspace& w) {
  const std::span<double> value(w.value.data(), static_cast<std::size_t>(rows));
  const std::span<double> jacobian(w.jacobian.data(), static_cast<std::size_t>(rows * N));
  std::fill(jacobian.begin(), jacobian.end(), 0.0);
  f(w.x, k, value, jacobian);
  const auto check = [&](std::span<const double> numbers, const char* what) {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (!std::isfinite(numbers[i]))
        throw NumericalError("step " + std::to_string(k) + ", series " + std::to_string(series) +
                             ": " + name + " gave " + what + "[" + std::to_string(i) +
                             "] = " + number_text(numbers[i]) + ", but it must be finite");
  };
  check(value, "value");
  check(jacobian, "jacobian");
}

// Lines F = df/dx and e = f - F x of the chosen lanes, at x[k-1].
void linearise_transition(const Prepared& p, const LinePlan& plan, int k, lanes::LaneBits chosen,
                          const double* x_filt, double* F, double* e, Workspace& w) {
  const int N = p.model.state_dim;
  for (int b = 0; b < plan.count; ++b) {
    if (((chosen >> b) & 1) == 0) continue;
    if (w.at.empty())
      read_lane(x_filt, N, b, w.x.data());
    else
      std::copy_n(point(w, plan, b, k - 1, N), N, w.x.begin());
    call(p.model.transition, "transition", N, N, k, plan.series[b], w);
    write_lane(F, N * N, b, w.jacobian.data());
    if (e == nullptr) continue;
    for (int i = 0; i < N; ++i) {
      double offset = w.value[static_cast<std::size_t>(i)];
      for (int j = 0; j < N; ++j)
        offset -=
            w.jacobian[static_cast<std::size_t>(i * N + j)] * w.x[static_cast<std::size_t>(j)];
      e[i * kLanes + b] = offset;
    }
  }
}

// Lines H = dh/dx of the chosen lanes at x[k], and y less the offset h - H x.
void linearise_emission(const Prepared& p, const LinePlan& plan, int k, lanes::LaneBits chosen,
                        Workspace& w) {
  const int N = p.model.state_dim;
  const int M = p.model.meas_dim;
  for (int b = 0; b < plan.count; ++b) {
    if (((chosen >> b) & 1) == 0) continue;
    if (w.at.empty())
      read_lane(w.filter.x_pred, N, b, w.x.data());
    else
      std::copy_n(point(w, plan, b, k, N), N, w.x.begin());
    call(p.model.emission, "emission", M, N, k, plan.series[b], w);
    write_lane(w.filter.H, N * M, b, w.jacobian.data());
    for (int i = 0; i < M; ++i) {
      double offset = w.value[static_cast<std::size_t>(i)];
      for (int j = 0; j < N; ++j)
        offset -=
            w.jacobian[static_cast<std::size_t>(i * N + j)] * w.x[static_cast<std::size_t>(j)];
      w.filter.y[i * kLanes + b] -= offset;
    }
  }
}

// The forward pass over the chosen lanes of a line.
void filter_line(const Prepared& p, const MeasurementsView& y, const LinePlan& plan,
                 lanes::LaneBits chosen, Workspace& w, FilterResult& result) {
  const int N = p.model.state_dim;
  FilterState& state = w.filter;
  state.restart();
  for (int b = 0; b < plan.count; ++b)
    if ((chosen >> b) & 1) result.log_likelihood[static_cast<std::size_t>(plan.series[b])] = 0;
  double observed[kLanes] = {};
  for (int k = 0; k < plan.steps; ++k) {
    const lanes::LaneBits active = chosen & plan.active(k);
    if (active == 0) continue;
    if (k == 0) {
      for (int b = 0; b < kLanes; ++b) {
        write_lane(state.x_pred, N, b, p.x0.data());
        write_lane(state.P_pred, N * N, b, p.model.P0.data());
      }
    } else {
      linearise_transition(p, plan, k, active, state.x_filt, state.F, state.e, w);
      predict_linearised(p.Q.data(), state);
    }
    const lanes::LaneBits missing = load_measurements(y, plan, k, active, state, observed);
    linearise_emission(p, plan, k, active, w);
    const lanes::LaneBits failed = active & update_linearised(p.R.data(), state, missing);
    if (failed != 0) throw_failed(plan, k, failed, kInnovationFailure);
    store_step(plan, k, active, state, observed, result);
  }
}

void smooth_line(const Prepared& p, const LinePlan& plan, lanes::LaneBits chosen, Workspace& w,
                 FilterResult& result) {
  smooth_line(plan, chosen, nullptr, p.Q.data(), w.smoother, result,
              [&](int k, lanes::LaneBits live, SmootherState& state) {
                linearise_transition(p, plan, k, live, state.x_filt, state.F, nullptr, w);
              });
}

// Largest move of a lane's smoothed means from the points in w.at, in standard deviations. A state
// known exactly may still move by rounding: its deviation counts as 1e-12 of its value at least.
double largest_move(const LinePlan& plan, int b, int N, const Workspace& w,
                    const FilterResult& result) {
  double largest = 0;
  for (int k = 0; k < plan.length[b]; ++k) {
    const double* mean = result.smoothed.mean.data() + row_at(result, plan.series[b], k, N);
    const double* covariance =
        result.smoothed.covariance.data() + row_at(result, plan.series[b], k, N * N);
    const double* before = point(w, plan, b, k, N);
    for (int i = 0; i < N; ++i) {
      const double move = std::abs(mean[i] - before[i]);
      const double deviation =
          std::max(std::sqrt(covariance[i * N + i]), 1e-12 * std::abs(mean[i]));
      if (move > 0) largest = std::max(largest, move / deviation);
    }
  }
  return largest;
}

void iterate_line(const Prepared& p, const MeasurementsView& y, const LinePlan& plan,
                  const IterationOptions& iteration, Workspace& w, FilterResult& result) {
  const int N = p.model.state_dim;
  w.at.clear();
  filter_line(p, y, plan, kAllLaneBits, w, result);
  smooth_line(p, plan, kAllLaneBits, w, result);
  lanes::LaneBits moving = plan.active(0);
  for (int i = 1; i <= iteration.max_iterations && moving != 0; ++i) {
    w.at.resize(static_cast<std::size_t>(plan.count) * static_cast<std::size_t>(plan.steps) *
                static_cast<std::size_t>(N));
    for (int b = 0; b < plan.count; ++b)
      std::copy_n(result.smoothed.mean.data() + row_at(result, plan.series[b], 0, N),
                  static_cast<std::ptrdiff_t>(plan.length[b]) * N,
                  w.at.begin() + static_cast<std::ptrdiff_t>(b) * plan.steps * N);
    filter_line(p, y, plan, moving, w, result);
    smooth_line(p, plan, moving, w, result);
    for (int b = 0; b < plan.count; ++b) {
      if (((moving >> b) & 1) == 0) continue;
      const std::size_t series = static_cast<std::size_t>(plan.series[b]);
      result.iterations[series] = i;
      result.last_change[series] = largest_move(plan, b, N, w, result);
      if (result.last_change[series] <= iteration.tolerance) moving &= ~(lanes::LaneBits{1} << b);
    }
  }
}

enum class Task { Filter, Smooth, Iterate };

FilterResult run(const NonlinearModel& model, const MeasurementsView& y,
                 const FilterOptions& options, Task task, const IterationOptions& iteration) {
  const Prepared p = prepare(model);
  check_view(y, model.meas_dim);
  const bool smooth = task != Task::Filter;
  const std::vector<LinePlan> plans = plan_lines(y);
  FilterResult result;
  prepare_result(y, model.state_dim, model.meas_dim, smooth,
                 smooth ? options_for_smoothing(options) : options, result);
  if (task == Task::Iterate) {
    result.iterations.resize(static_cast<std::size_t>(y.series));
    result.last_change.resize(static_cast<std::size_t>(y.series));
  }
  std::vector<Workspace> workspaces;
  for (int t = 0; t < team_size(options.threads, plans); ++t)
    workspaces.emplace_back(model.state_dim, model.meas_dim);
  for_each_line(options.threads, plans, [&](const LinePlan& plan, int thread) {
    Workspace& w = workspaces[static_cast<std::size_t>(thread)];
    if (task == Task::Iterate) return iterate_line(p, y, plan, iteration, w, result);
    filter_line(p, y, plan, kAllLaneBits, w, result);
    if (smooth) smooth_line(p, plan, kAllLaneBits, w, result);
  });
  if (smooth) drop_unwanted(options, result);
  return result;
}

}  // namespace
}  // namespace kalman

FilterResult extended_kalman_filter(const NonlinearModel& model, const MeasurementsView& y,
                                    const FilterOptions& options) {
  return kalman::run(model, y, options, kalman::Task::Filter, {});
}

FilterResult extended_rts_smoother(const NonlinearModel& model, const MeasurementsView& y,
                                   const FilterOptions& options) {
  return kalman::run(model, y, options, kalman::Task::Smooth, {});
}

FilterResult iterated_extended_smoother(const NonlinearModel& model, const MeasurementsView& y,
                                        const FilterOptions& options,
                                        const IterationOptions& iteration) {
  if (iteration.max_iterations < 0)
    throw ConfigError("max_iterations = " + std::to_string(iteration.max_iterations) +
                      ", but it must be >= 0");
  if (!(iteration.tolerance >= 0))
    throw ConfigError("tolerance = " + kalman::number_text(iteration.tolerance) +
                      ", but it must be >= 0");
  return kalman::run(model, y, options, kalman::Task::Iterate, iteration);
}

}  // namespace kalmia
