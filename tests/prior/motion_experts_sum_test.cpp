// Sums of parts: each part's flow and noise against its equations, the adjoint, and how the parts
// of a channel become its states and its value.
#include <gtest/gtest.h>

#include <numbers>
#include <string>
#include <unsupported/Eigen/MatrixFunctions>
#include <vector>

#include "kalmia/error.hpp"
#include "prior/prior_cases.hpp"
#include "support/expert_spec.hpp"
#include "support/gradient_check.hpp"
#include "support/reference.hpp"

namespace kalmia::prior {
namespace {

using PartNames = std::vector<std::string>;

constexpr int kSumLanes = Lines<double>::kLanes;

// The equations of a part, dx/dt = A x, by hand.
struct PartCase {
  const char* text;
  int parameters;
  Matrix (*A)(const double* theta);
};

Matrix season_matrix(double period, int harmonics) {
  Matrix A = Matrix::Zero(2 * harmonics, 2 * harmonics);
  for (int h = 0; h < harmonics; ++h) {
    const double w = 2 * std::numbers::pi * (h + 1) / period;
    A(2 * h, 2 * h + 1) = w;
    A(2 * h + 1, 2 * h) = -w;
  }
  return A;
}

const PartCase kPartCases[] = {
    {"level", 0, [](const double*) -> Matrix { return Matrix::Zero(1, 1); }},
    {"memory(9)", 1, [](const double* p) -> Matrix { return Matrix{{-p[0]}}; }},
    {"trend", 0,
     [](const double*) -> Matrix {
       return Matrix{{0, 1}, {0, 0}};
     }},
    {"damped-trend", 1,
     [](const double* p) -> Matrix {
       return Matrix{{0, 1}, {0, -p[0]}};
     }},
    {"damped-velocity", 2,
     [](const double* p) -> Matrix {
       return Matrix{{0, 1}, {-p[0] * p[1], -p[0] - p[1]}};
     }},
    {"acceleration", 0,
     [](const double*) -> Matrix {
       return Matrix{{0, 1, 0}, {0, 0, 1}, {0, 0, 0}};
     }},
    {"oscillator(20)", 2,
     [](const double* p) -> Matrix {
       return Matrix{{0, 1}, {-p[0] * p[0] - p[1] * p[1], -2 * p[0]}};
     }},
    {"season(7.5, 3)", 0, [](const double*) -> Matrix { return season_matrix(7.5, 3); }},
};

// A sum evaluated with a density that correlates all states.
struct SumFlow {
  Expert expert;
  std::vector<double> theta;
  Lines<double> x, dt{1, 1}, F, e, Q;
  test::TriangleLines<double> L;
  Buffer<double> scratch;

