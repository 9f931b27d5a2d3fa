#include "model/description_checks.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "kalmia/error.hpp"
#include "model/learned_cases.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::model {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

using Damage = std::function<void(ModelDescription&)>;

// With all that is optional.
ModelDescription full() {
  ModelDescription d = test::motion_description(2);
  d.noise_std = {0.5, 2};
  d.climate = {{0, 1, 0, 1},
               {kInfinity, 2, 3, 4},
               std::vector<double>(16, 0.1),
               {1, 0, 0, 0, 0, 2, 0.5, 0, 0, 0.5, 2, 0, 0, 0, 0, 0},
               {kInfinity, 3}};
  return d;
}

void check(const ModelDescription& d) {
  check_description(d);
  check_description(d, expert_of(d));
}

std::string refused(const Damage& damage) {
  ModelDescription d = full();
  damage(d);
  return message_of<ConfigError>([&] { check(d); });
}

TEST(DescriptionChecks, AGoodOneIsTaken) {
  EXPECT_NO_THROW(check(full()));
  EXPECT_NO_THROW(check(test::motion_description(1)));
}

TEST(DescriptionChecks, MessagesNameTheFieldTheValueAndTheRule) {
  using D = ModelDescription;
  EXPECT_EQ(refused([](D& d) { d.units.x_scale[2] = -3; }),
            "model: units.x_scale[2] = -3, but it must be a finite number above 0, in "
            "1e-150..1e150");
  EXPECT_EQ(refused([](D& d) { d.units.y_offset[0] = -1e200; }),
            "model: units.y_offset[0] = -1e+200, but it must be a finite number within +-1e150");
  EXPECT_EQ(refused([](D& d) { d.features.use_level[1] = 2; }),
            "model: features.use_level[1] = 2, but it must be 0 or 1");
}

TEST(DescriptionChecks, OfAnEnsembleAsAWhole) {
  Ensemble good;
  good.members.push_back(test::static_case(2).make<float>());
  EXPECT_NO_THROW(check_ensemble(good));
  good.calibration = Calibration{0.5, 2, 1};
  good.data.noise_columns = {"s"};
  EXPECT_NO_THROW(check_ensemble(good));
  const auto refused_whole = [&](const std::function<void(Ensemble&)>& damage) {
    Ensemble e = good;
    damage(e);
    return message_of<ConfigError>([&] { check_ensemble(e); });
  };
  good.calibration->filter.steps = {1, 4};
  good.calibration->filter.factors = {{1, 2}, {3, 0.5}};
  EXPECT_NO_THROW(check_ensemble(good));
  EXPECT_EQ(refused_whole([](Ensemble& e) { e.calibration->linearized.factors[0][0] = 0; }),
            "model: calibration.linearized.factors[0][0] = 0, but it must be above 0, in "
            "1e-12..1e12");
  EXPECT_EQ(refused_whole([](Ensemble& e) { e.calibration->filter.factors.push_back({1, 1}); }),
            "model: calibration.filter.factors has 3 numbers, but 2 are needed");
  EXPECT_EQ(refused_whole([](Ensemble& e) { e.calibration->filter.factors.clear(); }),
            "model: calibration.filter.factors has 0 numbers, but 2 are needed");
  EXPECT_EQ(refused_whole([](Ensemble& e) { e.calibration->filter.factors[1] = {1}; }),
            "model: calibration.filter.factors[1] has 1 numbers, but 2 are needed");
  EXPECT_EQ(refused_whole([](Ensemble& e) { e.calibration->filter.steps[1] = 1; }),
            "model: calibration.filter.steps[1] = 1, but it must be at least 0 and above the one "
            "before it");
  EXPECT_EQ(refused_whole([](Ensemble& e) { e.calibration->trained.steps.clear(); }),
            "model: calibration.trained.steps has no entries");
  EXPECT_EQ(refused_whole([](Ensemble& e) {
              e.data.noise_columns = {"a", "b", "c"};
            }),
            "model: data.noise_columns has 3 names, but it must have none, one or one for each of "
            "2 measured columns");
  for (const double bad : {0.0, -1.0, 1e-200, 1e200, kInfinity, kNan}) {
    EXPECT_NE(
        refused_whole([=](Ensemble& e) {
          e.calibration->filter.factors[1][0] = bad;
        }).find("calibration.filter.factors[1][0]"),
        std::string::npos);
    EXPECT_NE(refused_whole([=](Ensemble& e) {
                e.calibration->trained.unmeasured = bad;
              }).find("calibration.trained.unmeasured"),
              std::string::npos);
  }
}

