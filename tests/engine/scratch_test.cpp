#include "engine/scratch.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/buffer.hpp"

namespace kalmia::engine {
namespace {

constexpr int kLanes = lanes::kLineLanes<double>;

struct Lines {
  double *a, *b, *none, *c;
  template <typename Taker>
  void lay_out(Taker& taker, int N, int M) {
    a = taker.take(N);
    b = taker.take(N * M);
    none = taker.take(0);
    c = taker.take(1);
  }
};

TEST(Scratch, WhatIsCountedIsWhatIsTaken) {
  EXPECT_EQ(count_lines<Lines>(3, 2), 3 + 6 + 0 + 1 + 4 * kGuardLines);
  EXPECT_EQ(count_lines<Lines>(1, 5), 1 + 5 + 0 + 1 + 4 * kGuardLines);
}

TEST(Scratch, PortionsFollowEachOtherWithoutTouching) {
  Buffer<double> buffer(static_cast<std::size_t>(count_lines<Lines>(3, 2) * kLanes));
  LineTaker taker(buffer.data());
  Lines lines;
  lines.lay_out(taker, 3, 2);
  EXPECT_EQ(lines.a, buffer.data());
  EXPECT_EQ(lines.b, lines.a + (3 + kGuardLines) * kLanes);
  EXPECT_EQ(lines.c, lines.b + (6 + 2 * kGuardLines) * kLanes);
  EXPECT_EQ(lines.c + (1 + kGuardLines) * kLanes, buffer.data() + buffer.size());
}

#if KALMIA_GUARDS_SCRATCH
using ScratchDeathTest = testing::Test;

TEST(ScratchDeathTest, WritingPastAPortionIsFoundOut) {
  Buffer<double> buffer(static_cast<std::size_t>(count_lines<Lines>(3, 2) * kLanes));
  const auto overflow = [&](double* Lines::*portion, int lines_taken) {
    LineTaker taker(buffer.data());
    Lines lines;
    lines.lay_out(taker, 3, 2);
    // Not by the compiler's eyes: the pointer is only known at run time.
    volatile double* past = lines.*portion + lines_taken * kLanes + 1;
    *past = 1;
  };
  EXPECT_DEATH(overflow(&Lines::a, 3), "");
  EXPECT_DEATH(overflow(&Lines::b, 6), "");
  EXPECT_DEATH(overflow(&Lines::c, 1), "");
}
#endif

}  // namespace
}  // namespace kalmia::engine
