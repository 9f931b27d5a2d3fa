// Whatever is measured of the states, evaluate compares it with the right thing: every figure that
// depends on the emission, against a second computation from the estimates.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "base/random.hpp"
#include "kalmia/evaluate.hpp"
#include "kalmia/fit.hpp"

namespace kalmia {
namespace {

constexpr int kSteps = 600;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// What is measured of two states that wander: h by hand, and as the fit reads it.
struct Case {
  std::string name;
  std::vector<Equation> measure;
  std::vector<Parameter> parameters;
  std::string noise;
  std::vector<double> noise_std;
  /// Sets y (2) and H (2 x 2) at x, with the parameters at their true values.
  std::function<void(const double* x, double* y, double* H)> at;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"offset",
                 {{"y1", "p + b"}, {"y2", "q - 2"}},
                 {{"b", 5}},
                 "0.5",
                 {0.5, 0.5},
                 [](const double* x, double* y, double* H) {
                   y[0] = x[0] + 5;
                   y[1] = x[1] - 2;
                   H[0] = H[3] = 1;
                   H[1] = H[2] = 0;
                 }});
  all.push_back({"gain",
                 {{"y1", "c*p"}, {"y2", "p + c*q"}},
                 {{"c", 3}},
                 "0.5",
                 {0.5, 0.5},
                 [](const double* x, double* y, double* H) {
                   y[0] = 3 * x[0];
                   y[1] = x[0] + 3 * x[1];
                   H[0] = H[3] = 3;
                   H[1] = 0;
                   H[2] = 1;
                 }});
  all.push_back({"range and bearing",
                 {{"y1", "sqrt((p + 40)^2 + (q + 30)^2)"}, {"y2", "atan2(q + 30, p + 40)"}},
                 {},
                 "0.5,0.01",
                 {0.5, 0.01},
                 [](const double* x, double* y, double* H) {
                   const double a = x[0] + 40, b = x[1] + 30, r = std::hypot(a, b);
                   y[0] = r;
                   y[1] = std::atan2(b, a);
                   H[0] = a / r;
                   H[1] = b / r;
                   H[2] = -b / (r * r);
                   H[3] = a / (r * r);
                 }});
  all.push_back({"exponential",
                 {{"y1", "exp(p/4)"}, {"y2", "q"}},
                 {},
                 "0.1,0.5",
                 {0.1, 0.5},
                 [](const double* x, double* y, double* H) {
                   y[0] = std::exp(x[0] / 4);
                   y[1] = x[1];
                   H[0] = y[0] / 4;
                   H[1] = H[2] = 0;
                   H[3] = 1;
                 }});
  return all;
}

enum class Of { Channels, States, Nothing };

Dataset data_of(const Case& c, Of truth, std::uint64_t seed = 1) {
  RandomStream random(seed, "emissions");
  Dataset data;
  data.source = c.name;
  data.y_names = {"y1", "y2"};
  if (truth == Of::Channels) data.x_names = {"true_y1", "true_y2"};
  if (truth == Of::States) data.x_names = {"true_p", "true_q"};
  Series& series = data.series.emplace_back();
  series.steps = kSteps;
  double x[2] = {0, 0}, y[2], H[4];
  for (int k = 0; k < kSteps; ++k) {
    for (double& each : x) each = 0.97 * each + 0.4 * random.normal();
    c.at(x, y, H);
    for (std::size_t m = 0; m < 2; ++m)
      series.y.push_back(k % 7 == 3 ? kNan : y[m] + c.noise_std[m] * random.normal());
    if (truth == Of::Channels) series.x.insert(series.x.end(), y, y + 2);
    if (truth == Of::States) series.x.insert(series.x.end(), x, x + 2);
  }
  return data;
}

Model fitted(const Case& c, bool learn = false) {
  FitOptions options;
  options.model.effort = "quick";
  options.model.calibrate = false;
  options.model.prior = "system";
  options.model.noise = c.noise;
  options.model.hidden = 0;
  options.train.threads = 1;
  System& system = options.model.system;
  system.states = {"p", "q"};
  system.next = {{"p", "0.97*p"}, {"q", "0.97*q"}};
  system.measure = c.measure;
  system.parameters = c.parameters;
  for (Parameter& parameter : system.parameters) parameter.learn = learn;
  system.initial = {{"p", 0, 1}, {"q", 0, 1}};
  return fit(data_of(c, Of::Nothing), options).model;
}

