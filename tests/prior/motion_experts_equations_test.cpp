// Parts that are added to equations: their flow and noise beside the equations' own, the adjoint,
// and what becomes of states, channels, inputs and constants.
#include <gtest/gtest.h>

#include <numbers>
#include <string>
#include <unsupported/Eigen/MatrixFunctions>
#include <vector>

#include "kalmia/error.hpp"
#include "lanes/isa.hpp"
#include "prior/prior_cases.hpp"
#include "support/expert_spec.hpp"
#include "support/gradient_check.hpp"
#include "support/reference.hpp"

namespace kalmia::prior {
namespace {

using Texts = std::vector<std::string>;

constexpr int kSumLanes = Lines<double>::kLanes;
constexpr double kUsual = 0.25;  // a usual step in the time of the equations

// A spring that an input pushes; one channel is its place, the other what a camera sees of it.
System spring(int substeps = 1) {
  System system;
  system.states = {"x", "v"};
  system.inputs = {"push"};
  system.parameters = {{"k", 4, true, 0}, {"c", 0.5, true, 0}};
  system.ode = {{"x", "v"}, {"v", "push - k*x - c*v"}};
  system.measure = {{"place", "x"}, {"seen", "c*sin(x)"}};
  system.integration.substeps = substeps;
  return system;
}
Matrix spring_matrix() { return Matrix{{0, 1}, {-4, -0.5}}; }

const Texts kChannels = {"place", "seen"}, kInputs = {"wind", "push"};

ExpertSpec with_parts(ExpertSpec spec, const std::string& parts, const Texts& channels) {
  spec.parts = parts_in_steps(parse_sum(parts).parts, {.channels = channels}, Alone::No);
  spec.dt = kUsual;
  return spec;
}

// The sum evaluated with a density that correlates all states.
struct AddedFlow {
  Expert expert;
  std::vector<double> theta;
  Lines<double> x, dt{1, 1}, u{2, 1}, F, e, Q;
  test::TriangleLines<double> L;
  Buffer<double> scratch;

  AddedFlow(const System& system, const std::string& parts)
      : expert(
            make_expert(with_parts(test::equations(system), parts, kChannels), kChannels, kInputs)),
        theta(expert.theta()),
        x(N(), 1),
        F(N(), N()),
        e(N(), 1),
        Q(N(), N()),
        L(N()),
        scratch(expert.map->scratch_size()) {
    RandomStream random(461, "density of an added sum");
    for (int b = 0; b < kSumLanes; ++b) {
      L.set_lower(b, test::random_lower(random, N()));
      x.set(b, test::random_matrix(random, N(), 1));
      u.set(b, test::random_matrix(random, 2, 1));
      dt.set(b, Matrix::Constant(1, 1, kUsual));
    }
  }
  int N() const { return expert.state_dim(); }
  kalman::MapPoint at() const { return {x.data(), dt.data(), u.data(), theta.data()}; }
  void run() {
    expert.map->as_flow()->forward_with_noise(at(), L.data(), F.data(), e.data(), Q.data(),
                                              scratch.data());
  }
};

// dx/dt = A x of "place: memory(8) + trend; seen: season(7.5, 1)" in the time of the equations: a
// part's states count by usual steps.
Matrix added_matrix() {
  Matrix A = Matrix::Zero(7, 7);
  A.topLeftCorner(2, 2) = spring_matrix();
  A(2, 2) = -1 / (8 * kUsual);
  A(3, 4) = 1 / kUsual;
  const double w = 2 * std::numbers::pi / (7.5 * kUsual);
  A(5, 6) = w;
  A(6, 5) = -w;
  return A;
}

constexpr const char* kParts = "place: memory(8) + trend; seen: season(7.5, 1)";

TEST(AddedParts, TheMapIsTheEquationsBesideThePartsFlow) {
  for (const double dt : {0.1, kUsual, 1.0}) {
    AddedFlow flow(spring(), kParts);
    for (int b = 0; b < kSumLanes; ++b) flow.dt.set(b, Matrix::Constant(1, 1, dt));
    flow.run();
    const Expert alone = make_expert(test::equations(spring()), kChannels, kInputs);
    for (int b = 0; b < kSumLanes; ++b) {
      const LocalMap map =
          local_map(alone, {flow.x.get(b).topRows(2), dt, flow.u.get(b), Vector(0)});
      Matrix F = (added_matrix() * dt).exp();
      F.topLeftCorner(2, 2) = map.F;
      Vector e = Vector::Zero(7);
      e.head(2) = map.e;
      EXPECT_LE((flow.F.get(b) - F).norm(), 1e-13 * F.norm());
      EXPECT_LE((flow.e.get(b) - e).norm(), 1e-13 * (1 + e.norm()));
      EXPECT_NE(e(1), 0);
    }
  }
}

// Half the substep, a sixteenth of the error, down to small ones; from two substeps on, the first pair.
TEST(AddedParts, NoiseIsTheIntegralAlongBoth) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    std::vector<double> error;
    for (const int substeps : {2, 4, 8, 16, 32}) {
      AddedFlow flow(spring(substeps), kParts);
      flow.run();
      const Matrix G = flow.L.get_lower(1) * flow.L.get_lower(1).transpose();
      const Matrix Q = reference::flow_noise(added_matrix(), G, kUsual);
      error.push_back((flow.Q.get(1) - Q).norm() / Q.norm());
    }
    for (std::size_t i = 0; i + 1 < error.size(); ++i) {
      EXPECT_GT(error[i] / error[i + 1], 11) << i;
      EXPECT_LT(error[i] / error[i + 1], 24) << i;
    }
    EXPECT_LT(error.back(), 1e-7);
  }
  lanes::use_best_isa();
}

