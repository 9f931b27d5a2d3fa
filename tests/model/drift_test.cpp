#include "model/drift.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.hpp"

namespace kalmia::model {
namespace {

TEST(RunningMoments, AreThoseOfTheValues) {
  RunningMoments moments;
  EXPECT_EQ(moments.variance(), 0);
  for (const double value : {1e9 + 1, 1e9 + 2, 1e9 + 6}) moments.add(value);
  EXPECT_EQ(moments.count, 3u);
  EXPECT_NEAR(moments.mean, 1e9 + 3, 1e-6);
  EXPECT_NEAR(moments.variance(), 14.0 / 3, 1e-6);
}

DriftTest test_of(double kept, int series) {
  RandomStream random(5, "drift");
  DriftTest test;
  for (int s = 0; s < series; ++s) {
    std::vector<double> x = {0};
    while (x.size() < 800) x.push_back(kept * x.back() + random.normal());
    x[17] = std::nan("");
    test.add_series(x.size(), [&](std::size_t k) { return x[k]; });
  }
  return test;
}

TEST(DriftTest, TellsAWalkFromWhatStays) {
  for (const int series : {1, 5}) {
    EXPECT_TRUE(test_of(1, series).wanders());
    EXPECT_FALSE(test_of(0.5, series).wanders());
    EXPECT_FALSE(test_of(0.9, series).wanders());
    EXPECT_EQ(test_of(0.5, series).all().count, 799u * static_cast<unsigned>(series));
  }
}

TEST(DriftTest, NothingDoesNotWander) {
  EXPECT_FALSE(DriftTest().wanders());
  DriftTest constant;
  constant.add_series(9, [](std::size_t) { return 4.0; });
  EXPECT_FALSE(constant.wanders());
}

}  // namespace
}  // namespace kalmia::model