struct Means {
  double sum = 0, count = 0;
  void add(double value) {
    if (std::isnan(value)) return;
    sum += value;
    count += 1;
  }
  double value() const { return sum / count; }
};

// The figures that follow from means and covariances of the states, by the formulas of the case.
struct Second {
  Means error, gap, hidden, coverage, nees;

  Second(const Case& c, const Dataset& data, const Dataset& truth, const Estimates& found,
         const Dataset& shown) {
    double y[2], H[4];
    for (std::size_t k = 0; k < kSteps; ++k) {
      const double* x = found.series[0].mean.data() + 2 * k;
      const double* P = found.series[0].covariance.data() + 4 * k;
      c.at(x, y, H);
      double S[4], e[2];
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) {
          S[2 * i + j] = 0;
          for (int a = 0; a < 2; ++a)
            for (int b = 0; b < 2; ++b) S[2 * i + j] += H[2 * i + a] * P[2 * a + b] * H[2 * j + b];
        }
      for (std::size_t m = 0; m < 2; ++m) {
        e[m] = y[m] - truth.series[0].x[2 * k + m];
        const bool measured = !std::isnan(shown.series[0].y[2 * k + m]);
        (measured ? error : gap).add(e[m] * e[m]);
        if (!measured) hidden.add(std::pow(y[m] - data.series[0].y[2 * k + m], 2));
        coverage.add(std::abs(e[m]) <= 1.959963984540054 * std::sqrt(S[3 * m]) ? 1 : 0);
      }
      const double determinant = S[0] * S[3] - S[1] * S[2];
      nees.sum += (S[3] * e[0] * e[0] - 2 * S[1] * e[0] * e[1] + S[0] * e[1] * e[1]) / determinant;
      nees.count += 2;
    }
  }
};

void expect_near(std::optional<double> found, double expected, const std::string& what) {
  ASSERT_TRUE(found) << what;
  EXPECT_NEAR(*found, expected, 1e-9 * (1 + std::abs(expected))) << what;
}

TEST(EvaluateEmission, ChannelsAreWhatIsMeasuredOfTheStates) {
  for (const Case& c : cases()) {
    const Model model = fitted(c);
    const Dataset data = data_of(c, Of::Channels);
    EvaluateOptions options;
    options.threads = 1;
    const Evaluation e = evaluate(model, data, options);
    const Second filtered(c, data, data, model.filter(data, 1), data);
    const Second smoothed(c, data, data, model.smooth(data, 1), data);
    expect_near(e.mse_filtered, filtered.error.value(), c.name);
    expect_near(e.mse_smoothed, smoothed.error.value(), c.name);
    expect_near(e.gap_mse_filtered, filtered.gap.value(), c.name);
    expect_near(e.gap_mse_smoothed, smoothed.gap.value(), c.name);
    expect_near(e.coverage95_filtered, filtered.coverage.value(), c.name);
    expect_near(e.coverage95, smoothed.coverage.value(), c.name);
    expect_near(e.nees_filtered, filtered.nees.value(), c.name);
    expect_near(e.nees, smoothed.nees.value(), c.name);
    // And the model is a good one.
    EXPECT_LT(*e.mse_smoothed, *e.mse_filtered) << c.name;
    EXPECT_LT(*e.mse_filtered, *e.mse_raw) << c.name;
    EXPECT_NEAR(*e.coverage95, 0.95, 0.04) << c.name;
    EXPECT_NEAR(*e.nees, 1, 0.25) << c.name;
  }
}

// The truth of the states says the same of the channels, and more.
TEST(EvaluateEmission, TruthOfTheStatesIsThatOfTheChannelsToo) {
  for (const Case& c : cases()) {
    const Model model = fitted(c);
    EvaluateOptions options;
    options.threads = 1;
    options.horizon = 3;
    const Evaluation channels = evaluate(model, data_of(c, Of::Channels), options);
    const Evaluation states = evaluate(model, data_of(c, Of::States), options);
    expect_near(states.mse_raw, *channels.mse_raw, c.name);
    expect_near(states.mse_smoothed, *channels.mse_smoothed, c.name);
    expect_near(states.gap_mse_filtered, *channels.gap_mse_filtered, c.name);
    ASSERT_TRUE(states.state_mse_smoothed) << c.name;
    const Dataset data = data_of(c, Of::States);
    const Estimates smoothed = model.smooth(data, 1);
    Means error;
    for (std::size_t i = 0; i < 2 * kSteps; ++i)
      error.add(std::pow(smoothed.series[0].mean[i] - data.series[0].x[i], 2));
    expect_near(states.state_mse_smoothed, error.value(), c.name);
    EXPECT_NEAR(*states.coverage95, 0.95, 0.04) << c.name;
  }
}

