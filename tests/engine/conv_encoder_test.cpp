#include "engine/encoder_checks.hpp"

namespace kalmia::test {
namespace {

TEST(ConvEncoder, IsTheSameHoweverASeriesIsCut) {
  for (const int taps : {1, 2, 6, 40}) {
    expect_bits_of_the_whole<float>(nn::EncoderKind::Conv, taps);
    expect_bits_of_the_whole<double>(nn::EncoderKind::Conv, taps);
  }
}

TEST(ConvEncoder, LooksBackOnItsTaps) {
  for (const int taps : {1, 2, 6}) {
    expect_reach(nn::EncoderKind::Conv, false, taps, 5, 5, 5 + taps - 1);
    expect_reach(nn::EncoderKind::Conv, true, taps, 17, 17 - taps + 1, 17);
  }
  expect_reach(nn::EncoderKind::Conv, false, 40, 5, 5, kCheckedSteps - 1);
}

}  // namespace
}  // namespace kalmia::test
