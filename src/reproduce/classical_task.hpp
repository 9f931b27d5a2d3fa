// What the classical methods of both experiments have in common.
#pragma once

#include <span>

#include "kalmia/classical.hpp"
#include "reproduce/method.hpp"

namespace kalmia::reproduction {

/// The one series of a trajectory, as classical filters take it.
MeasurementsView measurements(const Dataset& data);

double mean_square_error(const Array& estimates, std::span<const double> truth);

/// The measurements themselves as the estimate.
Task raw_task();

}  // namespace kalmia::reproduction
