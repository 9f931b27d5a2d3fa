// States without a meaning: a signal with more memory than one step.
#include <gtest/gtest.h>

#include <cmath>

#include "kalmia/evaluate.hpp"
#include "kalmia/fit.hpp"
#include "support/scratch_folder.hpp"
#include "train/train_cases.hpp"

namespace kalmia {
namespace {

// x[k] = 2 a cos(w) x[k-1] - a^2 x[k-2] + N(0, 1), a damped oscillation that is pushed about;
// y = x + N(0, 2^2).
Dataset oscillation(int steps, std::uint64_t seed) {
  RandomStream random(seed, "oscillation");
  Dataset data;
  data.y_names = {"y"};
  data.x_names = {"true_y"};
  Series& series = data.series.emplace_back();
  series.steps = steps;
  const double a = 0.98, w = 0.35;
  double last = 0, before = 0;
  for (int k = 0; k < steps; ++k) {
    const double x = 2 * a * std::cos(w) * last - a * a * before + random.normal();
    before = last;
    last = x;
    series.x.push_back(x);
    series.y.push_back(x + 2 * random.normal());
  }
  return data;
}

FitOptions options_with(int latent) {
  FitOptions options;
  options.model.effort = "quick";
  options.model.prior = "none";
  options.model.latent = latent;
  options.model.hidden = 0;
  options.train.threads = 1;
  return options;
}

TEST(FitLatent, PredictsWhatOneStepOfMemoryCannot) {
  const Dataset data = oscillation(1200, 1), test = oscillation(1200, 2);
  const FitResult without = fit(data, options_with(0)), with = fit(data, options_with(2));
  // What is to be had: the filter of the equations themselves.
  FitOptions oscillator = options_with(0);
  oscillator.model.prior = "oscillator";
  const FitResult best = fit(data, oscillator);
  EXPECT_LT(with.summary.static_model.held_out, without.summary.static_model.held_out - 0.2);
  EXPECT_NEAR(with.summary.static_model.held_out, best.summary.static_model.held_out, 0.02);
  const Evaluation a = evaluate(with.model, test), b = evaluate(without.model, test);
  EXPECT_GT(a.log_likelihood_per_value, b.log_likelihood_per_value + 0.2);
  EXPECT_LT(*a.mse_smoothed, 0.6 * *b.mse_smoothed);
}

TEST(FitLatent, TheModelNamesThemAndSurvivesItsFile) {
  const Dataset data = oscillation(600, 3);
  const Model model = fit(data, options_with(1)).model;
  EXPECT_EQ(model.state_names(), (std::vector<std::string>{"y", "latent_1"}));
  EXPECT_EQ(model.emission(std::vector<double>(2)), (std::vector<double>{1, 0}));
  const ScratchFolder folder;
  model.save(folder.file("m.kalmia"));
  EXPECT_EQ(Model::load(folder.file("m.kalmia")).filter(data, 1).series[0].mean,
            model.filter(data, 1).series[0].mean);
}

TEST(FitLatent, OnlyForNone) {
  FitOptions options = options_with(2);
  options.model.prior = "auto";
  EXPECT_THROW(options.validate(), ConfigError);
  options = options_with(65);
  EXPECT_THROW(options.validate(), ConfigError);
}

}  // namespace
}  // namespace kalmia
