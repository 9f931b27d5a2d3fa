#include "kalmia/listing.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "infer/infer_cases.hpp"

namespace kalmia {
namespace {

using test::motion_data;
using test::public_model;
using Names = std::vector<std::string>;

Names names_of(const Model& model, bool all_states = false) {
  return Listing(model, {.all_states = all_states}).names();
}

// Of maps with a name the columns are those of the data, whichever map it is.
TEST(Listing, ColumnsDoNotDependOnTheMap) {
  const Model velocity = public_model(test::static_case(2));
  EXPECT_EQ(names_of(velocity), (Names{"north", "east"}));
  EXPECT_EQ(names_of(velocity, true), (Names{"north", "east", "north_rate", "east_rate"}));
  model::ModelDescription d = test::motion_description(2);
  d.prior.kind = prior::PriorKind::ConstantPosition;
  d.units.x_scale = d.units.y_scale;
  d.units.x_offset = d.units.y_offset;
  const Model position = public_model(test::static_case(d));
  EXPECT_EQ(names_of(position), (Names{"north", "east"}));
  EXPECT_EQ(names_of(position, true), (Names{"north", "east"}));
}

TEST(Listing, StatesOfTheUsersEquationsFollow) {
  const Model model = public_model(test::pendulum_case());
  // The state rate is what its column measures: it is listed once.
  EXPECT_EQ(names_of(model), (Names{"across", "rate", "angle"}));
  EXPECT_EQ(names_of(model, true), names_of(model));
  // A state that is something else than the column of its name is told apart.
  test::LearnedCase made = test::pendulum_case();
  made.description.prior.system.measure = {{"across", "length * sin(angle)"}, {"rate", "2*rate"}};
  EXPECT_EQ(names_of(public_model(made)), (Names{"across", "rate", "angle", "rate_state"}));
  // As is one that has the name of a column's deviation.
  made = test::pendulum_case();
  made.description.measured_names = {"angle_std", "rate"};
  made.description.prior.system.measure = {{"angle_std", "length * sin(angle)"}};
  EXPECT_EQ(names_of(public_model(made)), (Names{"angle_std", "rate", "angle_state"}));
}

TEST(Listing, MomentsAreThoseOfTheNamedQuantities) {
  const Model model = public_model(test::pendulum_case());
  const Listing listing(model);
  const double slope = 1.5 * std::cos(0.7);
  std::vector<double> mean(3), C(9);
  listing.at(std::vector{0.7, -1.2}, std::vector{0.04, 0.01, 0.01, 0.09}, mean, C);
  test::expect_close(mean, std::vector{1.5 * std::sin(0.7), -1.2, 0.7}, 1e-15, "mean");
  // across, rate, angle
  test::expect_close(C,
                     std::vector{slope * slope * 0.04, slope * 0.01, slope * 0.04, slope * 0.01,
                                 0.09, 0.01, slope * 0.04, 0.01, 0.04},
                     1e-15, "covariance");
  // Measurements have R on top, as whole_noise has it; the state has none.
  const Listing noisy(model, {.measurements = true});
  std::vector<double> with_noise(9);
  noisy.at(std::vector{0.7, -1.2}, std::vector{0.04, 0.01, 0.01, 0.09}, mean, with_noise);
  const double R[] = {1600, 150, 0, 150, 2000, 0, 0, 0, 0};
  for (std::size_t i = 0; i < 9; ++i) EXPECT_DOUBLE_EQ(with_noise[i], C[i] + R[i]) << i;
}

// After the states, with their covariances to all else.
TEST(Listing, PartsComeLast) {
  const Model model = public_model(test::sum_case("level + season(6, 1)", 1));
  EXPECT_EQ(Listing(model, {.all_states = true, .parts = true}).names(),
            (Names{"north", "north_level", "north_season_cos1", "north_season_sin1", "north:level",
                   "north:season(3)"}));
  const Listing listing(model, {.measurements = true, .parts = true});
  std::vector<double> mean(3), C(9);
  listing.at(std::vector{90.0, 3.0, 7.0}, std::vector{4.0, 1.0, 0.5, 1.0, 9.0, 2.0, 0.5, 2.0, 16.0},
             mean, C);
  test::expect_close(mean, std::vector{93.0, 90.0, 3.0}, 1e-15, "mean");
  // The noise, of variance (40 / 4)^2, is that of measurements alone.
  test::expect_close(C, std::vector{115.0, 5.0, 10.0, 5.0, 4.0, 1.0, 10.0, 1.0, 9.0}, 1e-14,
                     "covariance");
  EXPECT_THROW(Listing(public_model(test::pendulum_case()), {.parts = true}), ConfigError);
  // A column that has the name of a part keeps it.
  test::LearnedCase made = test::sum_case("level + season(6, 1)", 2);
  made.description.measured_names = {"a", "a:level"};
  EXPECT_EQ(Listing(public_model(made), {.parts = true}).names(),
            (Names{"a", "a:level", "a:level_state", "a:season(3)", "a:level:level",
                   "a:level:season(3)"}));
}

TEST(Listing, OfEstimatesStepByStep) {
  const Model model = public_model(test::static_case(2));
  Dataset data = motion_data(2, {40, 0, 7}, 3);
  const Estimates states = model.smooth(data, 1);
  const Estimates listed = Listing(model).of(states);
  EXPECT_EQ(listed.measured_columns, 2u);
  EXPECT_EQ(listed.key_name, states.key_name);
  EXPECT_EQ(listed.log_likelihood, states.log_likelihood);
  test::expect_same_bits(listed, model.measured(states));
  for (std::size_t s = 0; s < 3; ++s)
    for (std::size_t k = 0; k < static_cast<std::size_t>(states.series[s].steps); ++k) {
      EXPECT_EQ(listed.series[s].mean[k * 2 + 1], states.series[s].mean[k * 4 + 2]);
      EXPECT_EQ(listed.series[s].covariance[k * 4 + 3], states.series[s].covariance[k * 16 + 10]);
      EXPECT_EQ(listed.series[s].covariance[k * 4 + 1], states.series[s].covariance[k * 16 + 2]);
    }
  // Trajectories have no covariances.
  const Estimates paths = Listing(model, {.all_states = true}).of(model.sample(data, 3, 1, 1));
  EXPECT_EQ(paths.series.size(), 9u);
  EXPECT_TRUE(paths.series[0].covariance.empty());
  EXPECT_EQ(paths.series[0].mean.size(), 160u);
  // Rows that say how noisy they are.
  data.std_names = {"a", "b"};
  for (Series& series : data.series) series.y_std.assign(series.y.size(), 6);
  const Estimates own = Listing(model, {.measurements = true}).of(states, &data);
  EXPECT_NEAR(own.series[2].covariance[3], listed.series[2].covariance[3] + 36, 1e-9);
  data.series.pop_back();
  EXPECT_THROW(Listing(model, {.measurements = true}).of(states, &data), DataError);
}

}  // namespace
}  // namespace kalmia
