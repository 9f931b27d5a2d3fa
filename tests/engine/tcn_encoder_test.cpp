#include "engine/encoder_checks.hpp"

namespace kalmia::test {
namespace {

TEST(TcnEncoder, IsTheSameHoweverASeriesIsCut) {
  for (const int taps : {1, 2, 6, 40}) {
    expect_bits_of_the_whole<float>(nn::EncoderKind::Tcn, taps);
    expect_bits_of_the_whole<double>(nn::EncoderKind::Tcn, taps);
  }
}

// A power of two that covers the taps.
TEST(TcnEncoder, LooksBackOnItsTapsOrMore) {
  struct Case {
    int taps, reach;
  };
  for (const Case& each : {Case{1, 1}, {2, 2}, {3, 4}, {4, 4}, {6, 8}, {8, 8}}) {
    SCOPED_TRACE(std::to_string(each.taps) + " taps");
    expect_reach(nn::EncoderKind::Tcn, false, each.taps, 5, 5, 5 + each.reach - 1);
    expect_reach(nn::EncoderKind::Tcn, true, each.taps, 17, 17 - each.reach + 1, 17);
  }
}

}  // namespace
}  // namespace kalmia::test
