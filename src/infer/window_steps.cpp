#include "infer/window_steps.hpp"

namespace kalmia::infer {

template <typename T>
model::LaneFailure run_steps(const model::WindowModel<T>& model, const model::LaneGroup<T>& group,
                             int steps, const WindowFilling& filling,
                             const model::WindowMoments& moments, model::Carry<T>& carry,
                             model::Workspace<T>& workspace) {
  const int N = model.architecture->state_dim();
  for (int begin = 0, end = 0; begin < steps; begin = end) {
    filling.fill(end++);
    while (end < steps && !filling.waits(end)) filling.fill(end++);
    const model::WindowSlice<T> slice(model, group.view(), begin, end);
    model::window_forward(model, slice.input(), carry,
                          model::moments_from(moments, begin, N, group.lanes), workspace);
    for (model::LaneFailure failure : workspace.failures) {
      if (slice.input().length[failure.lane] == 0) continue;
      failure.step += begin;
      return failure;
    }
  }
  return {.lane = -1};
}

#define KALMIA_INSTANTIATE(T)                                                              \
  template model::LaneFailure run_steps<T>(                                                \
      const model::WindowModel<T>&, const model::LaneGroup<T>&, int, const WindowFilling&, \
      const model::WindowMoments&, model::Carry<T>&, model::Workspace<T>&);
KALMIA_INSTANTIATE(float)
KALMIA_INSTANTIATE(double)
#undef KALMIA_INSTANTIATE

}  // namespace kalmia::infer
