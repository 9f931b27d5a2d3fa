#include "infer/future.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "infer/infer_cases.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::infer {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

test::LearnedCase timed_pendulum() {
  test::LearnedCase made = test::pendulum_case();
  made.description.time = TimeKind::Number;
  return made;
}

// Two series of the pendulum, pushed about.
Dataset pushed(int steps) {
  Dataset data;
  data.source = "pushed.csv";
  data.key_name = "id";
  data.time_name = "t";
  data.time_kind = TimeKind::Number;
  data.y_names = {"across", "rate"};
  data.u_names = {"wind", "push"};
  for (const char* key : {"a", "b"}) {
    Series& series = data.series.emplace_back();
    series.key = key;
    series.steps = steps;
    for (int k = 0; k < steps; ++k) {
      series.t.push_back(0.25 * k);
      series.y.insert(series.y.end(), {std::sin(0.3 * k), std::cos(0.3 * k)});
      series.u.insert(series.u.end(), {0.1 * k, *key == 'a' ? std::sin(1.0 * k) : 2.0 * (k % 3)});
    }
  }
  return data;
}

// The data up to row `end`, and the rows from there on.
Dataset rows(const Dataset& data, int begin, int end) {
  Dataset part = data;
  for (Series& series : part.series) {
    series.steps = end - begin;
    const auto cut = [&](std::vector<double>& values, int width) {
      values = {values.begin() + begin * width, values.begin() + end * width};
    };
    cut(series.t, 1);
    cut(series.y, 2);
    cut(series.u, 2);
  }
  return part;
}

Dataset without_measurements(Dataset data, int from) {
  for (Series& series : data.series) std::fill(series.y.begin() + 2 * from, series.y.end(), kNan);
  return data;
}

// A forecast with the inputs of the rows that follow is the filter over those rows, unmeasured.
TEST(Future, ForecastsTakeTheInputsOfTheRowsThatFollow) {
  const Model model = test::public_model(timed_pendulum());
  for (const bool irregular : {false, true}) {
    Dataset all = pushed(30);
    if (irregular)
      for (Series& series : all.series)
        for (std::size_t k = 0; k < 30; ++k) series.t[k] += k % 2 == 0 ? 0 : 0.1;
    const Dataset before = rows(all, 0, 20), after = rows(all, 20, 30);
    const Estimates filtered = model.filter(without_measurements(all, 20), 1);
    const Estimates ahead = model.forecast(before, 10, 1, &after);
    const Estimates held = model.forecast(before, 10, 1);
    for (std::size_t s = 0; s < 2; ++s) {
      EXPECT_EQ(ahead.series[s].t, after.series[s].t);
      test::expect_close(ahead.series[s].mean, std::span(filtered.series[s].mean).subspan(40),
                         1e-11, "mean");
      test::expect_close(ahead.series[s].covariance,
                         std::span(filtered.series[s].covariance).subspan(80), 1e-11, "covariance");
      if (irregular) continue;
      // The last row's inputs act during the first step in any case, then they are held.
      EXPECT_EQ(held.series[s].mean[1], ahead.series[s].mean[1]);
      EXPECT_GT(std::abs(held.series[s].mean[19] - ahead.series[s].mean[19]), 0.01);
    }
  }
}

// Rows at the end without measurements are rows: what follows them is forecast.
TEST(Future, ForecastsBeginAfterTheLastRow) {
  const Model model = test::public_model(timed_pendulum());
  const Dataset all = pushed(30);
  const Dataset before = without_measurements(rows(all, 0, 20), 15), after = rows(all, 20, 30);
  const Estimates ahead = model.forecast(before, 10, 1, &after);
  EXPECT_EQ(ahead.series[0].t[0], 5);
  const Estimates filtered = model.filter(without_measurements(all, 15), 1);
  test::expect_close(ahead.series[0].mean, std::span(filtered.series[0].mean).subspan(40), 1e-11,
                     "mean");
}

TEST(Future, AMissingInputIsTheOneBeforeIt) {
  const Model model = test::public_model(timed_pendulum());
  const Dataset before = rows(pushed(30), 0, 20);
  Dataset none = rows(pushed(30), 20, 30);
  for (Series& series : none.series) std::fill(series.u.begin(), series.u.end(), kNan);
  test::expect_same_bits(model.forecast(before, 10, 1, &none), model.forecast(before, 10, 1));
  // Without times of their own, the rows are as far apart as the data's.
  none.time_kind = TimeKind::None;
  for (Series& series : none.series) series.t.clear();
  test::expect_same_bits(model.forecast(before, 10, 1, &none), model.forecast(before, 10, 1));
}

TEST(Future, SeriesGoByTheirKeys) {
  const Model model = test::public_model(timed_pendulum());
  const Dataset before = rows(pushed(30), 0, 20), after = rows(pushed(30), 20, 30);
  Dataset turned = after;
  std::swap(turned.series[0], turned.series[1]);
  test::expect_same_bits(model.forecast(before, 10, 1, &turned),
                         model.forecast(before, 10, 1, &after));
  // One series and another need no keys.
  Dataset one = test::alone(after, 0);
  one.series[0].key.clear();
  test::expect_same_bits(model.forecast(test::alone(before, 0), 10, 1, &one),
                         model.forecast(test::alone(before, 0), 10, 1, &after));
}

TEST(Future, RefusesRowsThatDoNotFit) {
  const Model model = test::public_model(timed_pendulum());
  const Dataset before = rows(pushed(30), 0, 20);
  const auto refused = [&](const Dataset& after, const Dataset& data) {
    return message_of<DataError>([&] { model.forecast(data, 10, 1, &after); });
  };
  Dataset after = rows(pushed(30), 20, 29);
  after.source = "future.csv";
  EXPECT_EQ(refused(after, before),
            "future.csv: 9 rows of series \"a\", but the horizon is 10 steps; each step that is "
            "forecast needs a row, in the order of time");
  after = rows(pushed(30), 20, 30);
  after.source = "future.csv";
  Dataset other = after;
  other.series[1].key = "c";
  EXPECT_NE(refused(other, before).find("0 rows of series \"b\""), std::string::npos);
  other = after;
  other.u_names.pop_back();
  EXPECT_NE(refused(other, before).find("1 columns of inputs, but the model has 2"),
            std::string::npos);
  other = after;
  for (double& t : other.series[0].t) t -= 1;
  EXPECT_NE(refused(other, before).find("the rows follow the last one of the data"),
            std::string::npos);
  other = after;
  other.series[1].u[5] = std::numeric_limits<double>::infinity();
  EXPECT_NE(refused(other, before).find("step 3, column push: the input is infinite"),
            std::string::npos);
  Dataset timeless = before;
  timeless.time_kind = TimeKind::None;
  for (Series& series : timeless.series) series.t.clear();
  const Model counts = test::public_model(test::pendulum_case());
  const std::string message =
      message_of<DataError>([&] { counts.forecast(timeless, 10, 1, &after); });
  EXPECT_NE(message.find("have no time"), std::string::npos) << message;
}

}  // namespace
}  // namespace kalmia::infer