TEST(AddedParts, GradientOfFlowAndNoise) {
  RandomStream random(462, "adjoints of an added sum");
  for (const char* parts : {kParts, "level + oscillator(20)", "seen: damped-velocity"}) {
    SCOPED_TRACE(parts);
    AddedFlow flow(spring(2), parts);
    const int N = flow.N(), P = static_cast<int>(flow.theta.size());
    for (std::size_t p = 0; p < flow.theta.size(); ++p) flow.theta[p] += 0.03 * random.normal();
    test::fill(flow.dt, [&] { return Matrix::Constant(1, 1, random.uniform(0.1, 0.8)); });
    Lines<double> d_F(N, N), d_e(N, 1), d_Q(N, N), d_x(N, 1), d_theta(P, 1);
    test::TriangleLines<double> d_L(N);
    test::fill(d_F, [&] { return test::random_matrix(random, N, N); });
    test::fill(d_e, [&] { return test::random_matrix(random, N, 1); });
    test::fill(d_Q, [&] { return test::random_symmetric(random, N); });
    flow.expert.map->as_flow()->backward_with_noise(flow.at(), flow.L.data(), d_F.data(),
                                                    d_e.data(), d_Q.data(), d_L.data(), d_x.data(),
                                                    d_theta.data(), flow.scratch.data());
    std::vector<double> gradient(flow.theta.size());
    for (std::size_t i = 0; i < d_theta.span().size(); ++i)
      gradient[i / kSumLanes] += d_theta.span()[i];
    const auto loss = [&] {
      flow.run();
      return test::weighted_sum(d_F.span(), flow.F.span()) +
             test::weighted_sum(d_e.span(), flow.e.span()) +
             test::weighted_sum(d_Q.span(), flow.Q.span());
    };
    test::check_gradient(loss,
                         {{"x", flow.x.span(), d_x.span()},
                          {"L", flow.L.span(), d_L.span()},
                          {"theta", flow.theta, gradient}},
                         463);
  }
}

TEST(AddedParts, StatesAndWhatIsMeasured) {
  const Expert expert =
      make_expert(with_parts(test::equations(spring()), kParts, kChannels), kChannels, kInputs);
  EXPECT_EQ(expert.parts, (Texts{"system", "memory", "trend", "season"}));
  EXPECT_EQ(expert.map_states, 2);
  EXPECT_EQ(expert.state_names, (Texts{"x", "v", "place_memory", "place_trend", "place_trend_rate",
                                       "seen_season_cos1", "seen_season_sin1"}));
  EXPECT_EQ(expert.measured_state, (std::vector<int>{-1, -1}));
  EXPECT_EQ(expert.longest_period, 7.5);
  EXPECT_EQ(expert.inputs_read, std::vector<int>{1});
  ASSERT_EQ(expert.parameters.size(), 3u);
  EXPECT_EQ(expert.parameters[2].name, "damping of place_memory");
  EXPECT_EQ(expert.parameters[2].value, 1.0 / 8);
  EXPECT_TRUE(expert.by_time(1));
  EXPECT_FALSE(expert.by_time(4));
  for (std::size_t n = 2; n < 7; ++n) EXPECT_FALSE(expert.states[n].holds_mean) << n;
  // y = h(x) + the channel's parts, with a learned constant in h.
  ASSERT_NE(expert.emission, nullptr);
  EXPECT_FALSE(expert.linear);
  Lines<double> x(7, 1), dt(1, 1), u(2, 1), y(2, 1), H(2, 7);
  const Vector state{{0.3, 2, 10, 20, 30, 40, 50}};
  for (int b = 0; b < kSumLanes; ++b) x.set(b, state);
  const std::vector<double> theta = {4, 0.75, 0.1};
  Buffer<double> scratch(expert.emission->scratch_size());
  expert.emission->forward({x.data(), dt.data(), u.data(), theta.data()}, y.data(), H.data(),
                           scratch.data());
  EXPECT_EQ(y.get(0)(0), 0.3 + 10 + 20);
  EXPECT_EQ(y.get(0)(1), 0.75 * std::sin(0.3) + 40);
  Matrix expected = Matrix::Zero(2, 7);
  expected(0, 0) = expected(0, 2) = expected(0, 3) = expected(1, 5) = 1;
  expected(1, 0) = 0.75 * std::cos(0.3);
  EXPECT_LE((H.get(0) - expected).norm(), 1e-15);
}

