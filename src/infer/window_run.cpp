#include "infer/window_run.hpp"

#include "engine/window_slice.hpp"

namespace kalmia::infer {

template <typename Group>
engine::LaneFailure run_steps(const typename Group::Head::Model& model, const Group& group,
                              int steps, const WindowFilling& filling,
                              const heads::StateMoments& moments,
                              typename Group::Head::Carry& carry,
                              typename Group::Head::Workspace& workspace) {
  using Head = typename Group::Head;
  const int N = model.architecture->state_dim();
  for (int begin = 0, end = 0; begin < steps; begin = end) {
    filling.fill(end++);
    while (end < steps && !filling.waits(end)) filling.fill(end++);
    const engine::WindowSlice<Head> slice(model, group.view(), begin, end);
    engine::window_forward(model, slice.input(), carry, moments.from(begin, N, group.lanes),
                           workspace);
    for (engine::LaneFailure failure : workspace.failures) {
      if (slice.input().length[failure.lane] == 0) continue;
      failure.step += begin;
      return failure;
    }
  }
  return {.lane = -1};
}

#define KALMIA_INSTANTIATE(Group)                                                                 \
  template engine::LaneFailure run_steps<Group>(const Group::Head::Model&, const Group&, int,     \
                                                const WindowFilling&, const heads::StateMoments&, \
                                                Group::Head::Carry&, Group::Head::Workspace&);
KALMIA_INSTANTIATE(heads::StateGroup<float>)
KALMIA_INSTANTIATE(heads::StateGroup<double>)
KALMIA_INSTANTIATE(heads::FusionGroup<float>)
#undef KALMIA_INSTANTIATE

}  // namespace kalmia::infer
