// Periods that a channel shows, in the spectrum of its measurements.
#pragma once

#include <span>
#include <vector>

#include "kalmia/data.hpp"

namespace kalmia::train {

/// Periods that stand out of the spectrum, in usual steps (`dt`), the strongest first, `most` at
/// most. What is a fraction of another (a harmonic) is left out. A period that the spectrum cannot
/// tell from one of the calendar's (where times are dates) or from a whole number of steps is that.
///
/// The spectrum is that of the longest series, interpolated linearly to usual steps, less a line,
/// under Hann's taper. A peak stands out where it is higher than noise of the level around it has
/// anywhere, but for one case in a few hundred. With few cycles, as in a few years of monthly
/// values, peaks say little; the shape that is repeated then may be clear enough.
std::vector<double> find_periods(const Dataset& data, std::size_t channel, double dt,
                                 std::size_t most);

}  // namespace kalmia::train
