#include "train/hidden_values.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "infer/infer_cases.hpp"
#include "kalman/student.hpp"
#include "support/ensembles.hpp"

namespace kalmia::train {
namespace {

ShownData shown_of(Dataset data, int first) {
  ShownData shown{std::move(data), {}};
  for (std::size_t s = 0; s < shown.data.series.size(); ++s)
    shown.first.push_back(std::min(first, shown.data.series[s].steps));
  return shown;
}

const MethodPredictions& method(const std::vector<MethodPredictions>& all,
                                const std::string& what) {
  return *std::ranges::find(all, what, &MethodPredictions::what);
}

// What the static model of a constant velocity says of all values but some, by dense algebra: each
// prediction is found among those of the smoother with its own error and variance.
TEST(HiddenValues, AStaticSmootherLeavesEachOut) {
  const Model model = test::public_model(test::static_case(1));
  const Dataset data = test::motion_data(1, {40}, 3);
  const ShownData shown = shown_of(data, 5);
  const MethodPredictions found = method(predict_hidden(model, shown, {{2}, 1}, 1), "linearized");
  const double unit = 0.25;  // of north
  std::size_t at = 0;
  for (int k = 5; k < 40; ++k) {
    const double y = data.series[0].y[static_cast<std::size_t>(k)];
    if (std::isnan(y)) continue;
    Dataset without = data;
    without.series[0].y[static_cast<std::size_t>(k)] = std::nan("");
    const Estimates states = model.smooth(without, 1);
    const double e = (y - states.series[0].mean[static_cast<std::size_t>(2 * k)]) / unit;
    const double W = states.series[0].covariance[static_cast<std::size_t>(4 * k)] / (unit * unit);
    const PredictedValue& value = found.values.values[at++];
    EXPECT_NEAR(value.square, e * e, 1e-7 * (1 + e * e)) << k;
    EXPECT_NEAR(value.state, W, 1e-8 * W) << k;
    EXPECT_NEAR(value.rest, test::static_case(1).R[0], 1e-9);
  }
  EXPECT_GT(at, 20u);
}

// The filter's are its innovations, and in a hidden run what a forecast says.
TEST(HiddenValues, TheFilterForecasts) {
  const Model model = test::public_model(test::static_case(2));
  const Dataset data = test::motion_data(2, {300}, 4, 0);
  const MethodPredictions found =
      method(predict_hidden(model, shown_of(data, 20), {{6}, 2}, 1), "filter");
  EXPECT_EQ(found.values.distances_of_one, 1u);
  std::map<double, int> at_distance;
  for (const double each : found.values.distances) ++at_distance[each];
  EXPECT_EQ(at_distance.size(), 6u);  // 1 to 6 steps
  EXPECT_GT(at_distance[1], 560);
  // Forecasts from each step, by distance: the same variances, which the model's own settle to.
  Dataset begun = data;
  begun.series[0].steps = 200;
  begun.series[0].y.resize(400);
  begun.series[0].t.resize(200);
  const Estimates ahead = model.forecast(begun, 6, 1);
  for (std::size_t i = 0; i < found.values.values.size(); ++i) {
    const PredictedValue& value = found.values.values[i];
    const auto h = static_cast<std::size_t>(found.values.distances[i] - 1);
    const auto m = static_cast<std::size_t>(value.channel);
    const double unit = m == 0 ? 0.25 : 4;
    const double W = ahead.series[0].covariance[h * 16 + 10 * m] / (unit * unit);
    EXPECT_NEAR(value.state, W, 0.1 * W) << found.values.distances[i];
  }
}

// Networks read a value that their state is smoothed with, so that it is hidden from them.
TEST(HiddenValues, NetworksAreShownNothingOfWhatTheyPredict) {
  const Model model = test::public_model(test::network_case(1, 6));
  Dataset data = test::motion_data(1, {120}, 7, 0);
  const auto singles = [&] {
    const MethodPredictions found =
        method(predict_hidden(model, shown_of(data, 0), {{3}, 1}, 1), "linearized");
    double sum = 0;
    for (const PredictedValue& each : found.values.values) sum += each.state;
    return std::pair(found.values.values.size(), sum);
  };
  const auto [count, before] = singles();
  EXPECT_GE(count, 120u);  // each value once alone, and some in runs
  const Dataset hidden = data;
  const MethodPredictions found =
      method(predict_hidden(model, shown_of(data, 0), {{3}, 1}, 1), "linearized");
  // A value that is moved moves its own error alone, in the pass that hides it.
  const double unit = 0.25;
  data.series[0].y[64] += 1000 * unit;
  const MethodPredictions moved =
      method(predict_hidden(model, shown_of(data, 0), {{3}, 1}, 1), "linearized");
  bool seen = false;
  for (std::size_t i = 0; i < moved.values.values.size(); ++i) {
    const double by = std::sqrt(moved.values.values[i].square);
    const double was = std::sqrt(found.values.values[i].square);
    seen = seen || std::min(std::abs(by - was - 1000), std::abs(by + was - 1000)) < 1e-2;
  }
  EXPECT_TRUE(seen);
}

TEST(HiddenValues, TheTailsOfStudentHaveTheirInterval) {
  // 12.706, 3.182 and 2.228 are the quantiles of 97.5 % for 1, 3 and 10 degrees of freedom.
  EXPECT_NEAR(std::sqrt(student_interval_variance(3)) * 1.959964, 3.182, 2e-3);
  EXPECT_NEAR(std::sqrt(student_interval_variance(10)) * 1.959964, 2.228, 2e-3);
  EXPECT_NEAR(std::sqrt(student_interval_variance(1)) * 1.959964, 12.706, 0.02);
}

}  // namespace
}  // namespace kalmia::train
