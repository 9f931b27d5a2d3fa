#include "train/segments.hpp"

#include <gtest/gtest.h>

namespace kalmia::train {
namespace {

TEST(Segments, CoverTheStretches) {
  const std::vector<StepRange> stretches = {{0, 10, 1200}, {3, 0, 512}, {4, 5, 6}};
  for (const int length : {1, 100, 512, 5000}) {
    const std::vector<StepRange> pieces = cut_up(stretches, length);
    EXPECT_EQ(steps_of(pieces), 1190 + 512 + 1);
    std::size_t s = 0;
    int at = stretches[0].begin;
    for (const StepRange& piece : pieces) {
      EXPECT_LE(piece.steps(), length);
      EXPECT_EQ(piece.series, stretches[s].series);
      EXPECT_EQ(piece.begin, at);
      at = piece.end;
      if (at == stretches[s].end && ++s < stretches.size()) at = stretches[s].begin;
    }
    EXPECT_EQ(s, stretches.size());
  }
}

TEST(Segments, AreThinnedOutEvenly) {
  const std::vector<StepRange> pieces = cut_up({{0, 0, 100000}}, 100);
  const std::vector<StepRange> some = thinned(pieces, 10000);
  EXPECT_EQ(steps_of(some), 10000);
  EXPECT_EQ(some[1].begin, 1000);
  EXPECT_EQ(steps_of(thinned(pieces, 1 << 20)), 100000);
}

TEST(Segments, AreLongerThanPeriods) {
  EXPECT_EQ(segments_of({{0, 0, 5000}}, 0, 1 << 16)[0].steps(), 512);
  EXPECT_EQ(segments_of({{0, 0, 5000}}, 200, 1 << 16)[0].steps(), 1200);
  EXPECT_EQ(segments_of({{0, 0, 5000}}, 1e6, 1 << 16)[0].steps(), 2048);
  EXPECT_LE(steps_of(segments_of({{0, 0, 50000}}, 0, 10000)), 10240);
}

TEST(Segments, ASmallPartIsShort) {
  const std::vector<StepRange> part = small_part({{0, 0, 100000}, {1, 0, 40}});
  EXPECT_LE(steps_of(part), 2200);
  EXPECT_GE(steps_of(part), 1500);
  for (const StepRange& each : part) EXPECT_LE(each.steps(), 256);
}

}  // namespace
}  // namespace kalmia::train
