#include "engine/records.hpp"

#include <gtest/gtest.h>

#include "support/encoders.hpp"

namespace kalmia::engine {
namespace {

NetworkLayout layout(nn::EncoderKind encoder, bool two_sided) {
  NetworkOptions options;
  options.input_dim = 2;
  options.encoder = encoder;
  options.taps = 3;
  options.hidden = 5;
  options.decoder = {4, 6};
  options.two_sided = two_sided;
  return {options, {.count = 7, .positive = {3, 5}}};
}

TEST(Records, EveryPartHasItsRows) {
  test::for_each_encoder([](nn::EncoderKind encoder) {
    for (const bool two_sided : {false, true}) {
      const NetworkLayout of = layout(encoder, two_sided);
      const int directions = two_sided ? 2 : 1;
      const nn::EncoderRows rows = nn::encoder_rows(of.encoder_fwd);
      const RecordRows used(of, false), trained(of, true);
      for (const RecordRows& each : {used, trained}) {
        EXPECT_EQ(each.h, 0);
        EXPECT_EQ(each.gates, directions * rows.step);
        EXPECT_EQ(each.out - each.hidden, 4 + 6);
        EXPECT_EQ(each.positive - each.out, 7);
        EXPECT_EQ(each.d_h_bwd - each.positive, 2);
      }
      EXPECT_EQ(used.hidden, used.gates);
      EXPECT_EQ(used.total, used.d_h_bwd);
      EXPECT_EQ(trained.hidden - trained.gates, directions * rows.tape);
      EXPECT_EQ(trained.total - trained.d_h_bwd, (directions - 1) * 5);
    }
  });
}

TEST(Records, TurnsFitIntoChunks) { EXPECT_EQ(kChunkSteps % kTurnSteps, 0); }

}  // namespace
}  // namespace kalmia::engine
