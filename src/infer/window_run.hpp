// Runs a model over whole series, many at a time, window after window: what filtering and smoothing
// share.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "base/threads.hpp"
#include "engine/batch.hpp"
#include "engine/window.hpp"
#include "heads/fusion/fusion.hpp"
#include "heads/state_window.hpp"
#include "kalmia/error.hpp"

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

/// Which moments a run is asked for.
struct RequestedMoments {
  bool predicted = false;
  bool filtered = false;
  bool transition = false;  ///< F and Q
};

/// What a run changes of the model.
struct RunSettings {
  double process_noise = 1;  ///< times the model's
  /// The pieces' weights are all there is to weigh: Student-t noise finds none of its own.
  bool weights_given = false;
};

/// The moments of one lane over one window; step i of it is step first + i of the piece.
class LaneMoments {
 public:
  LaneMoments(const heads::StateMoments& panels, int lanes, int lane)
      : panels_(panels), lanes_(lanes), lane_(lane) {}
  void x_pred(int i, int N, double* out) const { copy(panels_.x_pred, i, N, out); }
  void P_pred(int i, int N, double* out) const { copy(panels_.P_pred, i, N * N, out); }
  void x_filt(int i, int N, double* out) const { copy(panels_.x_filt, i, N, out); }
  void P_filt(int i, int N, double* out) const { copy(panels_.P_filt, i, N * N, out); }
  void F(int i, int N, double* out) const { copy(panels_.F, i, N * N, out); }
  void Q(int i, int N, double* out) const { copy(panels_.Q, i, N * N, out); }
  double nll(int i) const { return panels_.nll[(first_ + i) * lanes_ + lane_]; }
  /// The same without the first `steps`.
  LaneMoments from(int steps) const {
    LaneMoments later = *this;
    later.first_ += steps;
    return later;
  }

 private:
  void copy(const double* panel, int i, int rows, double* out) const {
    const double* from = panel + static_cast<std::ptrdiff_t>(first_ + i) * rows * lanes_ + lane_;
    for (int r = 0; r < rows; ++r) out[r] = from[static_cast<std::ptrdiff_t>(r) * lanes_];
  }
  heads::StateMoments panels_;
  int lanes_, lane_;
  int first_ = 0;
};

/// Steps of a window: its panels stay in the cache, and short series waste little.
inline constexpr int kRunWindow = 64;

/// What one thread needs.
template <typename Group>
struct WindowRunner {
  Group group;
  typename Group::Head::Workspace workspace;
  Buffer<double> x_pred, P_pred, x_filt, P_filt, F, Q, nll;

  /// `group` is the caller's to prepare.
  WindowRunner(const typename Group::Head::Model& model, const RequestedMoments& wanted, int steps,
               int lanes) {
    const auto volume = [&](bool is_wanted, int rows) {
      return is_wanted ? static_cast<std::size_t>(steps) * static_cast<std::size_t>(rows) *
                             static_cast<std::size_t>(lanes)
                       : 0;
    };
    const int N = model.architecture->state_dim();
    workspace.prepare(model, steps, lanes, false);
    x_pred.resize(volume(wanted.predicted, N));
    P_pred.resize(volume(wanted.predicted, N * N));
    x_filt.resize(volume(wanted.filtered, N));
    P_filt.resize(volume(wanted.filtered, N * N));
    F.resize(volume(wanted.transition, N * N));
    Q.resize(volume(wanted.transition, N * N));
    nll.resize(volume(true, 1));
  }
  heads::StateMoments moments() {
    return {x_pred.data(), P_pred.data(), x_filt.data(), P_filt.data(),
            F.data(),      Q.data(),      nll.data()};
  }
};