  explicit SumFlow(const std::string& text, const PartNames& channels = {"a"})
      : expert(make_expert(test::sum_of_parts(text, channels), channels)),
        x(N(), 1),
        F(N(), N()),
        e(N(), 1),
        Q(N(), N()),
        L(N()),
        scratch(expert.map->scratch_size()) {
    RandomStream random(261, "density of a sum");
    for (std::size_t i = 0; i < expert.parameters.size(); ++i)
      theta.push_back(0.2 + 0.37 * static_cast<double>(i));
    for (int b = 0; b < kSumLanes; ++b) L.set_lower(b, test::random_lower(random, N()));
  }
  int N() const { return expert.state_dim(); }
  kalman::MapPoint at() const { return {x.data(), dt.data(), nullptr, theta.data()}; }
  const kalman::FlowMap& map() const { return *expert.map->as_flow(); }
  void run(double step) {
    for (int b = 0; b < kSumLanes; ++b) dt.set(b, Matrix::Constant(1, 1, step));
    run();
  }
  void run() {
    map().forward_with_noise(at(), L.data(), F.data(), e.data(), Q.data(), scratch.data());
  }
  Matrix G() const { return L.get_lower(1) * L.get_lower(1).transpose(); }
};

// In standard deviations of what is expected.
double covariance_error(const Matrix& found, const Matrix& expected) {
  const Vector scale = expected.diagonal().cwiseSqrt().cwiseInverse();
  return (scale.asDiagonal() * (found - expected) * scale.asDiagonal()).cwiseAbs().maxCoeff();
}

TEST(SumOfParts, FlowAndNoiseOfEachPartAreThoseOfItsEquations) {
  for (const PartCase& part : kPartCases)
    for (const double dt : {1e-3, 0.3, 1.0, 2.5, 9.0}) {
      SCOPED_TRACE(std::string(part.text) + ", step " + std::to_string(dt));
      SumFlow flow(part.text);
      ASSERT_EQ(std::ssize(flow.theta), part.parameters);
      EXPECT_TRUE(flow.map().any_step());
      flow.run(dt);
      const Matrix A = part.A(flow.theta.data()), F = (A * dt).exp();
      EXPECT_LE((flow.F.get(1) - F).norm(), 1e-13 * F.norm());
      EXPECT_LE(covariance_error(flow.Q.get(1), reference::flow_noise(A, flow.G(), dt)), 1e-11);
      EXPECT_EQ(flow.e.get(1), Vector::Zero(flow.N()));
    }
}

// A sum has its parts' flows side by side, whatever the noise that they share.
TEST(SumOfParts, FlowAndNoiseOfASum) {
  SumFlow flow("damped-trend + season(7.5, 2) + memory");
  Matrix A = Matrix::Zero(7, 7);
  A.block(0, 0, 2, 2) = Matrix{{0, 1}, {0, -flow.theta[0]}};
  A.block(2, 2, 4, 4) = season_matrix(7.5, 2);
  A(6, 6) = -flow.theta[1];
  for (const double dt : {0.3, 1.0, 9.0}) {
    flow.run(dt);
    const Matrix F = (A * dt).exp();
    EXPECT_LE((flow.F.get(1) - F).norm(), 1e-13 * F.norm());
    EXPECT_LE(covariance_error(flow.Q.get(1), reference::flow_noise(A, flow.G(), dt)), 1e-11);
  }
}

// A step of any length is what the small steps make that it is cut into.
TEST(SumOfParts, SmallStepsMakeUpALongOne) {
  for (const PartCase& part : kPartCases)
    for (const double whole : {0.7, 1.0, 50.0, 1000.0}) {
      SCOPED_TRACE(std::string(part.text) + ", step " + std::to_string(whole));
      SumFlow flow(part.text);
      constexpr int steps = 64;
      flow.run(whole / steps);
      const Matrix small = flow.F.get(1), noise = flow.Q.get(1);
      Matrix F = Matrix::Identity(flow.N(), flow.N()), Q = Matrix::Zero(flow.N(), flow.N());
      for (int k = 0; k < steps; ++k) {
        F = small * F;
        Q = small * Q * small.transpose() + noise;
      }
      flow.run(whole);
      EXPECT_LE((flow.F.get(1) - F).norm(), 1e-10 * std::max(1.0, F.norm()));
      EXPECT_LE(covariance_error(flow.Q.get(1), Q), 1e-10);
    }
}

// However often it has gone round, a season is back after a whole number of periods.
TEST(SumOfParts, ASeasonComesBack) {
  SumFlow flow("season(24, 5)");
  for (const int periods : {1, 7, 1000}) {
    flow.run(24 * periods);
    EXPECT_LE((flow.F.get(0) - Matrix::Identity(10, 10)).norm(), 1e-10 * periods) << periods;
  }
}

TEST(SumOfParts, GradientOfFlowAndNoise) {
  RandomStream random(262, "adjoints of a sum");
  for (const char* text : {"level + memory(3)", "trend + season(7.5, 2)", "damped-trend + level",
                           "damped-velocity + oscillator(20)", "acceleration + memory + memory"}) {
    SCOPED_TRACE(text);
    SumFlow flow(text, {"a", "b"});
    const int N = flow.N();
    test::fill(flow.dt, [&] { return Matrix::Constant(1, 1, random.uniform(0.2, 3)); });
    Lines<double> d_F(N, N), d_Q(N, N);
    test::fill(d_F, [&] { return test::random_matrix(random, N, N); });
    test::fill(d_Q, [&] { return test::random_symmetric(random, N); });
    const Lines<double> d_e(N, 1);
    Lines<double> d_x(N, 1), d_theta(std::max<int>(1, static_cast<int>(flow.theta.size())), 1);
    test::TriangleLines<double> d_L(N);
    flow.map().backward_with_noise(flow.at(), flow.L.data(), d_F.data(), d_e.data(), d_Q.data(),
                                   d_L.data(), d_x.data(), d_theta.data(), flow.scratch.data());
    std::vector<double> gradient(flow.theta.size());
    for (std::size_t i = 0; i < gradient.size(); ++i)
      for (std::size_t b = 0; b < kSumLanes; ++b) gradient[i] += d_theta.span()[i * kSumLanes + b];
    const auto loss = [&] {
      flow.run();
      return test::weighted_sum(d_F.span(), flow.F.span()) +
             test::weighted_sum(d_Q.span(), flow.Q.span());
    };
    test::check_gradient(loss, {{"L", flow.L.span(), d_L.span()}, {"theta", flow.theta, gradient}},
                         263);
  }
}

TEST(SumOfParts, StatesAndValueOfEachChannel) {
  const PartNames channels = {"x", "y", "z"};
  const Expert expert = make_expert(
      test::sum_of_parts("x: season(6, 2) + trend; y: memory + ar(2); z: acceleration", channels),
      channels);
  EXPECT_EQ(expert.parts, (PartNames{"season", "trend", "memory", "ar", "acceleration"}));
  EXPECT_EQ(expert.state_names, (PartNames{"x_season_cos1", "x_season_sin1", "x_season_cos2",
                                           "x_season_sin2", "x_trend", "x_trend_rate", "y_memory",
                                           "y_ar", "y_ar_lag1", "z", "z_rate", "z_acceleration"}));
  EXPECT_EQ(expert.measured_state, (std::vector<int>{-1, -1, 9}));
  EXPECT_EQ(expert.longest_period, 6);
  EXPECT_TRUE(expert.linear);
  EXPECT_EQ(expert.emission, nullptr);
  const Matrix H = Eigen::Map<const Matrix>(expert.H.data(), 12, 3).transpose();
  Matrix expected = Matrix::Zero(3, 12);
  expected(0, 0) = expected(0, 2) = expected(0, 4) = expected(1, 6) = expected(1, 7) =
      expected(2, 9) = 1;
  EXPECT_EQ(H, expected);
  const std::vector<int> part = {0, 0, 0, 0, 1, 1, 2, 3, 3, 4, 4, 4};
  const std::vector<int> derivative = {0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2};
  // The mean of a channel is in the part that wanders, or else in the first that is no season.
  const std::vector<bool> holds_mean = {false, false, false, false, true, true,
                                        true,  false, false, true,  true, true};
  for (std::size_t n = 0; n < 12; ++n) {
    SCOPED_TRACE(expert.state_names[n]);
    EXPECT_EQ(expert.states[n].channel, n < 6 ? 0 : n < 9 ? 1 : 2);
    EXPECT_EQ(expert.states[n].part, part[n]);
    EXPECT_EQ(expert.states[n].derivative, derivative[n]);
    EXPECT_EQ(expert.states[n].holds_mean, holds_mean[n]);
    EXPECT_EQ(expert.states[n].role, n < 4    ? StateRole::Cycle
                                     : n == 8 ? StateRole::Remembered
                                              : StateRole::Value);
  }
  // An autoregression moves from step to step: there is no flow.
  EXPECT_EQ(expert.map->as_flow(), nullptr);
}

// Of a season alone, its first state.
TEST(SumOfParts, ASeasonAloneHoldsTheMean) {
  const Expert expert = make_expert(test::sum_of_parts("season(6, 2)", {"x"}), {"x"});
  EXPECT_EQ(expert.parts, PartNames{"season"});
  EXPECT_TRUE(expert.states[0].holds_mean);
  for (std::size_t n = 1; n < 4; ++n) EXPECT_FALSE(expert.states[n].holds_mean);
}

TEST(SumOfParts, PartsOfEachChannelLieWhereTheirStatesAre) {
  const PartNames channels = {"x", "y", "z"};
  const std::vector<ChannelPart> found = channel_parts(
      test::sum_of_parts("x: season(6, 2) + trend; y: memory + ar(2); z: acceleration", channels),
      3);
  const int channel[] = {0, 0, 1, 1, 2}, begin[] = {0, 4, 6, 7, 9};
  const PartKind kind[] = {PartKind::Season, PartKind::Trend, PartKind::Memory, PartKind::Ar,
                           PartKind::Acceleration};
  ASSERT_EQ(found.size(), 5u);
  for (std::size_t p = 0; p < 5; ++p) {
    EXPECT_EQ(found[p].channel, channel[p]) << p;
    EXPECT_EQ(found[p].begin, begin[p]) << p;
    EXPECT_EQ(found[p].part.kind, kind[p]) << p;
  }
  const std::vector<ChannelPart> named = channel_parts(test::named("constant-velocity"), 2);
  ASSERT_EQ(named.size(), 2u);
  EXPECT_EQ(named[1].part.kind, PartKind::Trend);
  EXPECT_EQ(named[1].channel, 1);
  EXPECT_EQ(named[1].begin, 2);
  for (const char* other : {"lorenz", "none"})
    EXPECT_TRUE(channel_parts(test::named(other), 3).empty()) << other;
}

// Parts that channels share are one part, under one name.
TEST(SumOfParts, PartsOfTheSameNameAreOne) {
  const PartNames channels = {"x", "y"};
  const Expert expert =
      make_expert(test::sum_of_parts("x: trend + memory; y: level + trend", channels), channels);
  EXPECT_EQ(expert.parts, (PartNames{"trend", "memory", "level"}));
  ASSERT_EQ(expert.state_dim(), 6);
  EXPECT_EQ(expert.states[0].part, expert.states[4].part);
  EXPECT_EQ(expert.states[4].channel, 1);
}

// Where each channel has one part, it is measured as that of a prior with a name is.
TEST(SumOfParts, OnePartAChannelIsMeasuredItself) {
  const PartNames channels = {"x", "y"};
  const Expert expert = make_expert(test::sum_of_parts("x: trend; y: level", channels), channels);
  EXPECT_EQ(expert.state_names, (PartNames{"x", "x_rate", "y"}));
  EXPECT_EQ(expert.measured_state, (std::vector<int>{0, 2}));
  EXPECT_EQ(expert.parts, (PartNames{"trend", "level"}));
}

TEST(SumOfParts, OnePartIsThePriorWithItsName) {
  const PartNames channels = {"x", "y"};
  const std::pair<const char*, const char*> same[] = {{"level", "constant-position"},
                                                      {"memory", "mean-reverting"},
                                                      {"trend", "constant-velocity"},
                                                      {"damped-velocity", "damped-velocity"},
                                                      {"oscillator", "oscillator"},
                                                      {"acceleration", "constant-acceleration"},
                                                      {"ar(2)", "ar"}};
  for (const auto& [part, name] : same) {
    SCOPED_TRACE(part);
    const Expert sum = make_expert(test::sum_of_parts(part, channels), channels);
    const Expert named = make_expert(test::named(name), channels);
    EXPECT_EQ(sum.state_names, named.state_names);
    EXPECT_EQ(sum.measured_state, named.measured_state);
    EXPECT_EQ(sum.parts, named.parts);
    EXPECT_EQ(sum.H, named.H);
    EXPECT_EQ(sum.theta(), named.theta());
    ASSERT_EQ(sum.states.size(), named.states.size());
    for (std::size_t n = 0; n < sum.states.size(); ++n) {
      EXPECT_EQ(sum.states[n].role, named.states[n].role);
      EXPECT_EQ(sum.states[n].holds_mean, named.states[n].holds_mean);
      EXPECT_EQ(sum.states[n].part, named.states[n].part);
    }
    const Vector x = Vector::LinSpaced(sum.state_dim(), -1, 2);
    for (const double dt : {0.3, 1.0, 4.0})
      EXPECT_EQ(local_map(sum, {x, dt}).F, local_map(named, {x, dt}).F);
  }
}

TEST(SumOfParts, TimesAreWhereLearningStarts) {
  const Expert expert =
      make_expert(test::sum_of_parts("memory(8) + damped-trend(4) + oscillator(20)", {"x"}), {"x"});
  const PartNames names = {"damping of x_memory", "damping of x_damped-trend_rate",
                           "damping of x_oscillator", "frequency of x_oscillator"};
  ASSERT_EQ(expert.parameters.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(expert.parameters[i].name, names[i]);
    EXPECT_TRUE(expert.parameters[i].learn);
  }
  EXPECT_EQ(expert.parameters[0].value, 1.0 / 8);
  EXPECT_EQ(expert.parameters[1].value, 1.0 / 4);
  EXPECT_EQ(expert.parameters[3].value, 2 * std::numbers::pi / 20);
}

TEST(SumOfParts, TooManyStatesAreRefused) {
  ExpertSpec spec = test::named("sum");
  spec.parts = {{PartKind::Ar, 0, 100}};
  EXPECT_NO_THROW(make_expert(spec, {"x"}));
  EXPECT_THROW(make_expert(spec, {"x", "y"}), ConfigError);
  spec.parts = {};
  EXPECT_THROW(make_expert(spec, {"x"}), ConfigError);
}

}  // namespace
}  // namespace kalmia::prior
