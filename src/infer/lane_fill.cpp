#include "infer/lane_fill.hpp"

#include <cmath>
#include <limits>

namespace kalmia::infer {

template <typename T>
void prepare_group(const model::Architecture& architecture, int steps, int lanes,
                   model::LaneGroup<T>& group) {
  group.resize(architecture, steps, lanes);
  const auto volume = [&](int rows) {
    return static_cast<std::size_t>(steps) * static_cast<std::size_t>(rows) *
           static_cast<std::size_t>(lanes);
  };
  group.observed.resize(volume(architecture.meas_dim()));
  group.centre.resize(volume(architecture.state_dim()));
  group.length.assign(static_cast<std::size_t>(lanes), 0);
  group.fresh.assign(static_cast<std::size_t>(lanes), 1);
}

LaneMemory empty_memory(int meas_dim) {
  return LaneMemory(static_cast<std::size_t>(meas_dim), std::numeric_limits<double>::quiet_NaN());
}

template <typename T>
void fill_step(const model::FeatureSpec& features, int k, int lane, const double* before,
               const double* now, LaneMemory& memory, model::LaneGroup<T>& group) {
  const auto at = [&](int rows) {
    return static_cast<std::ptrdiff_t>(k) * rows * group.lanes + lane;
  };
  if (before != nullptr)
    features.step_to(before, memory.data(), group.input_fwd.data() + at(features.input_dim()),
                     group.centre.data() + at(features.state_dim()), group.lanes);
  const int M = features.meas_dim();
  double* y = group.y.data() + at(M);
  double* observed = group.observed.data() + at(M);
  for (int m = 0; m < M; ++m) {
    const bool missing = std::isnan(now[m]);
    y[m * group.lanes] = missing ? 0 : now[m];
    observed[m * group.lanes] = missing ? 0 : 1;
  }
}

template void prepare_group<float>(const model::Architecture&, int, int, model::LaneGroup<float>&);
template void prepare_group<double>(const model::Architecture&, int, int,
                                    model::LaneGroup<double>&);
template void fill_step<float>(const model::FeatureSpec&, int, int, const double*, const double*,
                               LaneMemory&, model::LaneGroup<float>&);
template void fill_step<double>(const model::FeatureSpec&, int, int, const double*, const double*,
                                LaneMemory&, model::LaneGroup<double>&);

}  // namespace kalmia::infer
