// kalman_filter and rts_smoother: constant matrices.
#include <algorithm>

#include "kalman/classical/batch.hpp"
#include "kalman/classical/line_step.hpp"
#include "kalman/classical/smoother.hpp"
#include "kalmia/classical.hpp"

namespace kalmia {
namespace kalman {
namespace {

// Follows the schedule while the line's series are complete, and returns the first step left to do.
int follow_schedule(const ModelLines& model, const CovarianceSchedule& schedule,
                    const MeasurementsView& y, const LinePlan& plan, FilterState& state,
                    FilterResult& result) {
  double observed[kLanes] = {};
  int k = 0;
  for (; k < plan.steps && schedule.covers(k); ++k) {
    const lanes::LaneBits active = plan.active(k);
    if (load_measurements(y, plan, k, active, state, observed) != 0) break;
    advance_mean(model, state, schedule.at(k));
    store_means(plan, k, active, state, observed, result);
  }
  const int width = state.N * state.N;
  for (int b = 0; b < plan.count; ++b) {
    const int steps = std::min(k, plan.length[b]);
    const std::size_t row = row_at(result, plan.series[b], 0, width);
    if (!result.predicted.covariance.empty())
      schedule.write_predicted(steps, result.predicted.covariance.data() + row);
    if (!result.filtered.covariance.empty())
      schedule.write_filtered(steps, result.filtered.covariance.data() + row);
  }
  return k;
}

void filter_line(const ModelLines& model, const CovarianceSchedule& schedule,
                 const MeasurementsView& y, const LinePlan& plan, FilterState& state,
                 FilterResult& result) {
  state.restart();
  int k = follow_schedule(model, schedule, y, plan, state, result);
  if (k > 0 && k < plan.steps) schedule.hand_over(k - 1, state);
  double observed[kLanes] = {};
  for (; k < plan.steps; ++k) {
    const lanes::LaneBits active = plan.active(k);
    const lanes::LaneBits missing = load_measurements(y, plan, k, active, state, observed);
    const lanes::LaneBits failed = active & advance_linear(model, state, active, missing);
    if (failed != 0) throw_failed(plan, k, failed, kInnovationFailure);
    store_step(plan, k, active, state, observed, result);
  }
}

void run(const LinearModel& model, const MeasurementsView& y, const FilterOptions& options,
         bool smooth, FilterResult& result) {
  const ModelLines lines = make_model_lines(model);
  check_view(y, model.meas_dim);
  const std::vector<LinePlan> plans = plan_lines(y);
  prepare_result(y, model.state_dim, model.meas_dim, smooth,
                 smooth ? options_for_smoothing(options) : options, result);
  std::vector<FilterState> filters;
  std::vector<SmootherState> smoothers;
  for (int t = 0; t < team_size(options.threads, plans); ++t) {
    filters.emplace_back(model.state_dim, model.meas_dim);
    if (smooth) smoothers.emplace_back(model.state_dim);
  }
  const CovarianceSchedule schedule(lines, filters[0], plans.empty() ? 0 : plans[0].steps);
  for_each_line(options.threads, plans, [&](const LinePlan& plan, int thread) {
    const std::size_t t = static_cast<std::size_t>(thread);
    filter_line(lines, schedule, y, plan, filters[t], result);
    if (smooth)
      smooth_line(plan, kAllLaneBits, lines.F.data(), lines.Q.data(), smoothers[t], result);
  });
  if (smooth) drop_unwanted(options, result);
}

}  // namespace
}  // namespace kalman

FilterResult kalman_filter(const LinearModel& model, const MeasurementsView& y,
                           const FilterOptions& options) {
  FilterResult result;
  kalman_filter(model, y, options, result);
  return result;
}

void kalman_filter(const LinearModel& model, const MeasurementsView& y,
                   const FilterOptions& options, FilterResult& result) {
  kalman::run(model, y, options, false, result);
}

FilterResult rts_smoother(const LinearModel& model, const MeasurementsView& y,
                          const FilterOptions& options) {
  FilterResult result;
  kalman::run(model, y, options, true, result);
  return result;
}

}  // namespace kalmia
