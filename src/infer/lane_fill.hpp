// Puts one series' measurements into its lane of a window: what the filter updates with, what the
// networks read, what their residual is centred at and what drives the step.
#pragma once

#include <vector>

#include "engine/batch.hpp"
#include "model/learned_model.hpp"

namespace kalmia::infer {

/// A series, or some steps of one, where they lie: in the model's units, NaN = missing.
struct SeriesView {
  const double* y = nullptr;  ///< steps x M
  int steps = 0;
  const double* dt_ratio = nullptr;  ///< length of the step to k over the usual one; null: 1
  const double* u = nullptr;         ///< inputs, steps x U; null where there are none
  /// States (steps x N) where the model is linearised: the emission at that of its step, the expert
  /// map at that of the step it leaves. Null: at the filter's own.
  const double* linearise = nullptr;
  /// Weights of the measurements' noise, as in heads::Measurements, steps x M. Null: 1.
  const double* weight = nullptr;
  /// Two-sided runs: y as the networks are shown it, steps x M. Null: y. What is hidden from them
  /// still updates the state.
  const double* shown = nullptr;
};

/// Makes room for windows of `steps` x `lanes` with missing values and centred residuals, for
/// networks of an architecture (the filter's, if none is given); `irregular`: with steps of
/// different lengths.
template <typename T>
void prepare_group(const model::LearnedModel<T>& model, const heads::Architecture& architecture,
                   int steps, int lanes, bool irregular, heads::StateGroup<T>& group);
template <typename T>
void prepare_group(const model::LearnedModel<T>& model, int steps, int lanes, bool irregular,
                   heads::StateGroup<T>& group);

/// Makes room for weights of the measurements' noise, 1 to begin with.
template <typename T>
void prepare_weights(heads::StateGroup<T>& group);

/// Sets the weights of step k of a lane (M numbers), where the group has room for them.
template <typename T>
void fill_weights(int k, int lane, const double* weight, heads::StateGroup<T>& group);

/// What a lane remembers of the measurements it has seen: the last value of each channel.
using LaneMemory = std::vector<double>;
LaneMemory empty_memory(int meas_dim);

/// Fills step k of a lane. `now`: y at this step; `before`: y at the step before, null where the
/// series starts (M numbers, NaN = missing). `dt_ratio` and `u` (U inputs of the step before) drive
/// the step. `carry`: the state at the step before, where waits_for_state(before); null where the
/// networks are shown nothing of missing values.
template <typename T>
void fill_step(const model::LearnedModel<T>& model, int k, int lane, const double* before,
               const double* now, double dt_ratio, const double* u, LaneMemory& memory,
               const heads::StateCarry<T>* carry, heads::StateGroup<T>& group);

/// Whether values are missing in y of the step before, so that a step can only be filled once the
/// state there is known (gap_step.hpp).
template <typename T>
bool waits_for_state(const model::LearnedModel<T>& model, const double* before);

/// A stretch of a series that a lane reads in one window, in the model's units.
struct LaneWindow {
  const double* y = nullptr;         ///< steps x M, NaN = missing
  const double* before = nullptr;    ///< y shown of the step before; null where a series starts
  const double* dt_ratio = nullptr;  ///< lengths of the steps over the usual one; null: 1
  /// Inputs at each step, steps x U, with those of the step before in front of them if there is
  /// one; null where there are none.
  const double* u = nullptr;
  const double* weight = nullptr;  ///< of the measurements' noise, steps x M; null: 1
  int steps = 0;
  const double* shown = nullptr;  ///< y as the networks are shown it; null: y

  /// What they are shown of the step before step k; null where a series starts.
  const double* shown_before(int k, int meas_dim) const {
    if (k == 0) return before;
    return (shown == nullptr ? y : shown) + static_cast<std::ptrdiff_t>(k - 1) * meas_dim;
  }
};

/// The same for step k of a window, and for all of its steps where there is no state to wait for.
/// `memory`: the values seen last before it; moved on.
void fill_forwards(const model::LearnedModel<float>& model, int k, int lane,
                   const LaneWindow& window, LaneMemory& memory,
                   const heads::StateCarry<float>* carry, heads::StateGroup<float>& group);
void fill_forwards(const model::LearnedModel<float>& model, int lane, const LaneWindow& window,
                   LaneMemory& memory, heads::StateGroup<float>& group);

/// The same for step `step` of a piece, whose first step starts a series, with its weights and
/// where to linearise.
template <typename T>
void fill_step(const model::LearnedModel<T>& model, int k, int lane, const SeriesView& piece,
               int step, LaneMemory& memory, const heads::StateCarry<T>* carry,
               heads::StateGroup<T>& group);

}  // namespace kalmia::infer
