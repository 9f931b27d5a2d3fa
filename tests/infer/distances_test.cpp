#include "infer/distances.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"

namespace kalmia::infer {
namespace {

// Against a look at all values, for steps of any length.
TEST(Distances, AreThoseToTheNearestOtherValues) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  constexpr std::size_t kSteps = 60, kChannels = 3;
  RandomStream random(1, "distances");
  std::vector<double> y(kSteps * kChannels, std::nan("")), dt(kSteps), t(kSteps);
  for (std::size_t i = 0; i < y.size(); ++i)
    if (i % kChannels < 2 && random.uniform() < 0.3) y[i] = 1;  // the third is never measured
  for (std::size_t k = 0; k < kSteps; ++k) {
    dt[k] = random.uniform(0.2, 3);
    t[k] = (k == 0 ? 0 : t[k - 1]) + dt[k];
  }
  for (const bool regular : {false, true}) {
    SeriesView view;
    view.y = y.data();
    view.steps = kSteps;
    view.dt_ratio = regular ? nullptr : dt.data();
    const Distances found = distances_of(view, kChannels);
    for (std::size_t k = 0; k < kSteps; ++k)
      for (std::size_t m = 0; m < kChannels; ++m) {
        double before = kNever, after = kNever;
        for (std::size_t j = 0; j < kSteps; ++j) {
          if (j == k || std::isnan(y[j * kChannels + m])) continue;
          const double here = regular ? std::abs(double(j) - double(k)) : std::abs(t[j] - t[k]);
          (j < k ? before : after) = std::min(j < k ? before : after, here);
        }
        const double between = 1 / (1 / before + 1 / after);
        const auto expect = [&](double is, double expected) {
          if (std::isinf(expected))
            EXPECT_EQ(is, expected);
          else
            EXPECT_NEAR(is, expected, 1e-12 * expected);
        };
        expect(found.since[k * kChannels + m], before);
        expect(found.between[k * kChannels + m], between);
      }
  }
}

}  // namespace
}  // namespace kalmia::infer
