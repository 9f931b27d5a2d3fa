#include "base/suggest.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kalmia {
namespace {

const std::vector<std::string> kNames = {"learning_rate", "window", "gps_north_m", "gps_east_m",
                                         "y"};

TEST(Suggest, FindsTheNearest) {
  EXPECT_EQ(suggestion("windw", kNames), "window");             // left out
  EXPECT_EQ(suggestion("winndow", kNames), "window");           // added
  EXPECT_EQ(suggestion("wimdow", kNames), "window");            // changed
  EXPECT_EQ(suggestion("wnidow", kNames), "window");            // swapped
  EXPECT_EQ(suggestion("GPS_North_m", kNames), "gps_north_m");  // case
  EXPECT_EQ(suggestion("gps_eats_m", kNames), "gps_east_m");
}

TEST(Suggest, SaysNothingWhenNothingIsNear) {
  EXPECT_EQ(suggestion("temperature", kNames), "");
  EXPECT_EQ(suggestion("z", kNames), "");  // one letter for another is no likeness
  EXPECT_EQ(suggestion("", kNames), "");
  EXPECT_EQ(suggestion("window", {}), "");
  EXPECT_EQ(suggestion(std::string(100000, 'a'), kNames), "");
}

// A swap counts as one change, so that it fits where two changes would not.
TEST(Suggest, CountsASwapOnce) {
  const std::vector<std::string> names = {"ab"};
  EXPECT_EQ(suggestion("ba", names), "ab");
}

TEST(Suggest, TakesTheFirstOfEquallyNear) {
  const std::vector<std::string> names = {"y1", "y2"};
  EXPECT_EQ(suggestion("y3", names), "y1");
}

TEST(Suggest, EndsAMessage) {
  const std::vector<std::string> known = {"linear", "lorenz"};
  EXPECT_EQ(did_you_mean("lorentz", known), "; did you mean lorenz?");
  EXPECT_EQ(did_you_mean("quadratic", known), "");
}

}  // namespace
}  // namespace kalmia
