#include "prior/expert.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "prior/prior_cases.hpp"
#include "support/expert_spec.hpp"
#include "support/gradient_check.hpp"
#include "support/lines.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::prior {
namespace {

// F and e of the map at a state, with the parameters' starting values unless told otherwise.
Matrix map_at(const Expert& expert, const Vector& x, Vector* offset = nullptr, double dt = 1,
              const std::vector<double>& theta = {}) {
  const LocalMap map = local_map(
      expert, {x, dt, Vector(0),
               Eigen::Map<const Vector>(theta.data(), static_cast<Eigen::Index>(theta.size()))});
  if (offset != nullptr) *offset = map.e;
  return map.F;
}

TEST(Expert, ConstantPositionStaysWhereItIs) {
  const Expert expert = make_expert(test::named("constant-position"), {"a", "b"});
  EXPECT_EQ(expert.name, "constant-position");
  EXPECT_EQ(expert.state_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(expert.measured_state, (std::vector<int>{0, 1}));
  EXPECT_FALSE(expert.physical);
  EXPECT_TRUE(expert.parameters.empty());
  Vector e;
  EXPECT_EQ(map_at(expert, Vector{{3, 4}}, &e), Matrix::Identity(2, 2));
  EXPECT_EQ(e, Vector::Zero(2));
  EXPECT_EQ(expert.H, (std::vector<double>{1, 0, 0, 1}));
  EXPECT_EQ(expert.emission, nullptr);
}

TEST(Expert, ConstantVelocityCountsDerivativesPerStep) {
  // The map holds in any unit of time: a usual step is 1, and dt is in the scale of the states.
  const Expert expert = make_expert(test::named("constant-velocity"), {"north", "east"});
  EXPECT_EQ(expert.state_names,
            (std::vector<std::string>{"north", "north_rate", "east", "east_rate"}));
  EXPECT_EQ(expert.measured_state, (std::vector<int>{0, 2}));
  EXPECT_EQ(expert.state_dim(), 4);
  EXPECT_EQ(expert.meas_dim(), 2);
  const int channel[] = {0, 0, 1, 1}, derivative[] = {0, 1, 0, 1};
  for (std::size_t n = 0; n < 4; ++n) {
    EXPECT_EQ(expert.states[n].channel, channel[n]);
    EXPECT_EQ(expert.states[n].derivative, derivative[n]);
  }
  EXPECT_EQ(map_at(expert, Vector{{1, 2, 3, 4}}),
            (Matrix{{1, 1, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 1}, {0, 0, 0, 1}}));
  EXPECT_EQ(map_at(expert, Vector{{1, 2, 3, 4}}, nullptr, 2.5),
            (Matrix{{1, 2.5, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 2.5}, {0, 0, 0, 1}}));
  EXPECT_EQ(expert.H, (std::vector<double>{1, 0, 0, 0, 0, 0, 1, 0}));
}

TEST(Expert, DampedModelsHaveTheirFactors) {
  const auto rates = [](const std::vector<double>& factors) {
    std::vector<double> theta;
    for (const double factor : factors) theta.push_back(-std::log(factor));
    return theta;
  };
  const Expert value = make_expert(test::named("mean-reverting"), {"a", "b"});
  EXPECT_LE(
      (map_at(value, Vector{{3, 4}}, nullptr, 1, rates({0.9, 0.5})) - Matrix{{0.9, 0}, {0, 0.5}})
          .norm(),
      1e-14);
  ASSERT_EQ(value.parameters.size(), 2u);
  EXPECT_EQ(value.parameters[0].name, "damping of a");
  EXPECT_EQ(value.parameters[1].name, "damping of b");
  // Of second order: the factors are the eigenvalues.
  const Expert rate = make_expert(test::named("damped-velocity"), {"a"});
  const Matrix F = map_at(rate, Vector{{1, 2}}, nullptr, 1, rates({0.9, 0.5}));
  EXPECT_NEAR(F.trace(), 0.9 + 0.5, 1e-14);
  EXPECT_NEAR(F.determinant(), 0.9 * 0.5, 1e-14);
  const Expert one = make_expert(test::named("damped-velocity"), {"a"});
  ASSERT_EQ(one.parameters.size(), 2u);
  EXPECT_EQ(one.parameters[1].name, "damping of a_rate");
  EXPECT_TRUE(make_expert(test::named("constant-velocity"), {"a"}).parameters.empty());
}

// A factor between 0 and 1 is a rate between 0 and infinity: learning cannot leave the range.
TEST(Expert, DampingIsLearnedWithinItsRange) {
  for (const char* name : {"mean-reverting", "damped-velocity"}) {
    const Expert expert = make_expert(test::named(name), {"a"});
    for (const ExpertParameter& each : expert.parameters) {
      EXPECT_TRUE(each.learn);
      EXPECT_EQ(each.lower, 0);
      EXPECT_EQ(each.upper, std::numeric_limits<double>::infinity());
      EXPECT_GT(each.value, 0);
      EXPECT_EQ(each.prior_std, std::numeric_limits<double>::infinity());
    }
    const Matrix F = map_at(expert, Vector::Ones(expert.state_dim()));
    for (int n = 0; n < expert.state_dim(); ++n) {
      EXPECT_GT(F(n, n), 0.7);
      EXPECT_LT(F(n, n), 1);
    }
  }
}

TEST(Expert, ConstantAccelerationHasHalfOfItInThePosition) {
  const Expert expert = make_expert(test::named("constant-acceleration"), {"h"});
  EXPECT_EQ(expert.state_names, (std::vector<std::string>{"h", "h_rate", "h_acceleration"}));
  EXPECT_EQ(map_at(expert, Vector{{1, 2, 3}}), (Matrix{{1, 1, 0.5}, {0, 1, 1}, {0, 0, 1}}));
  EXPECT_EQ(expert.states[2].derivative, 2);
  EXPECT_FALSE(expert.physical);
}

TEST(Expert, LorenzTakesThePapersOrderUnlessToldOtherwise) {
  const double dt = 0.02;
  const Vector x{{1.5, -2, 20}};
  const Matrix A{{-10, 10, 0}, {28 - x(2), -1, 0}, {x(1), 0, -8.0 / 3}};
  const std::vector<std::string> channels = {"x", "y", "z"};
  const Expert expert = make_expert(test::named("lorenz"), channels);
  EXPECT_TRUE(expert.physical);
  EXPECT_EQ(expert.state_names, channels);
  EXPECT_EQ(expert.H, (std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_LE((map_at(expert, x, nullptr, dt) - taylor_series(A, dt, 2)).norm(), 1e-14);
  for (const int order : {1, 2, 3, 5})
    EXPECT_LE((map_at(make_expert(test::named("lorenz", order), channels), x, nullptr, dt) -
               taylor_series(A, dt, order))
                  .norm(),
              1e-14)
        << "order " << order;
  EXPECT_GT((taylor_series(A, dt, 2) - taylor_series(A, dt, 1)).norm(), 0.01);
}

TEST(Expert, LinearMotionIsTwoDirectionsInPhysicalUnits) {
  const double dt = 0.5;
  // docs/errata.md, item 2.
  const Matrix A{{0, 1, 0}, {0, -0.06, 1}, {0, -0.17, 0}};
  const std::vector<std::string> channels = {"x", "y"};
  for (const int order : {0, 1, 2, 4}) {
    const Expert expert = make_expert(test::named("linear-motion", order), channels);
    EXPECT_TRUE(expert.physical);
    Matrix F = Matrix::Zero(6, 6);
    F.block(0, 0, 3, 3) = F.block(3, 3, 3, 3) = taylor_series(A, dt, order == 0 ? 1 : order);
    EXPECT_LE((map_at(expert, Vector::Zero(6), nullptr, dt) - F).norm(), 1e-15)
        << "order " << order;
    EXPECT_EQ(expert.measured_state, (std::vector<int>{0, 3}));
    EXPECT_EQ(expert.state_names[5], "y_acceleration");
  }
}

// All but a user's equations.
std::vector<std::string> expert_names() {
  std::vector<std::string> names;
  for (const PriorEntry& each : prior_table())
    if (each.kind != PriorKind::System) names.emplace_back(each.name);
  return names;
}

TEST(Expert, EveryListedNameCanBeMade) {
  for (const std::string& name : expert_names()) {
    const std::vector<std::string> three = {"a", "b", "c"}, two = {"a", "b"};
    const Expert expert = make_expert(test::named(name), name == "lorenz" ? three : two);
    EXPECT_EQ(expert.name, name == "sum" ? "trend + season(24, 2)" : name);
    EXPECT_EQ(expert.state_names.size(), expert.states.size());
  }
  for (const PriorKind kind : automatic_priors())
    for (const auto& channels : {std::vector<std::string>{"a"}, {"a", "b", "c", "d", "e"}})
      EXPECT_EQ(make_expert(test::named(prior_name(kind)), channels).meas_dim(),
                static_cast<int>(channels.size()));
}

// Whatever the map is made of, its adjoint is that of its values, in steps of different lengths.
TEST(Expert, EveryMapsAdjointMatchesCentralDifferences) {
  for (const std::string& name : expert_names())
    for (const char* flow : {"", "rk4", "taylor"}) {
      const bool flows = name == "lorenz" || name == "linear-motion";
      if (*flow != 0 && !flows) continue;
      SCOPED_TRACE(name + " " + flow);
      ExpertSpec spec = test::named(name, 0, flow);
      spec.departure = 0.1;
      const std::vector<std::string> three = {"a", "b", "c"}, two = {"a", "b"};
      const Expert expert = make_expert(spec, name == "lorenz" ? three : two);
      const int N = expert.state_dim(), P = expert.map->parameter_count();
      RandomStream random(171, name);
      Lines<double> x(N, 1), dt(1, 1), F(N, N), e(N, 1), d_F(N, N), d_e(N, 1), d_x(N, 1),
          d_theta(std::max(P, 1), 1);
      test::fill(x, [&] { return test::random_matrix(random, N, 1); });
      test::fill(dt, [&] { return Matrix::Constant(1, 1, random.uniform(0.02, 0.4)); });
      test::fill(d_F, [&] { return test::random_matrix(random, N, N); });
      test::fill(d_e, [&] { return test::random_matrix(random, N, 1); });
      std::vector<double> theta = expert.theta(), gradient(theta.size());
      for (double& each : theta) each += 0.2 * random.uniform();
      const kalman::MapPoint at{x.data(), dt.data(), nullptr, theta.data()};
      Buffer<double> scratch(expert.map->scratch_size());
      expert.map->backward(at, d_F.data(), d_e.data(), d_x.data(), d_theta.data(), scratch.data());
      for (std::size_t i = 0; i < gradient.size() * Lines<double>::kLanes; ++i)
        gradient[i / Lines<double>::kLanes] += d_theta.span()[i];
      test::check_gradient(
          [&] {
            expert.map->forward(at, F.data(), e.data(), scratch.data());
            return test::weighted_sum(d_F.span(), F.span()) +
                   test::weighted_sum(d_e.span(), e.span());
          },
          {{"x", x.span(), d_x.span()}, {"theta", theta, gradient}}, 172);
    }
}

TEST(Expert, MoreStatesThanAModelHasAreRefused) {
  const auto columns = [](int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back(std::string("c").append(std::to_string(i)));
    return names;
  };
  const auto refused = [&](const char* name, int count) {
    return message_of<ConfigError>([&] { make_expert(test::named(name), columns(count)); });
  };
  EXPECT_EQ(refused("constant-position", 129),
            "prior constant-position: 129 measured columns, but a model has at most 128; measure "
            "fewer columns, or take a prior of fewer states");
  EXPECT_EQ(refused("constant-velocity", 65),
            "prior constant-velocity: 130 states, but a model has at most 128; measure fewer "
            "columns, or take a prior of fewer states");
  EXPECT_EQ(make_expert(test::named("constant-position"), columns(128)).state_dim(), 128);
}

TEST(Expert, AWrongNumberOfChannelsIsRefused) {
  const std::string lorenz =
      message_of<ConfigError>([] { make_expert(test::named("lorenz"), {"a"}); });
  EXPECT_EQ(lorenz,
            "prior lorenz has 3 measured channels, but the data have 1; name the columns with "
            "measure");
  const std::string motion = message_of<ConfigError>([] {
    make_expert(test::named("linear-motion"), {"a", "b", "c"});
  });
  EXPECT_NE(motion.find("linear-motion has 2 measured channels, but the data have 3"),
            std::string::npos)
      << motion;
}

TEST(Expert, AnOrderBeyondReasonIsRefused) {
  for (const int order : {-1, 21, 2000000000})
    for (const char* name : {"constant-position", "linear-motion"})
      EXPECT_EQ(message_of<ConfigError>([&] {
                  make_expert(test::named(name, order), {"a", "b"});
                }),
                "order = " + std::to_string(order) + ", but it must be in 0..20");
}

}  // namespace
}  // namespace kalmia::prior
