// A window whose later steps can only be filled once earlier ones have run.
#pragma once

#include <functional>

#include "engine/window.hpp"
#include "heads/fusion/fusion.hpp"
#include "heads/state_window.hpp"

namespace kalmia::infer {

/// How the steps of a window are filled.
struct WindowFilling {
  /// Whether step k of any lane needs the state at k - 1.
  std::function<bool(int k)> waits;
  /// Fills step k of all lanes. Where it waits, the carry is at k - 1.
  std::function<void(int k)> fill;
};

/// Fills and runs the first `steps` steps of the group's window, as many at a time as do not wait
/// for each other; `carry` moves on. Returns the lane that broke down first, its step counted in
/// the window; `lane` is -1 where none did.
template <typename Group>
engine::LaneFailure run_steps(const typename Group::Head::Model& model, const Group& group,
                              int steps, const WindowFilling& filling,
                              const heads::StateMoments& moments,
                              typename Group::Head::Carry& carry,
                              typename Group::Head::Workspace& workspace);

}  // namespace kalmia::infer
