#include "nn/encoder_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "nn/encoder.hpp"

namespace kalmia::nn {
namespace {

struct NoEncoder {};

TEST(EncoderParts, AreThoseOfEveryKind) {
  EXPECT_TRUE(EncoderKindLayout<GruLayout> && EncoderKindLayout<LstmLayout> &&
              EncoderKindLayout<ConvLayout> && EncoderKindLayout<TransformerLayout> &&
              EncoderKindLayout<TcnLayout>);
  EXPECT_FALSE(EncoderKindLayout<NoEncoder>);
}

TEST(EncoderParts, AFirstValueIsWithinTheFanIn) {
  RandomStream random(3, "first values");
  double least = 1, most = -1;
  for (int i = 0; i < 1000; ++i) {
    const double value = within_fan_in(16, random);
    least = std::min(least, value);
    most = std::max(most, value);
  }
  EXPECT_GE(least, -0.25);
  EXPECT_LT(most, 0.25);
  EXPECT_LT(least, -0.24);
  EXPECT_GT(most, 0.24);
}

}  // namespace
}  // namespace kalmia::nn