TEST(DescriptionChecks, ValuesOutOfRange) {
  using D = ModelDescription;
  const auto expect = [](const Damage& damage, const char* field) {
    const std::string message = refused(damage);
    EXPECT_NE(message.find(field), std::string::npos) << message;
  };
  for (const double bad : {0.0, -1.0, 1e-200, 1e200, kInfinity, kNan}) {
    expect([=](D& d) { d.dt = bad; }, "dt = ");
    expect([=](D& d) { d.units.y_scale[1] = bad; }, "units.y_scale[1]");
    expect([=](D& d) { d.features.spread[0] = bad; }, "features.spread[0]");
    expect([=](D& d) { d.features.step[0] = bad; }, "features.step[0]");
    expect([=](D& d) { d.noise_std[1] = bad; }, "noise_std[1]");
  }
  for (const double bad : {1e200, -kInfinity, kNan}) {
    expect([=](D& d) { d.units.x_offset[3] = bad; }, "units.x_offset[3]");
    expect([=](D& d) { d.features.mean[1] = bad; }, "features.mean[1]");
    expect([=](D& d) { d.climate.mean[1] = bad; }, "climate.mean[1]");
    expect([=](D& d) { d.climate.A[5] = bad; }, "climate.A");
    expect([=](D& d) { d.climate.Q[5] = bad; }, "climate.Q");
  }
  for (const double bad : {0.0, -1.0, 1e200, kNan}) {
    expect([=](D& d) { d.climate.spread[1] = bad; }, "climate.spread[1]");
    expect([=](D& d) { d.climate.measured_spread[1] = bad; }, "climate.measured_spread[1]");
  }
  for (const double bad : {-1.0, 0.5, 1e100, kInfinity, kNan})
    expect([=](D& d) { d.tails = bad; }, "tails");
  for (const double bad : {-0.1, 1.1, kNan}) expect([=](D& d) { d.gap_trust = bad; }, "gap_trust");
  for (const double bad : {0.0, 1.1, kNan})
    expect([=](D& d) { d.iterated_noise = bad; }, "iterated_noise");
}

TEST(DescriptionChecks, TheNoiseOfTheClimateIsACovariance) {
  EXPECT_NE(refused([](ModelDescription& d) { d.climate.Q[5] = -2; }).find("climate.Q[1,1] = -2"),
            std::string::npos);
  EXPECT_NE(refused([](ModelDescription& d) { d.climate.Q[6] = 1; }).find("must be symmetric"),
            std::string::npos);
  EXPECT_NE(refused([](ModelDescription& d) {
              d.climate.Q[6] = d.climate.Q[9] = 5;
            }).find("climate.Q has the eigenvalue -3"),
            std::string::npos);
}

TEST(DescriptionChecks, Sizes) {
  using D = ModelDescription;
  const auto expect = [](const Damage& damage, const char* field) {
    const std::string message = refused(damage);
    EXPECT_NE(message.find(field), std::string::npos) << message;
  };
  expect([](D& d) { d.units.x_offset.push_back(0); }, "units.x_offset has 5");
  expect([](D& d) { d.noise_std.push_back(1); }, "noise_std has 3");
  expect([](D& d) { d.climate.A.pop_back(); }, "climate.A has 15");
  expect([](D& d) { d.climate.measured_spread.pop_back(); }, "climate.measured_spread has 1");
  expect([](D& d) { d.theta = {1}; }, "theta has 1");
}

// A learned value may be at a bound, but not beyond it.
TEST(DescriptionChecks, LearnedParametersAreWithinTheirBounds) {
  ModelDescription d = test::motion_description(1);
  d.prior.kind = prior::PriorKind::DampedVelocity;
  const prior::Expert expert = expert_of(d);
  ASSERT_FALSE(expert.parameters.empty());
  const prior::ExpertParameter& parameter = expert.parameters[0];
  ASSERT_TRUE(parameter.learn);
  d.theta = expert.theta();
  EXPECT_NO_THROW(check_description(d, expert));
  for (const double bound : {parameter.lower, parameter.upper}) {
    if (!std::isfinite(bound)) continue;
    d.theta[0] = bound;
    EXPECT_NO_THROW(check_description(d, expert)) << bound;
    d.theta[0] = bound == parameter.lower ? bound - 1 : bound + 1;
    const std::string message = message_of<ConfigError>([&] { check_description(d, expert); });
    EXPECT_NE(message.find("theta[0] (" + parameter.name + ")"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace kalmia::model
