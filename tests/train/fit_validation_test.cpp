// fit with a validation set of its own.
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.hpp"
#include "infer/model_impl.hpp"
#include "kalmia/evaluate.hpp"
#include "kalmia/fit.hpp"
#include "kalmia/simulate.hpp"
#include "model/model_file.hpp"

namespace kalmia {
namespace {

Dataset validation_data(const std::string& system, int steps, std::uint64_t seed) {
  SimulateOptions options;
  options.steps = steps;
  options.seed = seed;
  return simulate(system, options);
}

FitOptions validation_options() {
  FitOptions options;
  options.model.effort = "quick";
  options.model.calibrate = false;
  options.model.prior = "constant-velocity";
  options.model.noise = "0.5";
  options.model.hidden = 8;
  options.model.decoder = {8};
  options.train.updates = 30;
  options.train.threads = 1;
  return options;
}

std::string result_bytes(const FitResult& result) {
  return model::model_file_bytes(result.model.impl());
}

std::string validation_message(const Dataset& data, const Dataset& validation) {
  try {
    (void)fit(data, validation, validation_options());
  } catch (const DataError& e) {
    return e.what();
  }
  return "";
}

TEST(FitValidation, AllOfTheDataAreTrainedOn) {
  const FitResult result = fit(validation_data("lorenz", 700, 1), validation_data("lorenz", 300, 2),
                               validation_options());
  EXPECT_EQ(result.summary.data.training_steps, 700u);
  EXPECT_EQ(result.summary.data.held_out_steps, 300u);
}

TEST(FitValidation, TheLossIsThatOfTheValidationSet) {
  FitOptions options = validation_options();
  options.model.hidden = 0;
  const Dataset data = validation_data("lorenz", 700, 1),
                validation = validation_data("lorenz", 200, 2);
  const FitResult result = fit(data, validation, options);
  // 200 steps are one piece: the filter's own log-likelihood.
  const Estimates filtered = result.model.filter(validation, 1);
  EXPECT_NEAR(result.summary.best_held_out, -filtered.log_likelihood / 600, 1e-6);
}

// What makes 128 steps most likely has too little process noise; validation data tell.
TEST(FitValidation, FewDataAreFittedWithMoreProcessNoiseIfThatPredictsBetter) {
  FitOptions options = validation_options();
  options.model.prior = "linear-motion";
  options.model.hidden = 0;
  const Dataset few = validation_data("linear", 128, 12);
  const auto error = [&](const FitResult& fitted) {
    return *evaluate(fitted.model, validation_data("linear", 4096, 99)).mse_filtered;
  };
  const double chosen = error(fit(few, validation_data("linear", 2048, 13), options));
  EXPECT_LT(chosen, 0.21);
  EXPECT_LT(chosen, 0.9 * error(fit(few, options)));  // of so few nothing is held out
}

TEST(FitValidation, TheStaticModelDoesNotSeeTheValidationSet) {
  FitOptions options = validation_options();
  options.model.hidden = 0;
  const Dataset data = validation_data("lorenz", 700, 1);
  const FitResult a = fit(data, validation_data("lorenz", 300, 2), options);
  const FitResult b = fit(data, validation_data("lorenz", 500, 3), options);
  EXPECT_NE(a.summary.best_held_out, b.summary.best_held_out);
  EXPECT_EQ(a.model.filter(data, 1).series[0].mean, b.model.filter(data, 1).series[0].mean);
}

// x' = -rate x with noise, seen twice a unit of time.
Dataset decay(double rate, int steps, std::uint64_t seed) {
  RandomStream random(seed, "decay");
  Dataset data;
  data.y_names = {"x"};
  data.time_kind = TimeKind::Number;
  Series& series = data.series.emplace_back();
  series.steps = steps;
  double x = 0;
  for (int k = 0; k < steps; ++k) {
    x = x * std::exp(-0.5 * rate) + random.normal();
    series.t.push_back(0.5 * k);
    series.y.push_back(x + 0.1 * random.normal());
  }
  return data;
}

// What is learned from other data than those it is chosen by predicts them worse than what the
// search began with, which is kept.
TEST(FitValidation, NeverEndsWorseThanItBegan) {
  FitOptions options = validation_options();
  options.model.hidden = 0;
  options.model.prior = "system";
  options.model.noise = "0.1";
  options.model.system.states = {"x"};
  options.model.system.parameters = {{"rate", 0.1, true, 0}};
  options.model.system.ode = {{"x", "-rate*x"}};
  const FitResult kept = fit(decay(3, 6000, 1), decay(0.1, 2000, 2), options);
  ASSERT_EQ(kept.summary.static_model.parameters.size(), 1u);
  EXPECT_EQ(kept.summary.static_model.parameters[0].value, 0.1);
  ASSERT_FALSE(kept.summary.notes.empty());
  EXPECT_NE(kept.summary.notes.back().find("stay where they began: held-out loss "),
            std::string::npos)
      << kept.summary.notes.back();
  const FitResult learned = fit(decay(3, 6000, 1), decay(3, 2000, 2), options);
  EXPECT_NEAR(learned.summary.static_model.parameters[0].value, 3, 0.3);
  for (const std::string& note : learned.summary.notes)
    EXPECT_EQ(note.find("began"), std::string::npos) << note;
}

TEST(FitValidation, NetworksMayBeTriedOnLittleData) {
  const Dataset data = validation_data("lorenz", 100, 1);
  EXPECT_EQ(fit(data, validation_options()).summary.networks.stop_reason, StopReason::LittleData);
  const FitResult result = fit(data, validation_data("lorenz", 300, 2), validation_options());
  EXPECT_EQ(result.summary.networks.stop_reason, StopReason::Finished);
}

TEST(FitValidation, TruthIsNotRead) {
  const Dataset data = validation_data("lorenz", 700, 1),
                validation = validation_data("lorenz", 300, 2);
  Dataset noisy = data, noisy_validation = validation;
  for (Dataset* each : {&noisy, &noisy_validation}) {
    each->x_names.clear();
    each->series[0].x.clear();
  }
  EXPECT_EQ(result_bytes(fit(data, validation, validation_options())),
            result_bytes(fit(noisy, noisy_validation, validation_options())));
}

TEST(FitValidation, OtherColumnsAreRefused) {
  const Dataset data = validation_data("lorenz", 700, 1);
  Dataset other = validation_data("lorenz", 300, 2);
  other.y_names[1] = "height";
  other.source = "other.csv";
  EXPECT_EQ(
      validation_message(data, other),
      "validation data other.csv: measured columns are y1, height, y3, but they must be those "
      "of the data, y1, y2, y3");
  other = validation_data("lorenz", 300, 2);
  other.time_kind = TimeKind::None;
  other.series[0].t.clear();
  EXPECT_EQ(
      validation_message(data, other),
      "validation data simulate lorenz: has no time axis, but it must have, as the data, times "
      "that are numbers");
  other.time_kind = TimeKind::Date;
  EXPECT_NE(validation_message(data, other).find("has times that are dates"), std::string::npos);
  other = validation_data("lorenz", 300, 2);
  for (double& t : other.series[0].t) t *= 1000;
  EXPECT_NE(validation_message(data, other).find("lorenz: the time step is "), std::string::npos);
  other = validation_data("lorenz", 6, 2);
  EXPECT_EQ(validation_message(data, other),
            "validation data simulate lorenz: 18 measured values, but at least 20 are needed to "
            "choose a model by");
}

}  // namespace
}  // namespace kalmia
