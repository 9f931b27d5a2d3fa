// The methods of the linear experiment.
#pragma once

#include <vector>

#include "reproduce/method.hpp"

namespace kalmia::reproduction {

/// Raw, Kalman filters, and the models that learn. Paper: Sec. 8.1.
std::vector<Task> linear_tasks();

}  // namespace kalmia::reproduction
