#include "engine/encoder_checks.hpp"

namespace kalmia::test {
namespace {

TEST(GruEncoder, IsTheSameHoweverASeriesIsCut) {
  expect_bits_of_the_whole<float>(nn::EncoderKind::Gru, 1);
  expect_bits_of_the_whole<double>(nn::EncoderKind::Gru, 1);
}

TEST(GruEncoder, RemembersWhatItHasRead) {
  expect_reach(nn::EncoderKind::Gru, false, 1, 5, 5, kCheckedSteps - 1);
  expect_reach(nn::EncoderKind::Gru, true, 1, 17, 0, 17);
}

}  // namespace
}  // namespace kalmia::test
