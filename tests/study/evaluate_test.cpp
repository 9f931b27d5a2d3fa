#include "kalmia/evaluate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "kalmia/fit.hpp"
#include "kalmia/simulate.hpp"
#include "study/evaluation.hpp"

namespace kalmia {
namespace {

// Position and velocity of the Van der Pol oscillator, the position measured: the states of the
// constant-velocity prior.
Dataset oscillator() {
  SimulateOptions options;
  options.steps = 1500;
  options.series = 2;
  return simulate("van-der-pol", options);
}

Model static_model(const Dataset& data) {
  FitOptions options;
  options.model.effort = "quick";
  options.model.calibrate = false;
  options.model.prior = "constant-velocity";
  options.model.noise = "0.3";
  options.model.hidden = 0;
  options.train.threads = 1;
  return fit(data, options).model;
}

// What evaluate is made of.
Evaluation scored(const Model& model, const Dataset& data, const Dataset& shown) {
  const study::Measure measure = study::measure_of(model);
  return study::score(
      data, shown, study::truth_by_name(data, model.state_names(), model.measured_names(), measure),
      model.filter(shown, 1), model.smooth(shown, 1), model.innovations(shown, 1), measure,
      model.noise());
}

TEST(Evaluate, ScoresWhatTheModelEstimates) {
  const Dataset data = oscillator();
  const Model model = static_model(data);
  EvaluateOptions options;
  options.threads = 1;
  const Evaluation e = evaluate(model, data, options);
  EXPECT_EQ(e.steps, 3000u);
  EXPECT_EQ(e.measured_values, 3000u);
  EXPECT_NEAR(*e.mse_raw, 0.09, 0.01);
  EXPECT_LT(*e.mse_filtered, 0.7 * *e.mse_raw);
  EXPECT_LT(*e.mse_smoothed, 0.7 * *e.mse_filtered);
  EXPECT_LT(*e.state_mse_smoothed, *e.state_mse_filtered);
  EXPECT_NEAR(*e.nis, 1, 0.1);
  EXPECT_NEAR(*e.coverage95, 0.95, 0.05);
  EXPECT_LT(std::abs(e.log_likelihood_per_value), 2);
  EXPECT_FALSE(e.gap_mse_filtered);
  EXPECT_FALSE(e.hidden_mse_filtered);
  // Part by part: nothing is exchanged on the way.
  EXPECT_EQ(e.log_likelihood, model.filter(data, 1).log_likelihood);
  EXPECT_EQ(e.to_json(), scored(model, data, data).to_json());
}

TEST(Evaluate, HidesMeasurementsFromTheModel) {
  Dataset data = oscillator();
  const Model model = static_model(data);
  EvaluateOptions options;
  options.threads = 1;
  options.hide = 0.25;
  options.hide_run = 4;
  const Evaluation e = evaluate(model, data, options);
  EXPECT_NEAR(static_cast<double>(e.measured_values), 0.75 * 3000, 2);
  // Hidden values carry noise; a model that had seen them would come close to them.
  EXPECT_NEAR(*e.hidden_mse_filtered, *e.gap_mse_filtered + 0.09, 0.03);
  EXPECT_GT(*e.hidden_mse_smoothed, 0.09);
  EXPECT_LT(*e.hidden_mse_smoothed, *e.hidden_mse_filtered);
  const Dataset shown = study::shown_data(data, options);
  EXPECT_EQ(e.to_json(), scored(model, data, shown).to_json());
  // Without truth all but the hidden values' error goes.
  data.x_names.clear();
  for (Series& series : data.series) series.x.clear();
  const Evaluation blind = evaluate(model, data, options);
  EXPECT_EQ(*blind.hidden_mse_smoothed, *e.hidden_mse_smoothed);
  EXPECT_FALSE(blind.mse_filtered);
  EXPECT_TRUE(blind.coverage95);
}

TEST(Evaluate, RefusesTruthThatFitsNothing) {
  Dataset data = oscillator();
  const Model model = static_model(data);
  data.x_names = {"true_a", "true_b", "true_c"};
  for (Series& series : data.series) series.x.resize(3 * 1500);
  EXPECT_THROW(evaluate(model, data), DataError);
  data = oscillator();
  EvaluateOptions options;
  options.hide = -0.5;
  EXPECT_THROW(evaluate(model, data, options), ConfigError);
}

}  // namespace
}  // namespace kalmia