TEST(EvaluateEmission, HiddenMeasurementsAreComparedWithWhatIsMeasured) {
  for (const Case& c : cases()) {
    const Model model = fitted(c);
    const Dataset data = data_of(c, Of::Channels);
    EvaluateOptions options;
    options.threads = 1;
    options.hide = 0.2;
    const Evaluation e = evaluate(model, data, options);
    // The hidden ones are those of the same seed.
    Dataset blind = data_of(c, Of::Nothing);
    const Evaluation again = evaluate(model, blind, options);
    expect_near(again.hidden_mse_smoothed, *e.hidden_mse_smoothed, c.name);
    EXPECT_LT(*e.hidden_mse_filtered, 4 * *e.gap_mse_filtered + 4 * *e.mse_raw) << c.name;
    EXPECT_LT(*e.hidden_mse_smoothed, *e.hidden_mse_filtered) << c.name;
    EXPECT_GT(*e.hidden_mse_smoothed, 0.5 * *e.mse_raw) << c.name;
  }
}

// The first steps of every series.
Dataset first_rows(const Dataset& data, int steps) {
  Dataset part = data;
  for (Series& series : part.series) {
    const auto width = static_cast<std::size_t>(steps);
    series.steps = steps;
    series.y.resize(2 * width);
    if (!series.x.empty()) series.x.resize(2 * width);
  }
  return part;
}

// One forecast of two steps from each of many series, after 200 steps.
TEST(EvaluateEmission, ForecastsAreOfWhatIsMeasured) {
  constexpr std::size_t kBefore = 200;
  for (const Case& c : cases()) {
    const Model model = fitted(c);
    EvaluateOptions options;
    options.threads = 1;
    options.horizon = 2;
    Dataset data = data_of(c, Of::Channels, 2);
    for (std::uint64_t seed = 3; seed < 80; ++seed) {
      data.series.push_back(data_of(c, Of::Channels, seed).series[0]);
      data.series.back().key = std::to_string(seed);
    }
    data = first_rows(data, kBefore + 2);
    Dataset blind = data;
    for (Series& series : blind.series) series.x.clear();
    blind.x_names.clear();
    const Evaluation e = evaluate(model, data, options);
    const Evaluation against_measurements = evaluate(model, blind, options);
    const Estimates ahead = model.forecast(first_rows(blind, kBefore), 2, 1);
    for (std::size_t h = 0; h < 2; ++h) {
      Means error, noisy;
      double y[2], H[4];
      for (std::size_t s = 0; s < data.series.size(); ++s) {
        c.at(ahead.series[s].mean.data() + 2 * h, y, H);
        for (std::size_t m = 0; m < 2; ++m) {
          const std::size_t at = 2 * (kBefore + h) + m;
          error.add(std::pow(y[m] - data.series[s].x[at], 2));
          noisy.add(std::pow(y[m] - data.series[s].y[at], 2));
        }
      }
      expect_near(e.forecasts[h].mse, error.value(), c.name);
      expect_near(against_measurements.forecasts[h].mse, noisy.value(), c.name);
      // 156 values; against measurements the noise is part of the bars.
      EXPECT_NEAR(*e.forecasts[h].coverage95, 0.95, 0.06) << c.name;
      EXPECT_NEAR(*against_measurements.forecasts[h].coverage95, 0.95, 0.06) << c.name;
    }
  }
}

// What was learned of an emission is part of it.
TEST(EvaluateEmission, LearnedOffsetsAndGainsCount) {
  for (const Case& c : cases()) {
    if (c.parameters.empty()) continue;
    Case start = c;
    start.parameters[0].value *= 0.8;
    const Evaluation e = evaluate(fitted(start, true), data_of(c, Of::Channels));
    EXPECT_LT(*e.mse_smoothed, *e.mse_raw) << c.name;
    EXPECT_NEAR(*e.coverage95, 0.95, 0.06) << c.name;
  }
}

}  // namespace
}  // namespace kalmia
