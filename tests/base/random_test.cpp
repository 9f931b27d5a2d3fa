#include "base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bitset>
#include <cmath>
#include <set>
#include <vector>

namespace kalmia {
namespace {

std::vector<std::uint64_t> first_bits(RandomStream stream, int count = 8) {
  std::vector<std::uint64_t> values;
  for (int i = 0; i < count; ++i) values.push_back(stream.bits());
  return values;
}

TEST(RandomStream, SameKeySameNumbers) {
  EXPECT_EQ(first_bits(RandomStream(1, "noise", 3)), first_bits(RandomStream(1, "noise", 3)));
}

TEST(RandomStream, EveryPartOfTheKeyMatters) {
  const auto base = first_bits(RandomStream(1, "noise", 3));
  EXPECT_NE(base, first_bits(RandomStream(2, "noise", 3)));
  EXPECT_NE(base, first_bits(RandomStream(1, "noisf", 3)));
  EXPECT_NE(base, first_bits(RandomStream(1, "noise", 4)));
  EXPECT_NE(base, first_bits(RandomStream(1, "", 3)));
  // Neither the order of letters nor a letter moved into the index gives the same stream.
  EXPECT_NE(first_bits(RandomStream(1, "ab")), first_bits(RandomStream(1, "ba")));
  EXPECT_NE(first_bits(RandomStream(0, "a", 0)), first_bits(RandomStream(0, "", 'a')));
}

TEST(RandomStream, NeighbouringKeysShareNoNumbers) {
  std::set<std::uint64_t> seen;
  int drawn = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    for (std::uint64_t index = 0; index < 32; ++index)
      for (const std::uint64_t value : first_bits(RandomStream(seed, "window", index), 16)) {
        seen.insert(value);
        ++drawn;
      }
  EXPECT_EQ(static_cast<int>(seen.size()), drawn);
}

// These bits are a promise: a model trained with a seed can be trained again with a later
// version. Change them only together with the major version.
TEST(RandomStream, GoldenBits) {
  struct Golden {
    std::uint64_t seed;
    const char* name;
    std::uint64_t index, first, second;
  };
  // Computed with an independent implementation in exact integer arithmetic.
  constexpr Golden kGolden[] = {
      {0, "", 0, 0x2130748aaac80268, 0x0cc78fb979ce5090},
      {1, "init", 0, 0x4fae39d15a363635, 0x08864a19ce286f2a},
      {1, "init", 1, 0x9b92e6e7699bb2aa, 0x5db64147d323556e},
      {0xffffffffffffffff, "noise", 42, 0xecd0b4de3786e7a3, 0x6ff7c86d7f6ea2f2}};
  for (const Golden& golden : kGolden) {
    RandomStream stream(golden.seed, golden.name, golden.index);
    EXPECT_EQ(stream.bits(), golden.first) << golden.name << " " << golden.index;
    EXPECT_EQ(stream.bits(), golden.second) << golden.name << " " << golden.index;
  }
}

TEST(RandomStream, UniformStaysInItsIntervalAndIsFlat) {
  RandomStream stream(11, "uniform");
  constexpr int kDraws = 200000, kBins = 50;
  std::array<int, kBins> counts{};
  double sum = 0, sum_squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = stream.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    ++counts[static_cast<std::size_t>(u * kBins)];
    sum += u;
    sum_squares += u * u;
  }
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean, 0.5, 4 * std::sqrt(1.0 / 12 / kDraws));
  EXPECT_NEAR(sum_squares / kDraws - mean * mean, 1.0 / 12, 1e-3);
  double chi_square = 0;
  const double expected = double(kDraws) / kBins;
  for (const int count : counts) chi_square += (count - expected) * (count - expected) / expected;
  // 49 degrees of freedom: mean 49, standard deviation 9.9.
  EXPECT_LT(chi_square, 49 + 4 * 9.9);
  EXPECT_GT(chi_square, 49 - 4 * 9.9);
}

TEST(RandomStream, UniformOfAnIntervalIsScaled) {
  RandomStream plain(5, "scale"), scaled(5, "scale");
  for (int i = 0; i < 100; ++i) {
    const double value = scaled.uniform(-3, 5);
    EXPECT_GE(value, -3);
    EXPECT_LT(value, 5);
    EXPECT_DOUBLE_EQ(value, -3 + 8 * plain.uniform());
  }
}

TEST(RandomStream, NormalHasTheMomentsOfANormal) {
  RandomStream stream(3, "normal");
  constexpr int kDraws = 400000;
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, lag = 0, previous = 0;
  int beyond_two = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double z = stream.normal();
    ASSERT_TRUE(std::isfinite(z));
    m1 += z;
    m2 += z * z;
    m3 += z * z * z;
    m4 += z * z * z * z;
    lag += z * previous;
    previous = z;
    beyond_two += std::abs(z) > 2;
  }
  const double n = kDraws;
  // Each bound is four standard errors of the estimate.
  EXPECT_NEAR(m1 / n, 0, 4 * std::sqrt(1 / n));
  EXPECT_NEAR(m2 / n, 1, 4 * std::sqrt(2 / n));
  EXPECT_NEAR(m3 / n, 0, 4 * std::sqrt(15 / n));
  EXPECT_NEAR(m4 / n, 3, 4 * std::sqrt(96 / n));
  EXPECT_NEAR(lag / n, 0, 4 * std::sqrt(1 / n));
  EXPECT_NEAR(beyond_two / n, 0.0455, 4 * std::sqrt(0.0455 * 0.9545 / n));
}

TEST(RandomStream, EveryBitIsSetHalfOfTheTime) {
  RandomStream stream(17, "bits");
  constexpr int kDraws = 20000;
  std::array<int, 64> ones{};
  for (int i = 0; i < kDraws; ++i) {
    const std::bitset<64> bits(stream.bits());
    for (std::size_t b = 0; b < 64; ++b) ones[b] += bits[b];
  }
  for (std::size_t b = 0; b < 64; ++b)
    EXPECT_NEAR(ones[b], kDraws / 2.0, 5 * std::sqrt(kDraws / 4.0)) << "bit " << b;
}

TEST(RandomStream, BelowReachesEveryValueEqually) {
  RandomStream stream(23, "below");
  for (const std::uint64_t bound : {1, 2, 3, 7, 10}) {
    std::vector<int> counts(bound);
    constexpr int kDraws = 60000;
    for (int i = 0; i < kDraws; ++i) {
      const std::uint64_t value = stream.below(bound);
      ASSERT_LT(value, bound);
      ++counts[value];
    }
    const double expected = double(kDraws) / double(bound);
    for (std::uint64_t v = 0; v < bound; ++v)
      EXPECT_NEAR(counts[v], expected, 5 * std::sqrt(expected)) << v << " below " << bound;
  }
}

// With a bound of three quarters of 2^64 a plain remainder would hit the lowest third of the
// values twice as often as the others.
TEST(RandomStream, BelowHasNoModuloBias) {
  RandomStream stream(29, "below");
  const std::uint64_t bound = 3ULL << 62;
  constexpr int kDraws = 30000;
  int lowest_third = 0;
  for (int i = 0; i < kDraws; ++i) lowest_third += stream.below(bound) < bound / 3;
  EXPECT_NEAR(lowest_third, kDraws / 3.0, 5 * std::sqrt(kDraws * 2.0 / 9));
}

}  // namespace
}  // namespace kalmia
