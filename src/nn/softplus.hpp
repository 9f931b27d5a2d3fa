// softplus(x) = log(1 + e^x) on plain numbers, for starting points.
#pragma once

#include <algorithm>
#include <cmath>

namespace kalmia::nn {

inline double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

/// The x with softplus(x) = y, for y > 0.
inline double inverse_softplus(double y) { return y + std::log(-std::expm1(-y)); }

}  // namespace kalmia::nn
