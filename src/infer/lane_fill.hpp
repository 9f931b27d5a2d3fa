// Puts one series' measurements into its lane of a window: what the filter updates with, what the
// networks read and what their residual is centred at.
#pragma once

#include <vector>

#include "model/batch.hpp"
#include "model/features.hpp"

namespace kalmia::infer {

/// Makes room for windows of `steps` x `lanes` with missing values and centred residuals.
template <typename T>
void prepare_group(const model::Architecture& architecture, int steps, int lanes,
                   model::LaneGroup<T>& group);

/// What a lane remembers of the measurements it has seen: the last value of each channel.
using LaneMemory = std::vector<double>;
LaneMemory empty_memory(int meas_dim);

/// Fills step k of a lane. `now`: y at this step; `before`: y at the step before, null where the
/// series starts. Both M numbers in the model's units, NaN = missing.
template <typename T>
void fill_step(const model::FeatureSpec& features, int k, int lane, const double* before,
               const double* now, LaneMemory& memory, model::LaneGroup<T>& group);

}  // namespace kalmia::infer
