#include "simulate/missing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace kalmia::simulation {
namespace {

struct Runs {
  double missing = 0, count = 0, longest = 0;
};

Runs runs_of(const std::vector<char>& flags) {
  Runs runs;
  double length = 0;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    length = flags[i] != 0 ? length + 1 : 0;
    runs.missing += flags[i];
    if (length == 1) runs.count += 1;
    runs.longest = std::max(runs.longest, length);
  }
  return runs;
}

TEST(ChoosePlaces, EverySetIsEquallyLikely) {
  std::map<std::vector<char>, int> seen;
  RandomStream random(1, "places");
  for (int i = 0; i < 10000; ++i) ++seen[choose_places(5, 2, random)];
  EXPECT_EQ(seen.size(), 10u);
  for (const auto& [places, times] : seen) {
    EXPECT_EQ(std::count(places.begin(), places.end(), 1), 2);
    EXPECT_NEAR(times, 1000, 130);
  }
  EXPECT_EQ(choose_places(3, 3, random), std::vector<char>(3, 1));
  EXPECT_EQ(choose_places(3, 0, random), std::vector<char>(3, 0));
  EXPECT_TRUE(choose_places(0, 0, random).empty());
}

TEST(ChooseMissing, TheShareIsExact) {
  RandomStream random(2, "missing");
  for (const double share : {0.01, 0.3, 0.5, 0.9})
    for (const double run : {1.0, 1.5, 5.0, 100.0}) {
      const std::vector<char> flags = choose_missing(10000, share, run, random);
      ASSERT_EQ(flags.size(), 10000u);
      EXPECT_NEAR(runs_of(flags).missing, share * 10000, 1) << share << " in " << run;
    }
}

// 5 values of which 3 % go missing: most series lose none, but all together they lose 3 %.
TEST(ChooseMissing, TheShareOfManyShortSeriesIsRight) {
  RandomStream random(3, "missing");
  for (const double run : {1.0, 4.0}) {
    double missing = 0;
    for (int s = 0; s < 20000; ++s)
      missing += runs_of(choose_missing(5, 0.03, run, random)).missing;
    EXPECT_NEAR(missing / 1e5, 0.03, 0.002);
  }
}

TEST(ChooseMissing, RunsHaveTheMeanLength) {
  RandomStream random(4, "missing");
  for (const double run : {2.0, 7.5, 40.0}) {
    const Runs runs = runs_of(choose_missing(100000, 0.2, run, random));
    EXPECT_NEAR(runs.missing / runs.count, run, 0.01 * run);
    // Geometric lengths: the longest of c runs is about run * ln(c), never all of one length.
    EXPECT_GT(runs.longest, 3 * run);
  }
  // Lengths of mean 5: a share of (4/5)^5 = 0.328 is longer than 5.
  const std::vector<char> flags = choose_missing(200000, 0.3, 5, random);
  double runs = 0, longer = 0, length = 0;
  for (const char flag : flags) {
    length = flag != 0 ? length + 1 : 0;
    runs += length == 1 ? 1 : 0;
    longer += length == 6 ? 1 : 0;
  }
  EXPECT_NEAR(longer / runs, 0.328, 0.02);
}

// One by one: neighbours go missing without regard to each other, also if most are missing.
TEST(ChooseMissing, SinglesAreIndependent) {
  RandomStream random(5, "missing");
  for (const double share : {0.2, 0.8}) {
    const Runs runs = runs_of(choose_missing(100000, share, 1, random));
    EXPECT_NEAR(runs.missing / runs.count, 1 / (1 - share), 0.02 / (1 - share));
  }
}

TEST(ChooseMissing, EveryPlaceIsEquallyLikely) {
  RandomStream random(6, "missing");
  std::vector<double> times(12, 0.0);
  for (int i = 0; i < 40000; ++i) {
    const std::vector<char> flags = choose_missing(12, 0.25, 3, random);
    for (std::size_t k = 0; k < 12; ++k) times[k] += flags[k] / 40000.0;
  }
  for (std::size_t k = 0; k < 12; ++k) EXPECT_NEAR(times[k], 0.25, 0.03) << k;
}

}  // namespace
}  // namespace kalmia::simulation
