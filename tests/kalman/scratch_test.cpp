#include "kalman/scratch.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

#include "kalman/emission.hpp"
#include "kalman/step_kernels.hpp"

namespace kalmia::kalman {
namespace {

TEST(KalmanScratch, OfAStepIsEnoughForEachOfItsParts) {
  for (const int N : {1, 2, 3, 8, 20})
    for (const int M : {1, 2, 8}) {
      const int all = step_scratch_lines(N, M);
      EXPECT_GE(all, predict_scratch_lines(N));
      EXPECT_GE(all, update_scratch_lines(N, M));
      EXPECT_GE(all, rts_scratch_lines(N));
      EXPECT_GE(update_scratch_lines(N, M), update_covariance_lines(N, M));
      EXPECT_GE(rts_scratch_lines(N), rts_covariance_lines(N));
    }
}

// Without guards; K (N x M), v (M) and C (packed).
TEST(KalmanScratch, TheTapeHoldsGainInnovationAndFactor) {
  EXPECT_EQ(lanes::count_lines<UpdateTape<double>>(3, 2), 6 + 2 + 3 + 3 * lanes::kGuardLines);
}

// Counts what a step writes: no line past what the kernels ask for.
template <typename T>
void expect_to_stay_inside(int N, int M) {
  constexpr int kLanes = lanes::kLineLanes<T>;
  const auto asked = static_cast<std::size_t>(step_scratch_lines(N, M) * kLanes);
  constexpr T kMark = T(12345);
  test::StepLines<T> s(N, M);
  std::vector<double> H(static_cast<std::size_t>(N * M), 0.5), R(static_cast<std::size_t>(M * M));
  for (int i = 0; i < M; ++i) R[static_cast<std::size_t>(i * (M + 1))] = 1;
  const Emission emission(N, M, H, R);
  for (int lane = 0; lane < kLanes; ++lane) {
    for (test::Lines<T>* each : {&s.F, &s.Q, &s.P_filt, &s.P_pred, &s.P_smooth})
      each->set(lane, test::Matrix::Identity(N, N));
  }
  test::Lines<T> room(step_scratch_lines(N, M) + 4, 1);
  for (T& each : room.span()) each = kMark;
  std::swap(s.scratch, room);
  predict_forward(s, true);
  EXPECT_EQ(update_forward(emission.view(), s, false), 0u);
  update_backward(emission.view(), s, false);
  predict_backward(s, true);
  EXPECT_EQ(rts_step(s), 0u);
  for (std::size_t i = asked; i < s.scratch.span().size(); ++i)
    ASSERT_EQ(s.scratch.span()[i], kMark) << N << " x " << M << ", " << i;
}

TEST(KalmanScratch, AStepStaysInsideWhatItAskedFor) {
  for (const int N : {1, 2, 3, 6})
    for (const int M : {1, 2, 7}) {
      expect_to_stay_inside<float>(N, M);
      expect_to_stay_inside<double>(N, M);
    }
}

}  // namespace
}  // namespace kalmia::kalman
