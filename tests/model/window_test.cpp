#include "model/window.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "lanes/isa.hpp"
#include "support/gradient_check.hpp"
#include "support/lane_groups.hpp"
#include "support/window_case.hpp"

namespace kalmia::model {
namespace {

using test::WindowCase;
using test::WindowFeatures;

struct GradientCase {
  std::string name;
  bool recursive;
  bool two_sided;
  int state_dim;
  int meas_dim;
  WindowFeatures features;
  nn::EncoderKind encoder = nn::EncoderKind::Gru;
  int taps = 5;
  bool fusion = false;
  bool alternative = false;
  bool toward_centre = false;
};

void PrintTo(const GradientCase& c, std::ostream* out) { *out << c.name; }

std::vector<GradientCase> gradient_cases() {
  const WindowFeatures plain;
  const WindowFeatures no_map{.map = false};
  const WindowFeatures all{
      .missing = true, .uneven = true, .carried = true, .centre = true, .driven = true};
  WindowFeatures bent = all;
  bent.bent = bent.weighted = true;
  WindowFeatures scored = all;
  scored.scored = true;
  WindowFeatures flow = all;
  flow.flow = true;
  WindowFeatures in_gaps = flow;
  in_gaps.gaps = true;
  WindowFeatures bent_gaps = bent;
  bent_gaps.gaps = true;
  return {
      {"RecursiveFilterInGaps", true, false, 3, 2, {.missing = true, .centre = true, .gaps = true}},
      {"RecursiveFilterInGapsEverything", true, false, 4, 2, in_gaps},
      {"RecursiveFilterInGapsBent", true, false, 3, 2, bent_gaps},
      {"RecursiveFilterFlow", true, false, 3, 2, {.flow = true}},
      {"RecursiveFilterFlowEverything", true, false, 4, 2, flow},
      {"AlternativePosteriorFlow", true, true, 3, 2, flow, nn::EncoderKind::Gru, 5, false, true},
      {"RecursiveFilter", true, false, 3, 3, plain},
      {"RecursiveFilterWithoutMap", true, false, 3, 2, no_map},
      {"RecursiveFilterMissing", true, false, 3, 2, {.missing = true}},
      {"RecursiveFilterUneven", true, false, 2, 2, {.uneven = true}},
      {"RecursiveFilterCarried", true, false, 3, 1, {.carried = true}},
      {"RecursiveFilterCentred", true, false, 3, 2, {.centre = true}},
      {"RecursiveFilterDriven", true, false, 3, 2, {.driven = true}},
      {"RecursiveFilterWeighted", true, false, 3, 2, {.missing = true, .weighted = true}},
      {"RecursiveFilterBent", true, false, 3, 2, {.driven = true, .bent = true}},
      {"RecursiveFilterBentEverything", true, false, 3, 2, bent},
      {"RecurrentFilterBentEverything", false, false, 3, 2, bent},
      {"RecursiveFilterEverything", true, false, 4, 2, all},
      {"RecurrentFilterEverything", false, false, 3, 2, all},
      {"RecursiveSmootherEverything", true, true, 3, 2, all},
      {"RecurrentSmootherEverything", false, true, 3, 2, all},
      {"MoreMeasurementsThanStates", true, false, 2, 3, all},
      {"OneState", true, false, 1, 1, all},
      {"LstmFilter", true, false, 3, 3, plain, nn::EncoderKind::Lstm},
      {"LstmFilterEverything", true, false, 3, 2, all, nn::EncoderKind::Lstm},
      {"LstmSmootherEverything", true, true, 3, 2, all, nn::EncoderKind::Lstm},
      {"ConvFilter", true, false, 3, 3, plain, nn::EncoderKind::Conv},
      {"ConvFilterEverything", true, false, 3, 2, all, nn::EncoderKind::Conv},
      {"ConvSmootherEverything", true, true, 3, 2, all, nn::EncoderKind::Conv},
      {"ConvOfOneTap", true, true, 3, 2, all, nn::EncoderKind::Conv, 1},
      {"ConvLongerThanTheWindow", false, true, 3, 2, all, nn::EncoderKind::Conv, 24},
      {"AlternativePosterior", true, true, 3, 2, plain, nn::EncoderKind::Gru, 5, false, true},
      {"AlternativePosteriorEverything", true, true, 3, 2, all, nn::EncoderKind::Gru, 5, false,
       true},
      {"AlternativePosteriorManyMeasurements", true, false, 2, 3, all, nn::EncoderKind::Gru, 5,
       false, true},
      {"RecursiveFilterScored", true, false, 3, 2, {.scored = true}},
      {"RecurrentSmootherScored", false, true, 3, 2, scored},
      {"AlternativePosteriorScored", true, true, 3, 2, scored, nn::EncoderKind::Gru, 5, false,
       true},
      {"TowardTheCentre",
       true,
       true,
       3,
       3,
       {.centre = true},
       nn::EncoderKind::Gru,
       5,
       false,
       false,
       true},
      {"TowardTheCentreEverything", true, true, 3, 2, scored, nn::EncoderKind::Gru, 5, false, false,
       true},
      {"TowardTheCentreFlow", true, true, 3, 2, flow, nn::EncoderKind::Gru, 5, false, false, true},
      {"TowardTheCentreAlternative", true, true, 2, 2, all, nn::EncoderKind::Gru, 5, false, true,
       true},
      {"Fusion", false, false, 3, 3, plain, nn::EncoderKind::Gru, 16, true},
      {"FusionEverything", false, false, 3, 2, all, nn::EncoderKind::Gru, 16, true},
      {"FusionBent", false, false, 2, 3, bent, nn::EncoderKind::Lstm, 16, true},
  };
}

class WindowGradient : public testing::TestWithParam<GradientCase> {};

// The whole backward pass, parameter by parameter, and the carried state, against central
// differences of the forward pass in double.
TEST_P(WindowGradient, MatchesCentralDifferences) {
  const GradientCase& c = GetParam();
  ArchitectureOptions options;
  options.state_dim = c.state_dim;
  options.meas_dim = c.meas_dim;
  options.input_dim = 3;
  options.hidden = 7;
  options.decoder = {6, 5};
  options.recursive = c.recursive;
  options.two_sided = c.two_sided;
  options.encoder = c.encoder;
  options.taps = c.taps;
  options.fusion = c.fusion;
  options.alternative = c.alternative;
  options.toward_centre = c.toward_centre;
  constexpr int kSteps = 19, kLanes = 16;  // more than one chunk of weight gradients
  constexpr double kScale = 0.01;
  WindowCase<double> at(options, c.features, kSteps, kLanes, 11);
  Workspace<double> workspace;
  workspace.prepare(at.model(), kSteps, kLanes, true);
  const auto start = [&] {
    Carry<double> carry;
    carry.resize(at.architecture, kLanes);
    std::copy_n(at.group.carry.h.data(), carry.h.size(), carry.h.data());
    std::copy_n(at.group.carry.x.data(), carry.x.size(), carry.x.data());
    std::copy_n(at.group.carry.P.data(), carry.P.size(), carry.P.data());
    return carry;
  };
  const auto loss = [&] {
    at.pack();
    Carry<double> carry = start();
    return kScale * window_forward(at.model(), at.group.view(), carry, {}, workspace);
  };
  ASSERT_TRUE(std::isfinite(loss()));
  ASSERT_TRUE(workspace.failures.empty());
  window_backward(at.model(), at.group.view(), kScale, workspace);
  const std::vector<double> gradient(workspace.gradient.data(),
                                     workspace.gradient.data() + workspace.gradient.size());
  const std::vector<double> d_h(workspace.d_h.data(), workspace.d_h.data() + workspace.d_h.size());
  const std::vector<double> d_x(workspace.d_x.data(), workspace.d_x.data() + workspace.d_x.size());
  const std::vector<double> d_P(workspace.d_P.data(), workspace.d_P.data() + workspace.d_P.size());

  std::vector<test::GradientVariable> variables;
  for (const nn::ParameterView& view : at.architecture.parameters.views()) {
    const auto size = static_cast<std::size_t>(view.size());
    variables.push_back({view.name,
                         {at.parameters.data() + view.offset, size},
                         {gradient.data() + view.offset, size},
                         0});
  }
  if (c.features.carried) {
    variables.push_back({"carried h", at.group.carry.h.span(), d_h, 0});
    variables.push_back({"carried x", at.group.carry.x.span(), d_x, 0});
    variables.push_back({"carried P", at.group.carry.P.span(), d_P, c.state_dim});
  }
  const std::vector<double> d_theta(workspace.d_theta.data(),
                                    workspace.d_theta.data() + workspace.d_theta.size());
  if (c.features.driven && c.recursive) variables.push_back({"theta", at.theta, d_theta, 0});
  // A short difference: it must not step over the kinks of the decoder's ReLU.
  test::check_gradient(loss, variables, 5, {.step = 1e-6});
}

INSTANTIATE_TEST_SUITE_P(Models, WindowGradient, testing::ValuesIn(gradient_cases()),
                         [](const auto& test) { return test.param.name; });

// x and P after every step, lane by lane.
void expect_reference(const ArchitectureOptions& options, const WindowFeatures& features) {
  constexpr int kSteps = 6, kLanes = 16;
  const int N = options.state_dim;
  WindowCase<double> at(options, features, kSteps, kLanes, 29);
  const reference::Model model = test::reference_of(at);
  Workspace<double> workspace;
  workspace.prepare(at.model(), kSteps, kLanes, false);
  LaneGroup<double> group = test::copy_of(at.architecture, at.group);
  const test::WindowResult found = test::run_window(at.model(), group, workspace);
  for (int lane = 0; lane < kLanes; ++lane) {
    const reference::ModelRun want =
        reference::run(model, test::sequence_of(at.architecture, at.group, lane));
    for (int k = 0; k < kSteps; ++k) {
      const reference::Gaussian& state = want.filtered[static_cast<std::size_t>(k)];
      EXPECT_LE((found.lane.at("x_filt").matrix(k, lane, N, 1) - state.mean).norm(), 1e-11);
      EXPECT_LE((found.lane.at("P_filt").matrix(k, lane, N, N) - state.cov).norm(), 1e-11);
    }
  }
}

ArchitectureOptions small_smoother() {
  ArchitectureOptions options;
  options.state_dim = 3;
  options.meas_dim = 2;
  options.input_dim = 2;
  options.hidden = 4;
  options.decoder = {3};
  options.two_sided = true;
  return options;
}

TEST(Window, TheAlternativePosteriorIsThatOfTheReference) {
  ArchitectureOptions options = small_smoother();
  options.alternative = true;
  expect_reference(options, {.missing = true, .carried = true, .driven = true});
}

TEST(Window, NoiseAlongAFlowIsThatOfTheReference) {
  ArchitectureOptions options = small_smoother();
  options.two_sided = false;
  expect_reference(
      options, {.missing = true, .uneven = false, .carried = true, .driven = true, .flow = true});
}

TEST(Window, GapsAreThoseOfTheReference) {
  ArchitectureOptions options = small_smoother();
  options.two_sided = false;
  for (const bool flow : {false, true})
    expect_reference(options, {.missing = true,
                               .carried = true,
                               .centre = true,
                               .driven = true,
                               .flow = flow,
                               .gaps = true});
}

TEST(Window, GoingTowardTheCentreIsThatOfTheReference) {
  ArchitectureOptions options = small_smoother();
  options.toward_centre = true;
  expect_reference(options, {.missing = true, .carried = true, .centre = true, .driven = true});
}

// A step that does not count changes nothing but the sums.
TEST(Window, ScoresWeighTheLikelihoodOfAStep) {
  constexpr int kSteps = 5, kLanes = 16;
  WindowCase<double> at(small_smoother(), {.scored = true}, kSteps, kLanes, 31);
  Workspace<double> workspace;
  workspace.prepare(at.model(), kSteps, kLanes, false);
  Buffer<double> nll(kSteps * kLanes);
  WindowMoments moments;
  moments.nll = nll.data();
  window_forward(at.model(), at.group.view(), at.group.carry, moments, workspace);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    double sum = 0, all = 0;
    for (std::size_t k = 0; k < kSteps; ++k) {
      sum += at.group.score[k * kLanes + lane] * nll[k * kLanes + lane];
      all += nll[k * kLanes + lane];
    }
    EXPECT_NEAR(workspace.lane_nll[lane], sum, 1e-12 * std::abs(sum) + 1e-12);
    EXPECT_NE(all, sum);
  }
}

// Many states: the same as the reference, and a gradient that fits.
TEST(Window, StateDimensionsUpTo128) {
  for (const int state_dim : {32, 128}) {
    SCOPED_TRACE(state_dim);
    ArchitectureOptions options;
    options.state_dim = state_dim;
    options.meas_dim = 5;
    options.input_dim = 2;
    options.hidden = 4;
    options.decoder = {3};
    constexpr int kSteps = 4, kLanes = 16;
    WindowCase<double> at(options, {.missing = true}, kSteps, kLanes, 23);
    for (double& p : at.parameters.span()) p *= 0.1;  // F and Q of a size that suits many states
    at.pack();
    const reference::Model model = test::reference_of(at);
    Buffer<double> x(static_cast<std::size_t>(kSteps * state_dim * kLanes));
    WindowMoments moments;
    moments.x_filt = x.data();
    Workspace<double> workspace;
    workspace.prepare(at.model(), kSteps, kLanes, true);
    const auto loss = [&] {
      at.pack();
      Carry<double> carry;
      carry.resize(at.architecture, kLanes);
      return window_forward(at.model(), at.group.view(), carry, moments, workspace);
    };
    loss();
    ASSERT_TRUE(workspace.failures.empty());
    for (const int lane : {0, 13}) {
      const reference::ModelRun want =
          reference::run(model, test::sequence_of(at.architecture, at.group, lane));
      for (int k = 0; k < kSteps; ++k)
        for (int i = 0; i < state_dim; ++i)
          ASSERT_NEAR(x[static_cast<std::size_t>((k * state_dim + i) * kLanes + lane)],
                      want.filtered[static_cast<std::size_t>(k)].mean(i), 1e-10)
              << "lane " << lane << ", step " << k << ", state " << i;
    }
    window_backward(at.model(), at.group.view(), 1.0, workspace);
    const nn::ParameterView& bias = at.architecture.parameters.at("decoder.1.bias");
    const auto size = static_cast<std::size_t>(bias.size());
    const std::vector<double> gradient(workspace.gradient.data() + bias.offset,
                                       workspace.gradient.data() + bias.offset + bias.size());
    test::check_gradient(loss,
                         {{bias.name, {at.parameters.data() + bias.offset, size}, gradient, 0}}, 5,
                         {.step = 1e-6, .directions = 1});
  }
}

// d loss / d R, which the learned measurement noise needs.
TEST(Window, GradientOfTheMeasurementNoise) {
  ArchitectureOptions options;
  options.state_dim = 3;
  options.meas_dim = 2;
  options.input_dim = 2;
  options.hidden = 5;
  options.decoder = {4};
  WindowCase<double> at(options, {.missing = true, .uneven = true}, 9, 16, 3);
  Workspace<double> workspace;
  workspace.prepare(at.model(), 9, 16, true);
  std::vector<double> R = at.emission.R();
  const auto loss = [&] {
    at.emission.set_R(R);
    Carry<double> carry;
    carry.resize(at.architecture, 16);
    return window_forward(at.model(), at.group.view(), carry, {}, workspace);
  };
  loss();
  window_backward(at.model(), at.group.view(), 1.0, workspace);
  const std::vector<double> d_R(workspace.d_R.data(), workspace.d_R.data() + 4);
  test::check_gradient(loss, {{"R", R, d_R, 2}}, 7);
}

// A lane that breaks down is named, and does not touch the others.
TEST(Window, ReportsTheLaneThatFailed) {
  ArchitectureOptions options;
  options.state_dim = 2;
  options.meas_dim = 1;
  options.input_dim = 1;
  options.hidden = 4;
  options.decoder = {4};
  WindowCase<float> at(options, {.carried = true}, 6, 16, 3);
  const int n = 2;
  for (int i = 0; i < n * n; ++i)
    at.group.carry.P[static_cast<std::size_t>(i * 16 + 4)] = i % 3 == 0 ? -1e6 : 0.0;
  Workspace<float> workspace;
  workspace.prepare(at.model(), 6, 16, true);
  window_forward(at.model(), at.group.view(), at.group.carry, {}, workspace);
  ASSERT_EQ(workspace.failures.size(), 1u);
  EXPECT_EQ(workspace.failures[0].lane, 4);
  EXPECT_EQ(workspace.failures[0].step, 0);
  EXPECT_TRUE(std::isnan(workspace.lane_nll[4]));
  window_backward(at.model(), at.group.view(), 1.0, workspace);
  for (const float g : workspace.gradient.span()) ASSERT_TRUE(std::isfinite(g));
}

TEST(Window, RefusesSizesThatDoNotFit) {
  ArchitectureOptions options;
  options.state_dim = 2;
  options.meas_dim = 1;
  options.input_dim = 1;
  WindowCase<float> at(options, {}, 6, 16, 3);
  Workspace<float> workspace;
  workspace.prepare(at.model(), 4, 16, false);
  EXPECT_THROW(window_forward(at.model(), at.group.view(), at.group.carry, {}, workspace),
               ConfigError);
  workspace.prepare(at.model(), 6, 16, false);
  EXPECT_THROW(window_backward(at.model(), at.group.view(), 1.0, workspace), ConfigError);
  ArchitectureOptions toward = options;
  toward.toward_centre = true;
  WindowCase<float> no_centre(toward, {}, 6, 16, 3);
  workspace.prepare(no_centre.model(), 6, 16, false);
  EXPECT_THROW(window_forward(no_centre.model(), no_centre.group.view(), no_centre.group.carry, {},
                              workspace),
               ConfigError);
  workspace.prepare(at.model(), 6, 16, false);
  at.group.length.assign(16, 7);
  EXPECT_THROW(window_forward(at.model(), at.group.view(), at.group.carry, {}, workspace),
               ConfigError);
}

}  // namespace
}  // namespace kalmia::model
