// The backward pass over one line of series whose filtered moments stand in a result.
#pragma once

#include <functional>

#include "kalman/classical/batch.hpp"

namespace kalmia::kalman {

/// The smoother reads all predicted and filtered moments: the options with these switched on.
FilterOptions options_for_smoothing(const FilterOptions& options);
/// Drops the arrays that were needed on the way but not asked for.
void drop_unwanted(const FilterOptions& options, FilterResult& result);

/// Loads F[k] of the lanes in `live` into state.F; for a linearised model.
using LoadTransition = std::function<void(int k, lanes::LaneBits live, SmootherState& state)>;

/// Sets result.smoothed for the lanes of `plan` in `chosen`. F: constant, in lines; null: `load` is
/// asked for it at every step. Throws NumericalError.
void smooth_line(const LinePlan& plan, lanes::LaneBits chosen, const double* F, const double* Q,
                 SmootherState& state, FilterResult& result, const LoadTransition& load = {});

}  // namespace kalmia::kalman
