// The methods of the Lorenz experiment.
#pragma once

#include <vector>

#include "reproduce/method.hpp"

namespace kalmia::reproduction {

/// Raw, extended Kalman smoothers, the models that learn, and the floor. Paper: Sec. 8.2.
std::vector<Task> lorenz_tasks();

}  // namespace kalmia::reproduction