// A channel without parts is measured as it was.
TEST(AddedParts, OfSomeChannelsOnly) {
  const Texts channels = {"a", "b", "c"};
  const Expert expert =
      make_expert(with_parts(test::named("lorenz"), "b: level", channels), channels);
  EXPECT_EQ(expert.state_names, (Texts{"a", "b_lorenz", "c", "b_level"}));
  EXPECT_EQ(expert.measured_state, (std::vector<int>{0, -1, 2}));
  EXPECT_EQ(expert.parts, (Texts{"lorenz", "level"}));
  EXPECT_EQ(expert.emission, nullptr);
  Matrix H = Matrix::Zero(3, 4);
  H(0, 0) = H(1, 1) = H(2, 2) = H(1, 3) = 1;
  EXPECT_EQ(Matrix(Eigen::Map<const Matrix>(expert.H.data(), 4, 3).transpose()), H);
  const std::vector<ChannelPart> parts =
      channel_parts(with_parts(test::named("lorenz"), "b: level", channels), 3, 3);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].channel, 1);
  EXPECT_EQ(parts[0].begin, 3);
}

// Polynomials and matrices are of the equations' states alone.
TEST(AddedParts, DeparturesAreOfTheEquations) {
  const Texts channels = {"a", "b", "c"};
  for (const int degree : {1, 2}) {
    ExpertSpec spec = with_parts(test::named("lorenz"), "memory(5)", channels);
    spec.departure = 1;
    spec.degree = degree;
    spec.frame = {{0, 0, 0}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 1, 1}, kUsual};
    const Expert expert = make_expert(spec, channels);
    ASSERT_EQ(expert.parameters.size(), degree == 1 ? 12u : 33u);
    EXPECT_EQ(expert.parameters.back().name, "damping of c_memory");
    Point at{Vector{{1, 2, 3, 4, 5, 6}}, kUsual, Vector(0), Vector(0)};
    const LocalMap plain = local_map(expert, at);
    const std::vector<double> theta = expert.theta();
    at.theta = Eigen::Map<const Vector>(theta.data(), std::ssize(theta));
    at.theta.head(3).setConstant(0.125);
    const LocalMap moved = local_map(expert, at);
    EXPECT_GT((moved.F * at.x + moved.e - plain.F * at.x - plain.e).head(3).norm(), 0.01);
    EXPECT_EQ(moved.F.bottomRows(3), plain.F.bottomRows(3));
    EXPECT_EQ(moved.F.topRightCorner(3, 3), (Matrix::Zero(3, 3)));
  }
}

// An autoregression has no flow, so that the noise of a step is in proportion to its length.
TEST(AddedParts, AnAutoregressionMovesFromStepToStep) {
  const Expert expert =
      make_expert(with_parts(test::equations(spring()), "ar(2)", kChannels), kChannels, kInputs);
  EXPECT_EQ(expert.map->as_flow(), nullptr);
  const LocalMap map = local_map(expert, {Vector::Zero(6), 0.7, Vector::Zero(2), Vector(0)});
  EXPECT_EQ(map.F(2, 2), 0.9);
  EXPECT_EQ(map.F(3, 2), 1);
}

std::string refusal(const ExpertSpec& spec, const Texts& channels) {
  try {
    make_expert(spec, channels, kInputs);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(AddedParts, WhatCannotBeAddedIsRefused) {
  ExpertSpec none = test::named("none");
  none.parts = {{PartKind::Level}};
  EXPECT_EQ(refusal(none, {"a"}),
            "prior none + level: it has no equations that parts can be added to");
  System named = spring();
  named.states = {"place_level", "v"};
  named.ode = {{"place_level", "v"}, {"v", "push - k*place_level - c*v"}};
  named.measure = {{"place", "place_level"}, {"seen", "v"}};
  EXPECT_EQ(refusal(with_parts(test::equations(named), "level", kChannels), kChannels),
            "prior system: the state place_level has the name of a state of a part; rename it");
  const Texts channels = {"a", "b", "c"};
  EXPECT_EQ(refusal(with_parts(test::named("lorenz"), "a: ar(126)", channels), channels),
            "prior lorenz; a: ar(126): 129 states, but a model has at most 128; measure fewer "
            "columns, or take a prior of fewer states");
  ExpertSpec timeless = with_parts(test::named("lorenz"), "level", channels);
  timeless.dt = 0;
  EXPECT_EQ(refusal(timeless, channels), "dt = 0, but it must be above 0");
}

}  // namespace
}  // namespace kalmia::prior
