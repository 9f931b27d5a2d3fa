#include <gtest/gtest.h>

#include "infer/refine.hpp"
#include "kalmia/simulate.hpp"
#include "support/expert_spec.hpp"
#include "train/train_cases.hpp"
#include "train/use_settings.hpp"

namespace kalmia::train {
namespace {

StaticResult fitted(const Case& c, double noise) {
  ThreadTeam team(1);
  model::NoiseSpec given{model::NoiseSpec::Kind::Given, {}};
  const auto M = static_cast<std::size_t>(c.data.meas_dim());
  for (std::size_t i = 0; i < M * M; ++i) given.R.push_back(i % (M + 1) == 0 ? noise * noise : 0);
  return fit_static(c.description, c.channels, given, c.scaled, c.everything(), team);
}

Dataset lorenz(int steps) {
  SimulateOptions options;
  options.steps = steps;
  options.seed = 71;
  return simulate("lorenz", options);
}

// The filter's noise covers its linearisation; the trajectory itself has none.
TEST(IteratedNoise, IsLessThanTheFiltersWhereTheMapIsNotLinear) {
  const Case c(lorenz(16000), test::named("lorenz", 0, "rk4", 2));
  ThreadTeam team(2);
  const auto model = fitted(c, 0.5).alone<float>();
  const double share = find_iterated_noise(*model, c.scaled, c.everything(), team);
  EXPECT_LT(share, 0.5);
  EXPECT_GT(share, 1e-4);

  // And the smoothed states are nearer to the truth for it.
  const infer::SeriesView piece = c.scaled.view(c.everything()[0]);
  const auto error = [&](double noise) {
    const auto name = [](int) { return std::string("the data"); };
    infer::FilterPass pass = infer::run_pass(*model, {&piece, 1}, {true, true, true}, team, name);
    infer::smooth_pass(pass, team, name);
    infer::refine_pass(*model, {&piece, 1}, pass, {10, noise}, team, name);
    double sum = 0;
    const std::vector<double>& truth = c.data.series[0].x;
    for (std::size_t i = 0; i < truth.size(); ++i)
      sum += std::pow(pass.moments.smoothed.mean[i] - truth[i], 2);
    return sum / static_cast<double>(truth.size());
  };
  EXPECT_LT(error(share), 0.9 * error(1));
}

TEST(IteratedNoise, IsTheFiltersWhereThereIsNothingToIterate) {
  const Case c(dataset_of({local_level(300, 0.5, 1, 9)}), "constant-velocity");
  ThreadTeam team(1);
  EXPECT_EQ(find_iterated_noise(*fitted(c, 1).alone<float>(), c.scaled, c.everything(), team), 1);
}

}  // namespace
}  // namespace kalmia::train
