#include "engine/encoder_checks.hpp"

namespace kalmia::test {
namespace {

TEST(TransformerEncoder, IsTheSameHoweverASeriesIsCut) {
  for (const int taps : {1, 2, 6, 40}) {
    expect_bits_of_the_whole<float>(nn::EncoderKind::Transformer, taps);
    expect_bits_of_the_whole<double>(nn::EncoderKind::Transformer, taps);
  }
}

TEST(TransformerEncoder, LooksBackOnItsTaps) {
  for (const int taps : {1, 2, 6}) {
    expect_reach(nn::EncoderKind::Transformer, false, taps, 5, 5, 5 + taps - 1);
    expect_reach(nn::EncoderKind::Transformer, true, taps, 17, 17 - taps + 1, 17);
  }
  expect_reach(nn::EncoderKind::Transformer, false, 40, 5, 5, kCheckedSteps - 1);
}

// Where a series starts there is nothing to attend to: what lies in the carry, and at the first
// step, which reads no measurement, counts for nothing.
TEST(TransformerEncoder, AttendsToNothingBeforeTheStart) {
  RowCase<double> c = whole_lanes<double>(nn::EncoderKind::Transformer, false, 6);
  c.fresh.assign(RowCase<double>::kLanes, 1);
  RowCarry<double> carry = c.carry();
  const std::vector<double> before = rows_of(c, 0, kCheckedSteps, carry);
  for (double& h : c.start.h.span()) h += 1;
  for (int i = 0; i < 3 * RowCase<double>::kLanes; ++i)
    c.input_fwd[static_cast<std::size_t>(i)] += 1;
  carry = c.carry();
  EXPECT_TRUE(rows_of(c, 0, kCheckedSteps, carry) == before);

  // Zeros would be attended to, with the weight of their scores: the slots are marked as missing.
  c.fresh.assign(RowCase<double>::kLanes, 0);
  for (double& h : c.start.h.span()) h = 0;
  carry = c.carry();
  const std::vector<double> unmarked = rows_of(c, 1, kCheckedSteps, carry);
  EXPECT_TRUE(std::equal(unmarked.begin(), unmarked.end(),
                         before.end() - static_cast<std::ptrdiff_t>(unmarked.size())));
}

}  // namespace
}  // namespace kalmia::test
