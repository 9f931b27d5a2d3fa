// Rows of several seeds in one.
#pragma once

#include <vector>

#include "kalmia/reproduce.hpp"

namespace kalmia::reproduction {

/// Median (the mean of the two in the middle), least and largest of the values that there are.
ReproduceSpread spread_of(std::vector<double> values);

/// One for each method and size of the rows, in their order.
std::vector<ReproduceSummary> summarise(const std::vector<ReproduceRow>& rows);

}  // namespace kalmia::reproduction
