#include "train/tails.hpp"

#include <gtest/gtest.h>

#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

// A level with noise whose share of outliers is `outliers`, fitted as Gaussian noise of variance 1.
double tails_of(double outliers) {
  RandomStream random(5, "outliers");
  std::vector<double> y = local_level(4000, 0.1, 1, 6);
  for (double& value : y)
    if (random.uniform() < outliers) value += 15 * random.normal();
  const Dataset data = dataset_of({y});
  Case c(data, "constant-position");
  model::NoiseSpec noise;
  noise.kind = model::NoiseSpec::Kind::Given;
  noise.R = {1};
  c.description.tails = 4;
  ThreadTeam team(1);
  const StaticResult fitted =
      fit_static(c.description, c.channels, noise, c.scaled, c.everything(), team);
  return fit_tails(*fitted.alone<float>(), c.scaled, c.everything(), team);
}

TEST(Tails, OutliersMakeThemHeavy) {
  EXPECT_GT(tails_of(0), 20);
  EXPECT_LT(tails_of(0.05), 5);
}

}  // namespace
}  // namespace kalmia::train
