#include "lanes/scratch.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/buffer.hpp"

namespace kalmia::lanes {
namespace {

constexpr int kLanes = kLineLanes<double>;

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
  LineTaker<double> taker(buffer.data());
  Lines lines;
  lines.lay_out(taker, 3, 2);
  EXPECT_EQ(lines.a, buffer.data());
  EXPECT_EQ(lines.b, lines.a + (3 + kGuardLines) * kLanes);
  EXPECT_EQ(lines.c, lines.b + (6 + 2 * kGuardLines) * kLanes);
  EXPECT_EQ(lines.c + (1 + kGuardLines) * kLanes, buffer.data() + buffer.size());
}

// A kernel lays out anew what its caller has handed it; what both leave is plain memory.
TEST(Scratch, LayoutsNestAndLeaveNothingBehind) {
  Buffer<float> buffer(
      static_cast<std::size_t>((count_lines<Lines>(4, 3) + 8) * kLineLanes<float>));
  {
    LineTaker<float> outer(buffer.data());
    float* first = outer.take(5 + 2 * kGuardLines);
    {
      LineTaker<float> inner(first);
      float* a = inner.take(2);
      float* b = inner.take(3);
      EXPECT_EQ(b, a + (2 + kGuardLines) * kLineLanes<float>);
      for (int i = 0; i < 3 * kLineLanes<float>; ++i) b[i] = 1;
    }
    for (int i = 0; i < (5 + 2 * kGuardLines) * kLineLanes<float>; ++i) first[i] = 2;
  }
  for (float& each : buffer.span()) each = 3;
}

#if KALMIA_GUARDS_SCRATCH
using ScratchDeathTest = testing::Test;

TEST(ScratchDeathTest, WritingPastAPortionIsFoundOut) {
  Buffer<double> buffer(static_cast<std::size_t>(count_lines<Lines>(3, 2) * kLanes));
  const auto overflow = [&](double* Lines::*portion, int lines_taken) {
    LineTaker<double> taker(buffer.data());
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

TEST(ScratchDeathTest, SoItIsInALayoutWithinAPortion) {
  Buffer<double> buffer(static_cast<std::size_t>((3 + 3 * kGuardLines) * kLanes));
  const auto overflow = [&](int lines_taken) {
    LineTaker<double> outer(buffer.data());
    LineTaker<double> inner(outer.take(3 + 2 * kGuardLines));
    volatile double* a = inner.take(2);
    inner.take(1);
    a[lines_taken * kLanes + 1] = 1;
  };
  overflow(1);
  EXPECT_DEATH(overflow(2), "");
}
#endif

}  // namespace
}  // namespace kalmia::lanes
