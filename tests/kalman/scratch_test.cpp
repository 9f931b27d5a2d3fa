#include "kalman/scratch.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kalmia::kalman {
namespace {

// The kernels' own tests run with exactly so much scratch; here is what callers rely on.
TEST(KalmanScratch, OfAStepIsEnoughForEachOfItsParts) {
  for (const int N : {1, 2, 3, 8, 20})
    for (const int M : {1, 2, 8}) {
      const int all = step_scratch_lines(N, M);
      EXPECT_GE(all, predict_scratch_lines(N));
      EXPECT_GE(all, update_scratch_lines(N, M));
      EXPECT_GE(all, rts_scratch_lines(N));
      EXPECT_GE(update_scratch_lines(N, M), update_covariance_lines(N, M));
      EXPECT_GE(update_scratch_lines(N, M), innovation_backward_lines(M));
      EXPECT_GE(rts_scratch_lines(N), rts_covariance_lines(N));
    }
}

// K (N x M), v (M) and C (packed) follow one another and fill the tape.
TEST(KalmanScratch, TheTapesPartsDoNotOverlap) {
  constexpr int N = 3, M = 2;
  constexpr int kLanes = lanes::kLineLanes<double>;
  std::vector<double> lines(static_cast<std::size_t>(update_tape_lines(N, M) * kLanes));
  const UpdateTape<double> tape = tape_at(N, M, lines.data());
  EXPECT_EQ(tape.K, lines.data());
  EXPECT_EQ(tape.v, tape.K + N * M * kLanes);
  EXPECT_EQ(tape.C, tape.v + M * kLanes);
  EXPECT_EQ(tape.C + lanes::triangle_size(M) * kLanes, lines.data() + lines.size());
}

}  // namespace
}  // namespace kalmia::kalman
