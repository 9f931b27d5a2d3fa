// The head of the recurrent models: its adjoint.
#include "heads/direct/direct.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heads/state_gradient.hpp"

namespace kalmia::heads {
namespace {

std::vector<GradientCase> direct_gradient_cases() {
  const FeatureKinds kinds;
  return {{"RecurrentFilterBentEverything", HeadKind::Direct, false, 3, 2, kinds.bent},
          {"RecurrentFilterEverything", HeadKind::Direct, false, 3, 2, kinds.all},
          {"RecurrentSmootherEverything", HeadKind::Direct, true, 3, 2, kinds.all},
          {"ConvLongerThanTheWindow", HeadKind::Direct, true, 3, 2, kinds.all,
           nn::EncoderKind::Conv, 24},
          {"RecurrentSmootherScored", HeadKind::Direct, true, 3, 2, kinds.scored}};
}

class DirectGradient : public testing::TestWithParam<GradientCase> {};

TEST_P(DirectGradient, MatchesCentralDifferences) { expect_adjoint(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Models, DirectGradient, testing::ValuesIn(direct_gradient_cases()),
                         [](const auto& test) { return test.param.name; });

// No state follows from the last: what is carried changes nothing.
TEST(Direct, TheCarriedStateDoesNotEnter) {
  ArchitectureOptions options;
  options.state_dim = 3;
  options.meas_dim = 2;
  options.input_dim = 3;
  options.hidden = 5;
  options.decoder = {4};
  options.head = HeadKind::Direct;
  WindowCase<double> at(options, {.missing = true, .carried = true, .centre = true}, 6, 16, 41);
  const auto loss = [&] {
    StateWorkspace<double> workspace;
    workspace.prepare(at.model(), 6, 16, false);
    StateCarry<double> carry;
    carry.resize(at.architecture, 16);
    std::ranges::copy(at.group.carry.h.span(), carry.h.data());
    std::ranges::copy(at.group.carry.x.span(), carry.x.data());
    return engine::window_forward(at.model(), at.group.view(), carry, {}, workspace);
  };
  const double before = loss();
  for (double& x : at.group.carry.x.span()) x += 5;
  EXPECT_EQ(loss(), before);
}

}  // namespace
}  // namespace kalmia::heads
