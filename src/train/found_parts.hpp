// What a sum of parts has learned, in words.
#pragma once

#include <string>

#include "prior/parts.hpp"
#include "train/static_stage.hpp"

namespace kalmia::train {

/// The parts of each channel with their times, and its measurement noise: "a trend, a daily cycle
/// whose shape changes within 19 d, and noise of 0.4". A season's shape changes as fast as the
/// process noise makes it another one: its mean square (that of the model's climate) over what a
/// step adds to it. Empty for a prior that is no sum of parts.
std::string found_text(const StaticResult& fitted, const prior::DataAxes& axes);

}  // namespace kalmia::train
