// softplus(x) = log(1 + e^x) on plain numbers, for starting points.
#pragma once

#include <cmath>

namespace kalmia::nn {

/// The x with softplus(x) = y, for y > 0.
inline double inverse_softplus(double y) { return y + std::log(-std::expm1(-y)); }

}  // namespace kalmia::nn
