#include "infer/lane_fill.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "infer/gap_step.hpp"

namespace kalmia::infer {

template <typename T>
void prepare_group(const model::LearnedModel<T>& model, int steps, int lanes, bool irregular,
                   heads::StateGroup<T>& group) {
  prepare_group(model, model.architecture(), steps, lanes, irregular, group);
}

template <typename T>
void prepare_group(const model::LearnedModel<T>& model, const heads::Architecture& architecture,
                   int steps, int lanes, bool irregular, heads::StateGroup<T>& group) {
  group.resize(architecture, steps, lanes);
  const auto volume = [&](int rows) {
    return static_cast<std::size_t>(steps) * static_cast<std::size_t>(rows) *
           static_cast<std::size_t>(lanes);
  };
  group.observed.resize(volume(model.meas_dim()));
  group.centre.resize(volume(model.state_dim()));
  if (model.minds_gaps() && &architecture == &model.architecture()) {
    group.trust.resize(volume(model.state_dim()));
    std::ranges::fill(group.trust.span(), 1.0);
    group.lost.resize(volume(1));
  }
  if (irregular) group.dt.resize(volume(1));
  group.u.resize(volume(model.expert().map->input_dim()));
  group.length.assign(static_cast<std::size_t>(lanes), 0);
  group.fresh.assign(static_cast<std::size_t>(lanes), 1);
}

template <typename T>
void prepare_weights(heads::StateGroup<T>& group) {
  group.weight.resize(group.y.size());
  std::ranges::fill(group.weight.span(), 1.0);
}

template <typename T>
void fill_weights(int k, int lane, const double* weight, heads::StateGroup<T>& group) {
  if (group.weight.empty() || weight == nullptr) return;
  const auto M = static_cast<std::ptrdiff_t>(group.y.size()) /
                 (static_cast<std::ptrdiff_t>(group.steps) * group.lanes);
  double* at = group.weight.data() + static_cast<std::ptrdiff_t>(k) * M * group.lanes + lane;
  for (std::ptrdiff_t m = 0; m < M; ++m) at[m * group.lanes] = weight[m];
}

LaneMemory empty_memory(int meas_dim) {
  return LaneMemory(static_cast<std::size_t>(meas_dim), std::numeric_limits<double>::quiet_NaN());
}

namespace {

// The column of one lane.
std::vector<double> lane_of(const Buffer<double>& panel, int lane, int lanes) {
  std::vector<double> column;
  for (std::size_t i = static_cast<std::size_t>(lane); i < panel.size();
       i += static_cast<std::size_t>(lanes))
    column.push_back(panel[i]);
  return column;
}

}  // namespace

template <typename T>
bool waits_for_state(const model::LearnedModel<T>& model, const double* before) {
  return before != nullptr && model.minds_gaps() && any_missing(before, model.meas_dim());
}

template <typename T>
void fill_step(const model::LearnedModel<T>& model, int k, int lane, const double* before,
               const double* now, double dt_ratio, const double* u, LaneMemory& memory,
               const heads::StateCarry<T>* carry, heads::StateGroup<T>& group) {
  const model::FeatureSpec& features = model.description().features;
  const auto at = [&](int rows) {
    return static_cast<std::ptrdiff_t>(k) * rows * group.lanes + lane;
  };
  if (before != nullptr) {
    T* input = group.input_fwd.data() + at(features.input_dim());
    double* centre = group.centre.data() + at(features.state_dim());
    if (carry != nullptr && waits_for_state(model, before)) {
      GapStep gap(features.meas_dim());
      const std::vector<double> x = lane_of(carry->x, lane, group.lanes);
      const std::vector<double> P = lane_of(carry->P, lane, group.lanes);
      gap.set(model, before, memory.data(), x.data(), P.data());
      features.step_to(gap.shown.data(), memory.data(), input, centre, group.lanes);
      features.trust_to(gap.trust.data(), group.trust.data() + at(features.state_dim()),
                        group.lanes);
      group.lost.data()[at(1)] = gap.lost * std::min(1.0, dt_ratio);
    } else {
      features.step_to(before, memory.data(), input, centre, group.lanes);
      for (int n = 0; !group.trust.empty() && n < features.state_dim(); ++n)
        group.trust.data()[at(features.state_dim()) + n * group.lanes] = 1;
      if (!group.lost.empty()) group.lost.data()[at(1)] = 0;
    }
    // In a gap a recurrent filter has nothing else than the centre.
    if (!model.description().recursive()) features.seen_centre(memory.data(), centre, group.lanes);
    features.drive_to(dt_ratio, u, input, group.lanes);
  }
  const int M = features.meas_dim();
  double* y = group.y.data() + at(M);
  double* observed = group.observed.data() + at(M);
  for (int m = 0; m < M; ++m) {
    const bool missing = std::isnan(now[m]);
    y[m * group.lanes] = missing ? 0 : now[m];
    observed[m * group.lanes] = missing ? 0 : 1;
  }
  if (!group.dt.empty()) group.dt.data()[at(1)] = dt_ratio * model.map_dt();
  const int inputs = model.expert().map->input_dim();
  for (int i = 0; i < inputs; ++i)
    group.u.data()[at(inputs) + i * group.lanes] = before == nullptr ? 0 : u[i];
}

void fill_forwards(const model::LearnedModel<float>& model, int k, int lane,
                   const LaneWindow& window, LaneMemory& memory,
                   const heads::StateCarry<float>* carry, heads::StateGroup<float>& group) {
  const auto M = static_cast<std::ptrdiff_t>(model.meas_dim());
  const auto U = static_cast<std::ptrdiff_t>(model.description().features.control_dim());
  const double* now = window.y + k * M;
  const double* before = window.shown_before(k, model.meas_dim());
  fill_step(model, k, lane, before, now, window.dt_ratio == nullptr ? 1.0 : window.dt_ratio[k],
            window.u == nullptr || before == nullptr ? nullptr : window.u + (k - 1) * U, memory,
            carry, group);
  fill_weights(k, lane, window.weight == nullptr ? nullptr : window.weight + k * M, group);
}

void fill_forwards(const model::LearnedModel<float>& model, int lane, const LaneWindow& window,
                   LaneMemory& memory, heads::StateGroup<float>& group) {
  for (int k = 0; k < window.steps; ++k)
    fill_forwards(model, k, lane, window, memory, nullptr, group);
}

template <typename T>
void fill_step(const model::LearnedModel<T>& model, int k, int lane, const SeriesView& piece,
               int step, LaneMemory& memory, const heads::StateCarry<T>* carry,
               heads::StateGroup<T>& group) {
  const auto M = static_cast<std::ptrdiff_t>(model.meas_dim());
  const auto U = static_cast<std::ptrdiff_t>(model.description().features.control_dim());
  const double* now = piece.y + step * M;
  fill_step(model, k, lane, step == 0 ? nullptr : now - M, now,
            piece.dt_ratio == nullptr ? 1.0 : piece.dt_ratio[step],
            piece.u == nullptr || step == 0 ? nullptr : piece.u + (step - 1) * U, memory, carry,
            group);
  fill_weights(k, lane, piece.weight == nullptr ? nullptr : piece.weight + step * M, group);
  if (group.linearise.empty()) return;
  const int N = model.state_dim();
  double* at = group.linearise.data() + static_cast<std::ptrdiff_t>(k) * 2 * N * group.lanes + lane;
  for (const int from : {std::max(step - 1, 0), step})  // no step leads to the first state
    for (int n = 0; n < N; ++n, at += group.lanes)
      *at = piece.linearise[static_cast<std::ptrdiff_t>(from) * N + n];
}

#define KALMIA_INSTANTIATE(T)                                                                    \
  template void prepare_weights<T>(heads::StateGroup<T>&);                                       \
  template void fill_weights<T>(int, int, const double*, heads::StateGroup<T>&);                 \
  template void prepare_group<T>(const model::LearnedModel<T>&, int, int, bool,                  \
                                 heads::StateGroup<T>&);                                         \
  template void prepare_group<T>(const model::LearnedModel<T>&, const heads::Architecture&, int, \
                                 int, bool, heads::StateGroup<T>&);                              \
  template void fill_step<T>(const model::LearnedModel<T>&, int, int, const double*,             \
                             const double*, double, const double*, LaneMemory&,                  \
                             const heads::StateCarry<T>*, heads::StateGroup<T>&);                \
  template bool waits_for_state<T>(const model::LearnedModel<T>&, const double*);                \
  template void fill_step<T>(const model::LearnedModel<T>&, int, int, const SeriesView&, int,    \
                             LaneMemory&, const heads::StateCarry<T>*, heads::StateGroup<T>&);
KALMIA_INSTANTIATE(float)
KALMIA_INSTANTIATE(double)
#undef KALMIA_INSTANTIATE

}  // namespace kalmia::infer
