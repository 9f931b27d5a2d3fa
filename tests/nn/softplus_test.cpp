#include "nn/softplus.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kalmia::nn {
namespace {

TEST(InverseSoftplus, UndoesSoftplusOverTheWholeRange) {
  for (double y = 1e-12; y < 1e6; y *= 1.7) {
    const double x = inverse_softplus(y);
    const double back = x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    // An error of x of one rounding, through softplus' slope of at most 1.
    EXPECT_NEAR(back / y, 1, 8 * std::numeric_limits<double>::epsilon() * std::max(1.0, -x))
        << "y = " << y;
  }
}

}  // namespace
}  // namespace kalmia::nn
