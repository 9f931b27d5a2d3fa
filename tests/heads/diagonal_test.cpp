// The head of the diagonal filter: against the reference, its adjoint, and where it is a special
// case of the recurrent one.
#include "heads/diagonal/diagonal.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heads/state_gradient.hpp"
#include "kalmia/error.hpp"
#include "support/isas.hpp"
#include "support/lane_groups.hpp"

namespace kalmia::heads {
namespace {

using test::Matrix;

std::vector<GradientCase> gradient_cases() {
  const FeatureKinds kinds;
  return {
      {"DiagonalFilter", HeadKind::Diagonal, false, 3, 3, kinds.plain},
      {"DiagonalFilterEverything", HeadKind::Diagonal, false, 3, 2, kinds.all},
      {"DiagonalFilterBent", HeadKind::Diagonal, false, 3, 2, kinds.bent},
      {"DiagonalFilterScored", HeadKind::Diagonal, false, 2, 2, kinds.scored},
      {"DiagonalFilterConv", HeadKind::Diagonal, false, 4, 2, kinds.all, nn::EncoderKind::Conv}};
}

class DiagonalGradient : public testing::TestWithParam<GradientCase> {};

TEST_P(DiagonalGradient, MatchesCentralDifferences) { expect_adjoint(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Models, DiagonalGradient, testing::ValuesIn(gradient_cases()),
                         [](const auto& test) { return test.param.name; });

ArchitectureOptions options_of_head(HeadKind head) {
  ArchitectureOptions options;
  options.state_dim = 3;
  options.meas_dim = 2;
  options.input_dim = 3;
  options.hidden = 5;
  options.decoder = {4};
  options.head = head;
  return options;
}

TEST(Diagonal, IsThatOfTheReference) {
  constexpr int kSteps = 6, kLanes = 16, N = 3;
  test::for_each_isa([&] {
    WindowCase<double> at(options_of_head(HeadKind::Diagonal),
                          {.missing = true, .carried = true, .centre = true, .driven = true},
                          kSteps, kLanes, 29);
    const reference::Model model = test::reference_of(at);
    StateWorkspace<double> workspace;
    workspace.prepare(at.model(), kSteps, kLanes, false);
    StateGroup<double> group = test::copy_of(at.architecture, at.group);
    const test::WindowResult found = test::run_window(at.model(), group, workspace);
    for (int lane = 0; lane < kLanes; ++lane) {
      const reference::ModelRun want =
          reference::run(model, test::sequence_of(at.architecture, at.group, lane));
      for (int k = 0; k < kSteps; ++k) {
        const reference::Gaussian& state = want.filtered[static_cast<std::size_t>(k)];
        ASSERT_LE((found.lane.at("x_filt").matrix(k, lane, N, 1) - state.mean).norm(), 1e-8);
        ASSERT_LE((found.lane.at("P_filt").matrix(k, lane, N, N) - state.cov).norm(), 1e-8);
      }
    }
  });
}

// A prediction has no correlations, but for what is known before the first measurement.
TEST(Diagonal, PredictionsHaveNoCorrelations) {
  constexpr int kSteps = 4, kLanes = 16, N = 3;
  WindowCase<float> at(options_of_head(HeadKind::Diagonal), {}, kSteps, kLanes, 30);
  StateWorkspace<float> workspace;
  workspace.prepare(at.model(), kSteps, kLanes, false);
  const test::WindowResult found = test::run_window(at.model(), at.group, workspace);
  for (int k = 0; k < kSteps; ++k) {
    const Matrix P = found.lane.at("P_pred").matrix(k, 3, N, N);
    const Matrix off = P - Matrix(P.diagonal().asDiagonal());
    if (k == 0)
      EXPECT_GT(off.norm(), 0);
    else
      EXPECT_EQ(off.norm(), 0);
    EXPECT_GT(P.diagonal().minCoeff(), 0);
  }
}

TEST(Diagonal, HasFewerRowsThanATriangleAndNoSecondSide) {
  EXPECT_EQ(Architecture(options_of_head(HeadKind::Diagonal)).output_rows(), 6);
  EXPECT_EQ(Architecture(options_of_head(HeadKind::Direct)).output_rows(), 9);
  ArchitectureOptions both = options_of_head(HeadKind::Diagonal);
  both.two_sided = true;
  EXPECT_THROW(both.validate(), ConfigError);
}

}  // namespace
}  // namespace kalmia::heads
