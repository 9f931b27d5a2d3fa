#include "prior/expert.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "support/lines.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::prior {
namespace {

using test::Lines;
using test::Matrix;
using test::Vector;

// F and e of the map at a state, the same in every lane.
Matrix map_at(const Expert& expert, const Vector& x, Vector* offset = nullptr, double dt = 1) {
  const int N = expert.state_dim();
  EXPECT_EQ(expert.map->state_dim(), N);
  Lines<double> state(N, 1), step(1, 1), F(N, N), e(N, 1);
  for (int b = 0; b < Lines<double>::kLanes; ++b) {
    state.set(b, x);
    step.set(b, Matrix::Constant(1, 1, dt));
  }
  Buffer<double> scratch(expert.map->scratch_size());
  expert.map->forward({state.data(), step.data()}, F.data(), e.data(), scratch.data());
  if (offset != nullptr) *offset = e.get(3);
  return F.get(3);
}

TEST(Expert, ConstantPositionStaysWhereItIs) {
  const Expert expert = make_expert("constant-position", 0, 0.1, {"a", "b"});
  EXPECT_EQ(expert.name, "constant-position");
  EXPECT_EQ(expert.state_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(expert.measured_state, (std::vector<int>{0, 1}));
  EXPECT_FALSE(expert.physical);
  Vector e;
  EXPECT_EQ(map_at(expert, Vector{{3, 4}}, &e), Matrix::Identity(2, 2));
  EXPECT_EQ(e, Vector::Zero(2));
  EXPECT_EQ(expert.emission(), (std::vector<double>{1, 0, 0, 1}));
}

TEST(Expert, ConstantVelocityCountsDerivativesPerStep) {
  // The map holds in any unit of time: dt is in the scale of the states, not in F.
  const Expert expert = make_expert("constant-velocity", 0, 0.1, {"north", "east"});
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
  EXPECT_EQ(expert.emission(), (std::vector<double>{1, 0, 0, 0, 0, 0, 1, 0}));
}

TEST(Expert, DampedModelsHaveTheirFactorsOnTheDiagonal) {
  const Expert value = make_expert("mean-reverting", 0, 0.1, {"a", "b"}, {0.9, 0.5});
  EXPECT_EQ(map_at(value, Vector{{3, 4}}), (Matrix{{0.9, 0}, {0, 0.5}}));
  EXPECT_EQ(value.damping, (std::vector<double>{0.9, 0.5}));
  const Expert rate = make_expert("damped-velocity", 0, 0.1, {"a", "b"}, {0.9, 0.5, 0.8, 0.4});
  EXPECT_EQ(map_at(rate, Vector{{1, 2, 3, 4}}),
            (Matrix{{0.9, 1, 0, 0}, {0, 0.5, 0, 0}, {0, 0, 0.8, 1}, {0, 0, 0, 0.4}}));
  EXPECT_EQ(make_expert("damped-velocity", 0, 1, {"a"}).damping.size(), 2u);
  EXPECT_TRUE(make_expert("constant-velocity", 0, 1, {"a"}).damping.empty());
}

TEST(Expert, DampingOutOfRangeIsRefused) {
  EXPECT_THROW(make_expert("mean-reverting", 0, 1, {"a"}, {1.0}), ConfigError);
  EXPECT_THROW(make_expert("mean-reverting", 0, 1, {"a"}, {0.0}), ConfigError);
  EXPECT_THROW(make_expert("mean-reverting", 0, 1, {"a"}, {0.5, 0.5}), ConfigError);
}

TEST(Expert, ConstantAccelerationHasHalfOfItInThePosition) {
  const Expert expert = make_expert("constant-acceleration", 0, 2, {"h"});
  EXPECT_EQ(expert.state_names, (std::vector<std::string>{"h", "h_rate", "h_acceleration"}));
  EXPECT_EQ(map_at(expert, Vector{{1, 2, 3}}), (Matrix{{1, 1, 0.5}, {0, 1, 1}, {0, 0, 1}}));
  EXPECT_EQ(expert.states[2].derivative, 2);
  EXPECT_FALSE(expert.physical);
}

// sum over i <= order of (dt A)^i / i!.
Matrix taylor(const Matrix& A, double dt, int order) {
  Matrix sum = Matrix::Identity(A.rows(), A.cols()), power = sum;
  double factorial = 1;
  for (int i = 1; i <= order; ++i) {
    power = (power * A * dt).eval();
    factorial *= i;
    sum += power / factorial;
  }
  return sum;
}

TEST(Expert, LorenzTakesThePapersOrderUnlessToldOtherwise) {
  const double dt = 0.02;
  const Vector x{{1.5, -2, 20}};
  const Matrix A{{-10, 10, 0}, {28 - x(2), -1, 0}, {x(1), 0, -8.0 / 3}};
  const std::vector<std::string> channels = {"x", "y", "z"};
  const Expert expert = make_expert("lorenz", 0, dt, channels);
  EXPECT_TRUE(expert.physical);
  EXPECT_EQ(expert.state_names, channels);
  EXPECT_EQ(expert.emission(), (std::vector<double>{1, 0, 0, 0, 1, 0, 0, 0, 1}));
  EXPECT_LE((map_at(expert, x, nullptr, dt) - taylor(A, dt, 2)).norm(), 1e-14);
  for (const int order : {1, 2, 3, 5})
    EXPECT_LE(
        (map_at(make_expert("lorenz", order, dt, channels), x, nullptr, dt) - taylor(A, dt, order))
            .norm(),
        1e-14)
        << "order " << order;
  EXPECT_GT((taylor(A, dt, 2) - taylor(A, dt, 1)).norm(), 0.01);
}

TEST(Expert, LinearMotionIsTwoDirectionsInPhysicalUnits) {
  const double dt = 0.5;
  // docs/errata.md, item 2.
  const Matrix A{{0, 1, 0}, {0, -0.06, 1}, {0, -0.17, 0}};
  const std::vector<std::string> channels = {"x", "y"};
  for (const int order : {0, 1, 2, 4}) {
    const Expert expert = make_expert("linear-motion", order, dt, channels);
    EXPECT_TRUE(expert.physical);
    Matrix F = Matrix::Zero(6, 6);
    F.block(0, 0, 3, 3) = F.block(3, 3, 3, 3) = taylor(A, dt, order == 0 ? 1 : order);
    EXPECT_LE((map_at(expert, Vector::Zero(6)) - F).norm(), 1e-15) << "order " << order;
    EXPECT_EQ(expert.measured_state, (std::vector<int>{0, 3}));
    EXPECT_EQ(expert.state_names[5], "y_acceleration");
  }
}

TEST(Expert, EveryListedNameCanBeMade) {
  for (const std::string& name : expert_names()) {
    const std::vector<std::string> three = {"a", "b", "c"}, two = {"a", "b"};
    const Expert expert = make_expert(name, 0, 0.1, name == "lorenz" ? three : two);
    EXPECT_EQ(expert.name, name);
    EXPECT_EQ(expert.state_names.size(), expert.states.size());
  }
  for (const std::string& name : automatic_experts()) {
    EXPECT_TRUE(std::ranges::count(expert_names(), name)) << name;
    for (const auto& channels : {std::vector<std::string>{"a"}, {"a", "b", "c", "d", "e"}})
      EXPECT_EQ(make_expert(name, 0, 0.1, channels).meas_dim(), static_cast<int>(channels.size()));
  }
}

TEST(Expert, AnUnknownNameListsTheKnownOnes) {
  const std::string message =
      message_of<ConfigError>([] { make_expert("constant-speed", 0, 1, {"a"}); });
  EXPECT_NE(message.find("\"constant-speed\""), std::string::npos) << message;
  EXPECT_NE(message.find("auto"), std::string::npos) << message;
  for (const std::string& name : expert_names())
    EXPECT_NE(message.find(name), std::string::npos) << message;
}

TEST(Expert, AWrongNumberOfChannelsIsRefused) {
  const std::string lorenz = message_of<ConfigError>([] { make_expert("lorenz", 0, 1, {"a"}); });
  EXPECT_EQ(lorenz,
            "prior lorenz has 3 measured channels, but the data have 1; name the columns with "
            "measure");
  const std::string motion = message_of<ConfigError>([] {
    make_expert("linear-motion", 0, 1, {"a", "b", "c"});
  });
  EXPECT_NE(motion.find("linear-motion has 2 measured channels, but the data have 3"),
            std::string::npos)
      << motion;
}

TEST(Expert, AnOrderBeyondReasonIsRefused) {
  for (const int order : {-1, 21, 2000000000})
    for (const char* name : {"constant-position", "linear-motion"})
      EXPECT_EQ(message_of<ConfigError>([&] {
                  make_expert(name, order, 1, {"a", "b"});
                }),
                "order = " + std::to_string(order) + ", but it must be in 0..20");
}

}  // namespace
}  // namespace kalmia::prior
