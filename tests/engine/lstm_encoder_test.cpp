#include "engine/encoder_checks.hpp"

namespace kalmia::test {
namespace {

TEST(LstmEncoder, IsTheSameHoweverASeriesIsCut) {
  expect_bits_of_the_whole<float>(nn::EncoderKind::Lstm, 1);
  expect_bits_of_the_whole<double>(nn::EncoderKind::Lstm, 1);
}

TEST(LstmEncoder, RemembersWhatItHasRead) {
  expect_reach(nn::EncoderKind::Lstm, false, 1, 5, 5, kCheckedSteps - 1);
  expect_reach(nn::EncoderKind::Lstm, true, 1, 17, 0, 17);
}

}  // namespace
}  // namespace kalmia::test
