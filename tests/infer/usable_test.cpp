#include "infer/usable.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "infer/infer_cases.hpp"
#include "kalmia/error.hpp"
#include "kalmia/listing.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::infer {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kUnusable = std::numeric_limits<double>::quiet_NaN();
const std::vector<std::string> kNames = {"north", "east"};
const std::string kWhy = ": the model cannot follow these data, or its file was altered";

TEST(Usable, OneStep) {
  const std::vector<double> mean = {1, -2}, P = {4, -3, -3, 0};
  EXPECT_NO_THROW(require_usable("", kNames, mean, P));
  EXPECT_NO_THROW(require_usable("", kNames, mean, {}));
  const auto refused = [&](const std::string& place, std::vector<double> x, std::vector<double> C) {
    return message_of<NumericalError>([&] { require_usable(place, kNames, x, C); });
  };
  EXPECT_EQ(refused("", {1, -2}, {4, 0, 0, -1e-300}),
            "the variance of east is -1e-300, but it must be finite and not negative" + kWhy);
  EXPECT_EQ(
      refused("a.csv, step 3", {1, -2}, {kInfinity, 0, 0, 1}),
      "a.csv, step 3: the variance of north is inf, but it must be finite and not negative" + kWhy);
  EXPECT_EQ(refused("", {1, kUnusable}, {}),
            "the mean of east is nan, but it must be finite" + kWhy);
  EXPECT_NE(refused("", {1, 2}, {1, 0, 0, kUnusable}).find("nan"), std::string::npos);
}

TEST(Usable, NamesTheStepOfASeries) {
  Estimates estimates;
  estimates.state_names = kNames;
  estimates.series.resize(2);
  for (StateEstimates& series : estimates.series) {
    series.steps = 2;
    series.mean = {1, 2, 3, 4};
    series.covariance = {1, 0, 0, 1, 1, 0, 0, 1};
  }
  estimates.series[1].key = "b";
  EXPECT_NO_THROW(require_usable("a.csv", estimates));
  estimates.series[1].covariance[7] = -1;
  EXPECT_EQ(message_of<NumericalError>([&] { require_usable("a.csv", estimates); }),
            "a.csv, series \"b\", step 2: the variance of east is -1, but it must be finite and "
            "not negative" +
                kWhy);
  // Samples have no covariance.
  estimates.series[1].covariance.clear();
  EXPECT_NO_THROW(require_usable("a.csv", estimates));
}

TEST(Usable, InnovationsOfWhatWasMeasured) {
  Dataset data;
  data.y_names = kNames;
  data.series.resize(1);
  data.series[0].steps = 2;
  data.series[0].y = {1, kUnusable, 2, 3};
  std::vector<Innovations> innovations(1);
  innovations[0].residual = {0.5, kUnusable, 0.5, 0.5};
  innovations[0].covariance = {1, 0, 0, kUnusable, 1, 0, 0, 1};
  EXPECT_NO_THROW(require_usable("", kNames, data, innovations));
  innovations[0].covariance[7] = kInfinity;
  EXPECT_EQ(message_of<NumericalError>([&] { require_usable("", kNames, data, innovations); }),
            "the data, step 2: the innovation's variance of east is inf, but it must be finite and "
            "not negative" +
                kWhy);
  innovations[0].residual[2] = kUnusable;
  EXPECT_NE(message_of<NumericalError>([&] {
              require_usable("", kNames, data, innovations);
            }).find("the innovation of north is nan"),
            std::string::npos);
}

// A model whose rate moves by 1e155 a step, of which no double holds the variance.
test::LearnedCase runaway() {
  test::LearnedCase made = test::static_case(1);
  made.description.units.x_scale[1] = 1e150;
  const heads::Architecture architecture = test::architecture_of(made.description);
  made.parameters[static_cast<std::size_t>(architecture.decoder.bias.back() + architecture.L_row() +
                                           lanes::triangle_index(1, 1))] = 1e5;
  return made;
}

TEST(Usable, NothingElseLeavesAModel) {
  const Model model = test::public_model(runaway());
  const Dataset data = test::motion_data(1, {20}, 3);
  const auto expect_refused = [](const auto& run, const char* place) {
    const std::string message = message_of<NumericalError>(run);
    EXPECT_NE(message.find(place), std::string::npos) << message;
    EXPECT_NE(message.find("the variance of north_rate is inf, but it must be finite"),
              std::string::npos)
        << message;
  };
  expect_refused([&] { model.filter(data); }, "walk.csv, series \"r1\", step ");
  expect_refused([&] { model.smooth(data); }, "walk.csv, series \"r1\", step ");
  expect_refused([&] { model.analyse(data); }, "walk.csv, series \"r1\", step ");
  expect_refused([&] { model.forecast(data, 5); }, "walk.csv, forecast, series \"r1\", step 1");
  Stream stream = model.stream();
  Stream::State state = stream.start();
  const double y[] = {100};
  expect_refused(
      [&] {
        for (int k = 0; k < 5; ++k) stream.step(state, y);
      },
      "");
}

// What is listed can break down where the state does not.
TEST(Usable, NothingElseIsListed) {
  test::LearnedCase made = test::pendulum_case();
  made.description.prior.system.measure[0].text = "length * log(angle)";
  const Model model = test::public_model(made);
  const Listing listing(model, {});
  const std::vector<double> x = {-0.5, 1}, P = {0.04, 0, 0, 0.09};
  std::vector<double> mean(listing.names().size()), covariance(mean.size() * mean.size());
  EXPECT_NE(message_of<NumericalError>([&] { listing.at(x, P, mean, covariance); }).find("mean of"),
            std::string::npos);
  Estimates estimates;
  estimates.state_names = model.state_names();
  estimates.series.resize(1);
  estimates.series[0].steps = 2;
  estimates.series[0].mean = {0.5, 1, -0.5, 1};
  estimates.series[0].covariance = {0.04, 0, 0, 0.09, 0.04, 0, 0, 0.09};
  EXPECT_EQ(
      message_of<NumericalError>([&] { listing.of(estimates, nullptr); }).rfind("step 2: ", 0), 0u);
  EXPECT_NE(message_of<NumericalError>([&] { model.measured(estimates); }).find("step 2"),
            std::string::npos);
}

}  // namespace
}  // namespace kalmia::infer
