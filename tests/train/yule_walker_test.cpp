#include "train/yule_walker.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "support/expert_spec.hpp"

namespace kalmia::train {
namespace {

// Two series of an autoregression about 50; some values are missing.
Dataset regressive_data() {
  RandomStream random(521, "autoregression");
  Dataset data;
  data.y_names = {"other", "load"};
  for (int s = 0; s < 2; ++s) {
    Series& series = data.series.emplace_back();
    series.steps = 20000;
    double first = 0, second = 0;
    for (int k = 0; k < series.steps; ++k) {
      const double x = 1.2 * first - 0.5 * second + random.normal();
      second = std::exchange(first, x);
      series.y.push_back(random.normal());
      series.y.push_back(random.uniform() < 0.1 ? std::nan("") : 50 + x);
    }
  }
  return data;
}

// By hand, from the definition.
TEST(YuleWalker, AutocovariancesOfAShortSeries) {
  Dataset data;
  data.y_names = {"y"};
  Series& series = data.series.emplace_back();
  series.steps = 5;
  series.y = {1, 3, std::nan(""), 5, 7};
  const std::vector<double> c = autocovariances(data, 0, 2);
  ASSERT_EQ(c.size(), 3u);
  EXPECT_DOUBLE_EQ(c[0], (9 + 1 + 1 + 9) / 4.0);
  EXPECT_DOUBLE_EQ(c[1], (3 + 3) / 2.0 * 4 / 5);
  EXPECT_DOUBLE_EQ(c[2], -1.0 * 3 / 5);
}

TEST(YuleWalker, SolvesItsEquations) {
  const std::vector<double> c = {5, 3, 1, -0.5, 0.25};
  for (std::size_t p = 1; p < c.size(); ++p) {
    const std::vector<double> a = yule_walker(std::span(c).first(p + 1));
    ASSERT_EQ(a.size(), p);
    for (std::size_t i = 1; i <= p; ++i) {
      double sum = 0;
      for (std::size_t j = 1; j <= p; ++j) sum += a[j - 1] * c[i > j ? i - j : j - i];
      EXPECT_NEAR(sum, c[i], 1e-13) << p << " " << i;
    }
  }
}

TEST(YuleWalker, EndsWhereTheNumbersAreNoAutocovariances) {
  EXPECT_EQ(yule_walker(std::vector<double>{0, 0, 0}), (std::vector<double>{0, 0}));
  EXPECT_EQ(yule_walker(std::vector<double>{1, 0.5, -3}), (std::vector<double>{0.5, 0}));
}

TEST(YuleWalker, StartsAnAutoregressionThatIsAllOfItsChannel) {
  const Dataset data = regressive_data();
  const auto start = [&](const std::string& text) {
    const prior::ExpertSpec spec = test::sum_of_parts(text, data.y_names);
    return starting_constants(spec, prior::make_expert(spec, data.y_names), data);
  };
  const std::vector<double> theta = start("other: memory(4); load: ar(3)");
  ASSERT_EQ(theta.size(), 4u);
  EXPECT_EQ(theta[0], 0.25);
  EXPECT_NEAR(theta[1], 1.2, 0.02);
  EXPECT_NEAR(theta[2], -0.5, 0.03);
  EXPECT_NEAR(theta[3], 0, 0.02);
  EXPECT_EQ(start("load: level + ar(2); other: level"), (std::vector<double>{0.9, 0}));
  const prior::ExpertSpec named = test::named("ar", 1);
  EXPECT_NEAR(starting_constants(named, prior::make_expert(named, data.y_names), data)[1], 0.8,
              0.01);
}

}  // namespace
}  // namespace kalmia::train
