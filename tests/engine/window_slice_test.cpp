#include "engine/window_slice.hpp"

#include <gtest/gtest.h>

#include "support/lane_groups.hpp"
#include "support/window_case.hpp"

namespace kalmia::heads {
namespace {

// A window in slices leaves the same state and the same moments as the whole.
TEST(WindowSlice, SlicesAreTheWhole) {
  ArchitectureOptions options;
  options.state_dim = 3;
  options.meas_dim = 2;
  options.input_dim = 4;
  options.hidden = 5;
  options.decoder = {4};
  constexpr int kSteps = 9, kLanes = 16, N = 3;
  test::WindowCase<double> at(options,
                              {.missing = true,
                               .uneven = true,
                               .carried = true,
                               .centre = true,
                               .driven = true,
                               .weighted = true,
                               .scored = true,
                               .gaps = true},
                              kSteps, kLanes, 3);
  StateWorkspace<double> workspace;
  workspace.prepare(at.model(), kSteps, kLanes, false);
  struct Run {
    StateCarry<double> carry;
    Buffer<double> x_pred, P_pred, x_filt, P_filt, F, Q, nll;
  };
  const auto run = [&](const std::vector<int>& cuts) {
    Run result;
    result.carry.resize(at.architecture, kLanes);
    std::ranges::copy(at.group.carry.h.span(), result.carry.h.data());
    std::ranges::copy(at.group.carry.x.span(), result.carry.x.data());
    std::ranges::copy(at.group.carry.P.span(), result.carry.P.data());
    for (Buffer<double>* mean : {&result.x_pred, &result.x_filt}) mean->resize(kSteps * N * kLanes);
    for (Buffer<double>* matrix : {&result.P_pred, &result.P_filt, &result.F, &result.Q})
      matrix->resize(kSteps * N * N * kLanes);
    result.nll.resize(kSteps * kLanes);
    const StateMoments all{result.x_pred.data(), result.P_pred.data(), result.x_filt.data(),
                           result.P_filt.data(), result.F.data(),      result.Q.data(),
                           result.nll.data()};
    for (std::size_t i = 1; i < cuts.size(); ++i) {
      const engine::WindowSlice<StateHead<double>> slice(at.model(), at.group.view(), cuts[i - 1],
                                                         cuts[i]);
      engine::window_forward(at.model(), slice.input(), result.carry,
                             all.from(cuts[i - 1], N, kLanes), workspace);
    }
    return result;
  };
  const Run whole = run({0, kSteps}), cut = run({0, 1, 2, 6, kSteps});
  const auto expect_same = [](const Buffer<double>& a, const Buffer<double>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) ASSERT_EQ(a[i], b[i]) << i;
  };
  expect_same(whole.carry.h, cut.carry.h);
  expect_same(whole.carry.x, cut.carry.x);
  expect_same(whole.carry.P, cut.carry.P);
  expect_same(whole.x_pred, cut.x_pred);
  expect_same(whole.P_filt, cut.P_filt);
  expect_same(whole.x_filt, cut.x_filt);
  expect_same(whole.P_pred, cut.P_pred);
  expect_same(whole.F, cut.F);
  expect_same(whole.Q, cut.Q);
  expect_same(whole.nll, cut.nll);
}

TEST(WindowSlice, MomentsThatAreNotWantedStayOut) {
  const StateMoments part = StateMoments().from(4, 3, 16);
  EXPECT_EQ(part.x_pred, nullptr);
  EXPECT_EQ(part.nll, nullptr);
}

}  // namespace
}  // namespace kalmia::heads
