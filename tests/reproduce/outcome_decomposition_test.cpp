#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "reproduce/outcome.hpp"

namespace kalmia::reproduction {
namespace {

// One channel of two states, measured with noise of variance 0.25; predictions are off by 0.3.
struct Case {
  Dataset data;
  std::vector<Innovations> innovations;

  explicit Case(int steps) {
    data.y_names = {"y"};
    data.x_names = {"true_y", "true_v"};
    Series series;
    series.steps = steps;
    Innovations found;
    RandomStream random(1, "decomposition");
    for (int k = 0; k < steps; ++k) {
      const double x = 3 + 0.1 * k, prediction = x + (k % 2 == 0 ? 0.3 : -0.3);
      series.x.insert(series.x.end(), {x, 7.0});
      series.y.push_back(x + 0.5 * random.normal());
      found.residual.push_back(series.y.back() - prediction);
    }
    data.series = {series};
    innovations = {found};
  }
};

Decomposition decomposed(const Case& c) {
  const study::Measure measure = study::linear_measure(std::vector{1.0, 0.0}, 1);
  return decompose(c.data, study::truth_in_order(c.data, measure), c.innovations,
                   std::vector{0.25});
}

TEST(Decomposition, TheReducibleErrorEstimatesTheTrueOne) {
  const Case c(200000);
  const Decomposition d = decomposed(c);
  EXPECT_NEAR(d.prediction, 0.09, 1e-12);
  EXPECT_LT(std::abs(d.reducible - d.prediction), 4 * d.standard_error);
  // n^2 - 0.25 + 2 n 0.3 with n of variance 0.25: its variance is 2 0.25^2 + 4 0.09 0.25.
  EXPECT_NEAR(d.standard_error, std::sqrt((0.125 + 0.09) / 200000), 2e-5);
  EXPECT_NEAR(d.self_supervised - d.reducible, 0.25, 1e-12);
}

TEST(Decomposition, TheStartDoesNotCount) {
  Case c(200);
  const auto parts = [&c] { return decomposed(c).prediction; };
  const double before = parts();
  for (int k = 0; k < kUnscored; ++k) c.innovations[0].residual[static_cast<std::size_t>(k)] += 100;
  EXPECT_EQ(parts(), before);
  c.innovations[0].residual[kUnscored] += 100;
  EXPECT_GT(parts(), before + 10);
}

TEST(Decomposition, TruthOfTheChannelsAloneWillDo) {
  Case c(500);
  const double before = decomposed(c).prediction;
  c.data.x_names = {"true_y"};
  std::vector<double>& x = c.data.series[0].x;
  for (std::size_t k = 0; k < 500; ++k) x[k] = x[2 * k];
  x.resize(500);
  EXPECT_EQ(decomposed(c).prediction, before);
}

}  // namespace
}  // namespace kalmia::reproduction
