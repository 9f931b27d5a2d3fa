#include "kalman/classical/smoother.hpp"

#include <cstring>

#include "kalman/classical/line_step.hpp"

namespace kalmia::kalman {
namespace {

bool same_rows(const double* a, const double* b, int width) {
  return std::memcmp(a, b, static_cast<std::size_t>(width) * sizeof(double)) == 0;
}

// The lanes of `live` whose covariances of the step k -> k-1 are those of the step k+1 -> k.
lanes::LaneBits lanes_with_same_covariances(const LinePlan& plan, int k, lanes::LaneBits live,
                                            const FilterResult& result) {
  const int width = result.state_dim * result.state_dim;
  lanes::LaneBits same = 0;
  for (int b = 0; b < plan.count; ++b) {
    if (((live >> b) & 1) == 0 || k + 1 >= plan.length[b]) continue;
    const double* filtered =
        result.filtered.covariance.data() + row_at(result, plan.series[b], k - 1, width);
    const double* predicted =
        result.predicted.covariance.data() + row_at(result, plan.series[b], k, width);
    if (same_rows(filtered, filtered + width, width) &&
        same_rows(predicted, predicted + width, width))
      same |= lanes::LaneBits{1} << b;
  }
  return same;
}

void load_moments(const LinePlan& plan, int k, lanes::LaneBits live, bool covariances,
                  const FilterResult& result, SmootherState& state) {
  const int N = state.N;
  const auto load = [&](const Array& array, int at, int width, int b, double* lines) {
    write_lane(lines, width, b, array.data() + row_at(result, plan.series[b], at, width));
  };
  for (int b = 0; b < plan.count; ++b) {
    if (((live >> b) & 1) == 0) continue;
    load(result.filtered.mean, k - 1, N, b, state.x_filt);
    load(result.predicted.mean, k, N, b, state.x_pred);
    if (!covariances) continue;
    load(result.filtered.covariance, k - 1, N * N, b, state.P_filt);
    load(result.predicted.covariance, k, N * N, b, state.P_pred);
  }
}

// Lanes whose series ends at step k start from its filtered moments.
void begin_lanes(const LinePlan& plan, int k, lanes::LaneBits live, const FilterResult& result,
                 SmootherState& state) {
  const int N = state.N;
  for (int b = 0; b < plan.count; ++b) {
    if (((live >> b) & 1) == 0 || plan.length[b] != k + 1) continue;
    write_lane(state.x_smooth, N, b,
               result.filtered.mean.data() + row_at(result, plan.series[b], k, N));
    write_lane(state.P_smooth, N * N, b,
               result.filtered.covariance.data() + row_at(result, plan.series[b], k, N * N));
  }
}

void store_smoothed(const LinePlan& plan, int k, lanes::LaneBits live, const SmootherState& state,
                    FilterResult& result) {
  const int N = state.N;
  const int width = N * N;
  for (int b = 0; b < plan.count; ++b) {
    if (((live >> b) & 1) == 0) continue;
    read_lane(state.x_smooth, N, b,
              result.smoothed.mean.data() + row_at(result, plan.series[b], k, N));
    double* row = result.smoothed.covariance.data() + row_at(result, plan.series[b], k, width);
    if (state.kept && k + 1 < plan.length[b])
      std::memcpy(row, row + width, static_cast<std::size_t>(width) * sizeof(double));
    else
      read_lane(state.P_smooth, width, b, row);
  }
}

}  // namespace

FilterOptions options_for_smoothing(const FilterOptions& options) {
  FilterOptions all = options;
  all.predicted = all.filtered = all.covariances = true;
  return all;
}

void drop_unwanted(const FilterOptions& options, FilterResult& result) {
  if (!options.predicted) result.predicted = {};
  if (!options.filtered) result.filtered = {};
  if (options.covariances) return;
  result.predicted.covariance = {};
  result.filtered.covariance = {};
  result.smoothed.covariance = {};
}

void smooth_line(const LinePlan& plan, lanes::LaneBits chosen, const double* F, const double* Q,
                 SmootherState& state, FilterResult& result, const LoadTransition& load) {
  state.restart();
  for (int k = plan.steps - 1; k >= 0; --k) {
    const lanes::LaneBits live = chosen & plan.active(k);
    begin_lanes(plan, k, live, result, state);
    store_smoothed(plan, k, live, state, result);
    if (k == 0 || live == 0) continue;
    const lanes::LaneBits same =
        F == nullptr ? 0 : lanes_with_same_covariances(plan, k, live, result);
    load_moments(plan, k, live, !state.gain_valid || same != live, result, state);
    if (F == nullptr) load(k, live, state);
    const lanes::LaneBits failed =
        live & smooth_back(F == nullptr ? state.F : F, Q, state, live, same);
    if (failed != 0) throw_failed(plan, k, failed, kSmootherFailure);
  }
}

}  // namespace kalmia::kalman
