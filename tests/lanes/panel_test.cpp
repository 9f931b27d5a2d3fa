#include "lanes/panel.hpp"

#include <gtest/gtest.h>

namespace kalmia::lanes {
namespace {

TEST(Panel, ALineHoldsSixteenFloatsOrEightDoubles) {
  EXPECT_EQ(kLineLanes<float>, 16);
  EXPECT_EQ(kLineLanes<double>, 8);
}

TEST(Panel, LaneCountsAreRoundedUpToWholeLinesOfFloat) {
  EXPECT_EQ(padded_lanes(0), 0);
  EXPECT_EQ(padded_lanes(1), 16);
  EXPECT_EQ(padded_lanes(15), 16);
  EXPECT_EQ(padded_lanes(16), 16);
  EXPECT_EQ(padded_lanes(17), 32);
  for (int count = 0; count < 200; ++count) {
    EXPECT_GE(padded_lanes(count), count);
    EXPECT_LT(padded_lanes(count), count + kLaneQuantum);
    EXPECT_EQ(padded_lanes(count) % kLineLanes<double>, 0);
  }
}

TEST(Panel, APackedTriangleGoesThroughItsRowsWithoutHoles) {
  for (const int n : {1, 2, 3, 7, 16}) {
    int expected = 0;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) EXPECT_EQ(triangle_index(i, j), expected++) << i << ", " << j;
    EXPECT_EQ(triangle_size(n), expected);
  }
}

}  // namespace
}  // namespace kalmia::lanes
