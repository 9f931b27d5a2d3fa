#include "model/learned_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "model/learned_cases.hpp"
#include "support/expert_spec.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::model {
namespace {

using test::LearnedCase;

std::vector<ChannelStatistics> two_channels() {
  ChannelStatistics a, b;
  a.mean = 10;
  a.spread = 4;
  a.step = 0.5;
  b.mean = -2;
  b.spread = 3;
  b.step = 2;
  b.wanders = true;
  return {a, b};
}

TEST(MakeUnits, MotionIsScaledByTheStepAboutTheMean) {
  const prior::Expert expert = prior::make_expert(test::named("constant-acceleration"), {"a", "b"});
  const Units units = make_units(expert, two_channels(), 0.5);
  EXPECT_EQ(units.y_scale, (std::vector<double>{0.5, 2}));
  EXPECT_EQ(units.y_offset, (std::vector<double>{10, -2}));
  // Derivatives are per step in the model, per unit of time for the user.
  EXPECT_EQ(units.x_scale, (std::vector<double>{0.5, 1, 2, 2, 4, 8}));
  EXPECT_EQ(units.x_offset, (std::vector<double>{10, 0, 0, -2, 0, 0}));
}

// One part of a channel holds its mean, with what it remembers; the others lie about zero.
TEST(MakeUnits, OnePartOfASumHoldsTheMean) {
  const prior::Expert expert = prior::make_expert(
      test::sum_of_parts("a: season(6, 1) + level + trend + ar(2); b: memory + ar(2)", {"a", "b"}),
      {"a", "b"});
  const Units units = make_units(expert, two_channels(), 0.5);
  EXPECT_EQ(units.x_offset, (std::vector<double>{0, 0, 10, 0, 0, 0, 0, -2, 0, 0}));
  EXPECT_EQ(units.x_scale, (std::vector<double>{0.5, 0.5, 0.5, 0.5, 1, 0.5, 0.5, 2, 2, 2}));
}

TEST(MakeUnits, PhysicalMapsAreLeftInTheUsersUnits) {
  const prior::Expert expert = prior::make_expert(test::named("linear-motion"), {"a", "b"});
  const Units units = make_units(expert, two_channels(), 0.5);
  EXPECT_EQ(units.y_scale, (std::vector<double>{1, 1}));
  EXPECT_EQ(units.y_offset, (std::vector<double>{0, 0}));
  EXPECT_EQ(units.x_scale, (std::vector<double>(6, 1)));
  EXPECT_EQ(units.x_offset, (std::vector<double>(6, 0)));
}

TEST(MakeFeatures, AreInTheModelsUnits) {
  const prior::Expert expert = prior::make_expert(test::named("constant-velocity"), {"a", "b"});
  const Units units = make_units(expert, two_channels(), 0.5);
  const FeatureSpec features = make_features(expert, two_channels(), {}, units);
  EXPECT_EQ(features.mean, (std::vector<double>{0, 0}));
  EXPECT_EQ(features.spread, (std::vector<double>{8, 1.5}));
  EXPECT_EQ(features.step, (std::vector<double>{2, 2}));
  EXPECT_EQ(features.use_level, (std::vector<int>{1, 0}));
  EXPECT_EQ(features.measured_state, (std::vector<int>{0, 2}));
  EXPECT_EQ(features.channel_of_state, (std::vector<int>{0, 0, 1, 1}));

  const prior::Expert physical = prior::make_expert(test::named("linear-motion"), {"a", "b"});
  const FeatureSpec plain =
      make_features(physical, two_channels(), {}, make_units(physical, two_channels(), 0.5));
  EXPECT_EQ(plain.mean, (std::vector<double>{10, -2}));
  EXPECT_EQ(plain.spread, (std::vector<double>{4, 3}));
  EXPECT_EQ(plain.step, (std::vector<double>{1, 4}));
  EXPECT_EQ(plain.channel_of_state, (std::vector<int>{0, 0, 0, 1, 1, 1}));
}

TEST(LearnedModel, IsMadeOfItsParts) {
  const LearnedCase made = test::static_case(2);
  const auto model = made.make<float>();
  EXPECT_EQ(model->state_dim(), 4);
  EXPECT_EQ(model->meas_dim(), 2);
  EXPECT_EQ(model->architecture().options.input_dim, 5);
  EXPECT_EQ(model->architecture().options.hidden, 1);
  EXPECT_TRUE(model->architecture().options.recursive());
  EXPECT_EQ(model->emission().H(), (std::vector<double>{1, 0, 0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(model->emission().R(), made.R);
  EXPECT_EQ(std::vector<double>(model->parameters().begin(), model->parameters().end()),
            made.parameters);
  // What a description leaves to the expert is filled in.
  EXPECT_EQ(model->description().features.measured_state, (std::vector<int>{0, 2}));
  EXPECT_EQ(model->description().features.channel_of_state, (std::vector<int>{0, 0, 1, 1}));
  const heads::StateModel<float> window = model->window();
  EXPECT_EQ(window.architecture, &model->architecture());
  EXPECT_EQ(window.emission, &model->emission());
  EXPECT_EQ(window.map, model->expert().map.get());
}

TEST(LearnedModel, TakesNewNumbers) {
  const auto model = test::static_case(1).make<double>();
  std::vector<double> other(model->parameters().begin(), model->parameters().end());
  for (double& p : other) p += 1;
  model->set_parameters(other);
  EXPECT_TRUE(std::equal(other.begin(), other.end(), model->parameters().begin()));
  // The packed network holds them too.
  const auto at = static_cast<std::size_t>(model->architecture().initial_e);
  EXPECT_EQ(model->window().network->initial.e[0], other[at]);
  model->set_R({9});
  EXPECT_EQ(model->emission().R(), (std::vector<double>{9}));

  other.pop_back();
  EXPECT_THROW(model->set_parameters(other), ConfigError);
  other.push_back(std::numeric_limits<double>::infinity());
  EXPECT_THROW(model->set_parameters(other), ConfigError);
  EXPECT_THROW(model->set_R({-1}), ConfigError);
}

TEST(MakeFeatures, TakeInWhatDrivesTheSteps) {
  DriveStatistics drive;
  drive.irregular = true;
  drive.u_mean = {3};
  drive.u_spread = {0.5};
  const prior::Expert expert = prior::make_expert(test::named("constant-position"), {"a", "b"});
  const FeatureSpec features =
      make_features(expert, two_channels(), drive, make_units(expert, two_channels(), 0.5));
  EXPECT_TRUE(features.use_dt);
  EXPECT_EQ(features.u_mean, drive.u_mean);
  EXPECT_EQ(features.u_spread, drive.u_spread);
  EXPECT_EQ(features.input_dim(), 5 + 1 + 1);
}

TEST(LearnedModel, ExpertsParametersStartWhereTheySay) {
  LearnedCase made = test::pendulum_case();
  const auto model = made.make<double>();
  EXPECT_EQ(model->theta(), (std::vector<double>{4, 1.5}));
  EXPECT_EQ(model->window().theta, model->theta().data());
  model->set_theta({9, 2});
  EXPECT_EQ(model->theta(), (std::vector<double>{9, 2}));
  EXPECT_EQ(model->window().theta[0], 9);
  EXPECT_THROW(model->set_theta({9}), ConfigError);
  EXPECT_THROW(model->set_theta({9, std::nan("")}), ConfigError);
  EXPECT_EQ(model->theta(), (std::vector<double>{9, 2}));
  made.description.theta = {5, 6};
  EXPECT_EQ(made.make<double>()->theta(), (std::vector<double>{5, 6}));
}

TEST(LearnedModel, AStepIsInTheUnitOfTheMap) {
  EXPECT_EQ(test::pendulum_case().make<float>()->map_dt(), 0.25);  // physical
  EXPECT_EQ(test::static_case(1).make<float>()->map_dt(), 1);      // per step
  EXPECT_EQ(test::pendulum_case().make<float>()->window().dt, 0.25);
}

TEST(LearnedModel, MeasuresAState) {
  const auto linear = test::static_case(2).make<float>();
  const double at[] = {1, 2, 3, 4};
  double y[2];
  linear->measure(at, y);
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 3);
  EXPECT_EQ(linear->emission_at(at), linear->emission().H());
  const auto pendulum = test::pendulum_case().make<float>();
  pendulum->set_theta({4, 2});
  const double x[] = {0.7, -1.2};
  pendulum->measure(x, y);
  EXPECT_NEAR(y[0], 2 * std::sin(0.7), 1e-15);
  EXPECT_EQ(y[1], -1.2);
  const std::vector<double> H = pendulum->emission_at(x);
  ASSERT_EQ(H.size(), 4u);
  EXPECT_NEAR(H[0], 2 * std::cos(0.7), 1e-15);
  EXPECT_EQ(H[1], 0);
  EXPECT_EQ(H[2], 0);
  EXPECT_EQ(H[3], 1);
}

TEST(LearnedModel, RefusesWhatContradictsItself) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [](const std::function<void(LearnedCase&)>& damage) {
    LearnedCase made = test::static_case(2);
    damage(made);
    return message_of<ConfigError>([&] { made.make<float>(); });
  };
  const auto expect_names = [](const std::string& message, const char* what) {
    EXPECT_NE(message.find(what), std::string::npos) << message;
  };
  using C = LearnedCase;
  expect_names(refused([](C& c) { c.description.units.y_scale.pop_back(); }), "y_scale has 1");
  expect_names(refused([](C& c) { c.description.units.y_offset.push_back(0); }), "y_offset has 3");
  expect_names(refused([](C& c) { c.description.units.x_scale.push_back(1); }), "x_scale has 5");
  expect_names(refused([](C& c) { c.description.units.x_offset.pop_back(); }), "x_offset has 3");
  expect_names(refused([](C& c) { c.description.features.mean.pop_back(); }), "features.mean");
  expect_names(refused([](C& c) { c.description.features.spread.pop_back(); }), "features.spread");
  expect_names(refused([](C& c) { c.description.features.step.pop_back(); }), "features.step");
  expect_names(refused([](C& c) { c.description.features.use_level.pop_back(); }), "use_level");
  expect_names(refused([](C& c) { c.description.units.y_scale[1] = 0; }), "y_scale");
  expect_names(refused([&](C& c) { c.description.units.x_scale[3] = infinity; }), "x_scale");
  expect_names(refused([&](C& c) { c.description.features.step[0] = nan; }), "features.step");
  expect_names(refused([](C& c) { c.description.features.spread[0] = -1; }), "features.spread");
  expect_names(refused([&](C& c) { c.description.units.y_offset[0] = nan; }), "y_offset");
  expect_names(refused([&](C& c) { c.description.units.x_offset[0] = infinity; }), "x_offset");
  expect_names(refused([&](C& c) { c.description.features.mean[1] = nan; }), "features.mean");
  expect_names(refused([](C& c) { c.description.dt = 0; }), "dt = 0");
  expect_names(refused([&](C& c) { c.description.dt = infinity; }), "dt = inf");
  expect_names(refused([](C& c) { c.description.hidden = 0; }), "hidden = 0");
  expect_names(refused([](C& c) { c.parameters.pop_back(); }), "the parameter block");
  expect_names(refused([](C& c) { c.description.decoder = {3}; }), "the parameter block");
  expect_names(refused([&](C& c) { c.parameters[7] = nan; }), "not finite");
  expect_names(refused([](C& c) { c.R.pop_back(); }), "R has 3 entries");
  expect_names(refused([](C& c) { c.R[0] = 0; }), "R[0,0]");
  expect_names(refused([](C& c) { c.description.features.u_mean = {1}; }), "features.u_mean");
  expect_names(refused([](C& c) { c.description.input_names = {"u"}; }), "features.u_mean");
  expect_names(refused([](C& c) {
                 c.description.input_names = {"u"};
                 c.description.features.u_mean = {1};
                 c.description.features.u_spread = {0};
               }),
               "features.u_spread");
  expect_names(refused([](C& c) { c.description.theta = {1}; }), "theta has 1");
}

}  // namespace
}  // namespace kalmia::model
