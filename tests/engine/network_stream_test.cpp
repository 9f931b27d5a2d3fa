// The networks of a single sequence, step by step: the same rows as in a window.
#include "engine/network_stream.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "engine/records.hpp"
#include "engine/row_case.hpp"
#include "kalmia/error.hpp"
#include "support/encoders.hpp"
#include "support/isas.hpp"
#include "support/lane_groups.hpp"

namespace kalmia::test {
namespace {

template <typename T>
void expect_rows_of_a_window(nn::EncoderKind encoder, double tolerance) {
  constexpr int kSteps = 12, kLane = 4, kLanes = RowCase<T>::kLanes;
  RowCase<T> c(encoder, false, kSteps, 71);
  c.length.assign(kLanes, kSteps);
  c.fresh.assign(kLanes, 0);
  RowWorkspace<T> workspace = c.workspace(false);
  RowCarry<T> carry = c.carry();
  std::vector<T> rows(static_cast<std::size_t>(kSteps * 7 * kLanes));
  engine::window_forward(c.model(), c.input(), carry, {rows.data()}, workspace);

  engine::NetworkStream<T> stream(c.layout, c.parameters.span());
  const engine::RecordRows record_rows(c.layout, false);
  Buffer<T> record(static_cast<std::size_t>(record_rows.total * lanes::kLaneQuantum));
  std::vector<T> state, features(3);
  for (int i = 0; i < c.layout.encoder_state_rows(); ++i)
    state.push_back(c.start.h[panel_at(0, 1, i, kLanes, kLane)]);
  for (int k = 0; k < kSteps; ++k) {
    for (int i = 0; i < 3; ++i)
      features[static_cast<std::size_t>(i)] = c.input_fwd[panel_at(k, 3, i, kLanes, kLane)];
    stream.step(features.data(), state, record.data());
    for (int i = 0; i < 7; ++i)
      for (int lane = 0; lane < lanes::kLaneQuantum; ++lane)
        ASSERT_NEAR(record[panel_at(0, 1, record_rows.out + i, lanes::kLaneQuantum, lane)],
                    rows[panel_at(k, 7, i, kLanes, kLane)], tolerance)
            << "step " << k << ", row " << i;
  }
}

TEST(NetworkStream, GivesTheRowsOfAWindow) {
  for_each_isa([] {
    for_each_encoder([](nn::EncoderKind encoder) {
      expect_rows_of_a_window<double>(encoder, 1e-12);
      expect_rows_of_a_window<float>(encoder, 1e-5);
    });
  });
}

TEST(NetworkStream, NeedsNoFutureAndAllParameters) {
  const RowCase<float> both(nn::EncoderKind::Gru, true, 3, 72),
      one(nn::EncoderKind::Gru, false, 3, 72);
  EXPECT_THROW(engine::NetworkStream<float>(both.layout, both.parameters.span()), ConfigError);
  EXPECT_THROW(engine::NetworkStream<float>(one.layout, one.parameters.span().first(5)),
               ConfigError);
}

}  // namespace
}  // namespace kalmia::test
