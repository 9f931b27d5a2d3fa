// kalman_filter and rts_smoother: constant matrices.
#include <cstring>

#include "kalman/classical_batch.hpp"
#include "kalman/classical_smoother.hpp"
#include "kalman/classical_step.hpp"
#include "kalmia/classical.hpp"

namespace kalmia {
namespace kalman {
namespace {

// `schedule` may be null. A line follows it while its series are complete, then goes on by itself.
void filter_line(const ModelLines& model, const CovarianceSchedule* schedule,
                 const MeasurementsView& y, const LinePlan& plan, FilterState& state,
                 FilterResult& result) {
  state.restart();
  double observed[kLanes] = {};
  for (int k = 0; k < plan.steps; ++k) {
    const lanes::LaneBits active = plan.active(k);
    const lanes::LaneBits missing = load_measurements(y, plan, k, active, state, observed);
    if (schedule != nullptr && missing == 0 && schedule->covers(k)) {
      const CovarianceSchedule::Step step = schedule->at(k);
      advance_mean(model, state, step);
      store_step(plan, k, active, state, observed, &step, result);
      continue;
    }
    if (schedule != nullptr && k > 0) schedule->hand_over(k - 1, state);
    schedule = nullptr;
    const lanes::LaneBits failed = active & advance_linear(model, state, active, missing);
    if (failed != 0) throw_failed(plan, k, failed, kInnovationFailure);
    store_step(plan, k, active, state, observed, nullptr, result);
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
    filter_line(lines, &schedule, y, plan, filters[t], result);
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