/// A model on its way through pieces of series, in groups of the type Group.
template <typename Group>
struct WindowRun {
  typename Group::Head::Model model;
  RequestedMoments wanted;
  std::vector<int> steps;   ///< of each piece
  int window = kRunWindow;  ///< steps at a time
  /// Makes room in a group for windows of so many steps and lanes.
  std::function<void(int steps, int lanes, Group&)> prepare;
  /// A function that fills the lanes of one group of pieces: step i of a window in `lane` with step
  /// `at` of `piece`, counted in the direction of the run. It is made for each group.
  using Fill = std::function<void(int i, int lane, int piece, int at, Group&)>;
  std::function<Fill(std::size_t pieces)> start;
  /// Whether step `at` of a piece can only be filled once the state before it is in the group's
  /// carry. Null: none.
  std::function<bool(int piece, int at)> waits;
  /// Takes `count` steps of a piece from step `first` on. Called from the thread that runs the
  /// piece; the windows of a piece come in order.
  std::function<void(int piece, int first, int count, const LaneMoments&)> sink;
  /// What messages call step `at` of a piece.
  std::function<std::string(int piece, int at)> place;
};

/// Runs it. A piece that breaks down throws NumericalError.
template <typename Group>
void run_windows(const WindowRun<Group>& run, ThreadTeam& team) {
  if (run.steps.empty()) return;
  const auto steps_of = [&](int piece) { return run.steps[static_cast<std::size_t>(piece)]; };
  // Longest first, so that the lanes of a group end at about the same step.
  std::vector<int> order(run.steps.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return steps_of(a) > steps_of(b); });
  const int count = static_cast<int>(run.steps.size());
  const int lanes = std::min(engine::kGroupLanes, lanes::padded_lanes(count));
  const int window = std::min(run.window, std::max(steps_of(order[0]), 1));
  std::vector<std::unique_ptr<WindowRunner<Group>>> runners(static_cast<std::size_t>(team.size()));

  team.run((count + lanes - 1) / lanes, [&](int task, int thread) {
    auto& runner = runners[static_cast<std::size_t>(thread)];
    if (!runner) {
      runner = std::make_unique<WindowRunner<Group>>(run.model, run.wanted, window, lanes);
      run.prepare(window, lanes, runner->group);
    }
    Group& group = runner->group;
    const std::span<const int> members(
        order.data() + task * lanes,
        static_cast<std::size_t>(std::min(lanes, count - task * lanes)));
    const auto fill = run.start(members.size());
    std::fill(group.length.begin(), group.length.end(), 0);
    for (int first = 0; first < steps_of(members[0]); first += window) {
      std::fill(group.fresh.begin(), group.fresh.end(), static_cast<std::uint8_t>(first == 0));
      for (std::size_t lane = 0; lane < members.size(); ++lane)
        group.length[lane] = std::clamp(steps_of(members[lane]) - first, 0, window);
      const auto in_lanes = [&](int i, const auto& each) {
        for (std::size_t lane = 0; lane < members.size(); ++lane)
          if (i < group.length[lane] && each(static_cast<int>(lane), members[lane])) return true;
        return false;
      };
      WindowFilling filling;
      filling.waits = [&](int i) {
        return run.waits != nullptr &&
               in_lanes(i, [&](int, int piece) { return run.waits(piece, first + i); });
      };
      filling.fill = [&](int i) {
        in_lanes(i, [&](int lane, int piece) {
          fill(i, lane, piece, first + i, group);
          return false;
        });
      };
      const heads::StateMoments moments = runner->moments();
      const engine::LaneFailure failure = run_steps(run.model, group, group.length[0], filling,
                                                    moments, group.carry, runner->workspace);
      if (failure.lane >= 0)
        throw NumericalError(
            run.place(members[static_cast<std::size_t>(failure.lane)], first + failure.step) +
            ": " +
            (failure.covariance ? "the innovation covariance is not positive definite"
                                : "the likelihood is not finite") +
            "; the measurements there are beyond anything the model can follow");
      for (std::size_t lane = 0; lane < members.size(); ++lane)
        if (group.length[lane] > 0)
          run.sink(members[lane], first, group.length[lane],
                   LaneMoments(moments, lanes, static_cast<int>(lane)));
    }
  });
}

}  // namespace kalmia::infer
