#include "train/gap_maker.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kalmia::train {
namespace {

constexpr int kSteps = 400000;

// Which channels are hidden at each step, a bit each.
std::vector<unsigned> hidden(double share, int M, std::uint64_t seed, int steps = kSteps) {
  GapMaker maker(share, RandomStream(seed, "gaps"));
  std::vector<unsigned> result;
  std::vector<double> y(static_cast<std::size_t>(M));
  for (int k = 0; k < steps; ++k) {
    for (int m = 0; m < M; ++m) y[static_cast<std::size_t>(m)] = m;
    maker.hide(M, y.data());
    unsigned bits = 0;
    for (int m = 0; m < M; ++m) {
      const double value = y[static_cast<std::size_t>(m)];
      if (std::isnan(value))
        bits |= 1u << m;
      else
        EXPECT_EQ(value, m);
    }
    result.push_back(bits);
  }
  return result;
}

// A gap begins with probability p at a step without one, and its length is geometric of mean G: of
// a cycle of G + (1 - p) / p steps G are hidden. Tolerances are 4 standard deviations.
TEST(GapMaker, HidesItsShareInRuns) {
  constexpr double G = GapMaker::kMeanGap;
  for (const double share : {0.03, 0.3}) {
    const double p = share / G;
    const double cycle = G + (1 - p) / p, expected = G / cycle;
    const double gap_variance = G * G - G, wait_variance = (1 - p) / (p * p);
    const double variance =
        (1 - expected) * (1 - expected) * gap_variance + expected * expected * wait_variance;
    double count = 0, runs = 0;
    unsigned before = 0;
    for (const unsigned bits : hidden(share, 1, 3)) {
      count += bits;
      runs += bits & ~before;
      before = bits;
    }
    EXPECT_NEAR(count / kSteps, expected, 4 * std::sqrt(variance / cycle / kSteps)) << share;
    // It is about the share that was asked for: gaps that follow each other at once take some.
    EXPECT_NEAR(expected, share, share * share);
    // Such gaps are one run: geometric again, and ended with probability (1 - p) / G.
    const double mean_run = G / (1 - p);
    EXPECT_NEAR(count / runs, mean_run, 4 * std::sqrt((mean_run * mean_run - mean_run) / runs));
  }
}

TEST(GapMaker, HalfOfTheGapsAreInOneChannelAnyOfThem) {
  constexpr int M = 3;
  double all = 0, one = 0, channel[M] = {};
  for (const unsigned bits : hidden(0.2, M, 5)) {
    if (bits == 0) continue;
    if (bits == (1u << M) - 1) {
      ++all;
      continue;
    }
    ++one;
    ASSERT_EQ(bits & (bits - 1), 0u) << "two of three channels";
    for (int m = 0; m < M; ++m) channel[m] += (bits >> m) & 1;
  }
  // Steps of a gap go together: E[length^2] / E[length] = 2 G - 1 of them at a time.
  const double independent = (all + one) / (2 * GapMaker::kMeanGap - 1);
  EXPECT_NEAR(one / (all + one), 0.5, 4 * 0.5 / std::sqrt(independent));
  for (const double each : channel)
    EXPECT_NEAR(each / one, 1.0 / M, 4 * std::sqrt(2.0 / 9 / (independent / 2)));
}

TEST(GapMaker, NoShareHidesNothingAndAStreamAlwaysTheSame) {
  for (const unsigned bits : hidden(0, 2, 7, 10000)) ASSERT_EQ(bits, 0u);
  EXPECT_EQ(hidden(0.1, 2, 7, 1000), hidden(0.1, 2, 7, 1000));
  EXPECT_NE(hidden(0.1, 2, 7, 1000), hidden(0.1, 2, 8, 1000));
}

}  // namespace
}  // namespace kalmia::train
