#include "kalmia/fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "infer/model_impl.hpp"
#include "kalmia/evaluate.hpp"
#include "kalmia/simulate.hpp"
#include "model/model_file.hpp"
#include "support/scratch_folder.hpp"
#include "train/train_cases.hpp"

namespace kalmia {
namespace {

using train::dataset_of;
using train::kMissing;
using train::local_level;

FitOptions small_options() {
  FitOptions options;
  options.model.effort = "quick";
  options.model.hidden = 16;
  options.model.decoder = {16};
  options.train.updates = 60;
  options.train.batch = 32;
  options.train.threads = 1;
  return options;
}

std::string bytes_of(const Model& model) { return model::model_file_bytes(model.impl()); }

Dataset simulated(const std::string& system, int steps, int series = 1, std::uint64_t seed = 1) {
  SimulateOptions options;
  options.steps = steps;
  options.series = series;
  options.seed = seed;
  return simulate(system, options);
}

// Only the measured components of the truth: the first state of each channel.
Dataset measured_truth(Dataset data, const std::vector<std::size_t>& states) {
  const std::size_t all = data.x_names.size();
  std::vector<std::string> names;
  for (const std::size_t i : states) names.push_back(data.x_names[i]);
  for (Series& series : data.series) {
    std::vector<double> x;
    for (std::size_t k = 0; k < static_cast<std::size_t>(series.steps); ++k)
      for (const std::size_t i : states) x.push_back(series.x[k * all + i]);
    series.x = x;
  }
  data.x_names = names;
  return data;
}

TEST(Fit, ARecurrentFilterLearnsWhatTheStaticOneDoesNotKnow) {
  const Dataset data = simulated("van-der-pol", 3000);
  FitOptions options = small_options();
  options.model.prior = "constant-position";
  options.model.filter = "recurrent";
  options.train.updates = 300;
  options.train.learning_rate = 1e-2;
  const FitResult result = fit(data, options);
  EXPECT_TRUE(result.summary.networks.kept);
  EXPECT_LT(result.summary.best_held_out, result.summary.static_model.held_out - 0.05);
  EXPECT_FALSE(result.model.impl().first().description().recursive());
  // Through its file it filters alike.
  const ScratchFolder folder;
  result.model.save(folder.file("m.kalmia"));
  EXPECT_EQ(Model::load(folder.file("m.kalmia")).filter(data).series[0].mean,
            result.model.filter(data).series[0].mean);
}

TEST(Fit, ARecurrentFilterThatIsNotBetterLeavesTheStaticModel) {
  const Dataset data = dataset_of({local_level(1500, 1, 1, 3)});
  FitOptions options = small_options();
  options.model.prior = "constant-velocity";
  options.model.filter = "recurrent";
  options.train.updates = 3;
  const FitResult result = fit(data, options);
  EXPECT_FALSE(result.summary.networks.kept);
  EXPECT_EQ(result.summary.best_held_out, result.summary.static_model.held_out);
  EXPECT_TRUE(result.model.impl().first().description().recursive());
  // It could not have told the rate.
  ASSERT_FALSE(result.summary.notes.empty());
  EXPECT_EQ(result.summary.notes.back(),
            "a recurrent filter estimates what is measured alone, not y_rate");
}

TEST(Fit, LorenzWithItsMap) {
  const Dataset data = simulated("lorenz", 2000);
  FitOptions options = small_options();
  options.model.prior = "lorenz";
  options.model.noise = "0.5";
  options.train.updates = 300;
  const FitResult learned = fit(data, options);
  EXPECT_TRUE(learned.summary.networks.kept);
  EXPECT_LT(learned.summary.best_held_out, learned.summary.static_model.held_out - 0.1);
  EXPECT_GT(learned.summary.best_held_out, learned.summary.data.noise_bound);
  EXPECT_EQ(learned.summary.data.training_steps, 1700u);
  EXPECT_EQ(learned.summary.data.held_out_steps, 300u);
  options.model.hidden = 0;
  const FitResult fixed = fit(data, options);
  EXPECT_EQ(fixed.summary.networks.stop_reason, StopReason::NoNetworks);
  EXPECT_EQ(fixed.summary.static_model.held_out, learned.summary.static_model.held_out);
  // Other data of the same system.
  const Dataset test = simulated("lorenz", 2000, 1, 2);
  const Evaluation with = evaluate(learned.model, test), without = evaluate(fixed.model, test);
  EXPECT_LT(*with.mse_smoothed, 0.8 * *without.mse_smoothed);
  EXPECT_LT(*with.mse_filtered, *without.mse_filtered);
  EXPECT_LT(*without.mse_smoothed, *without.mse_raw);
}

// What a user who states nothing gets. Measured with 3000 steps and three seeds: smoothed error
// over that of the data lorenz 0.12..0.17, linear 0.40..0.47, pendulum 0.13, van-der-pol
// 0.06..0.08, sinusoids 0.09..0.14, random-linear 0.42..0.87.
TEST(Fit, DefaultsHelpOnEverySimulator) {
  const std::vector<std::vector<std::size_t>> measured = {{0, 1, 2}, {0, 3}, {0}, {0}, {0}, {0, 1}};
  ASSERT_EQ(simulated_systems().size(), measured.size());
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const std::string& name = simulated_systems()[i].name;
    const Dataset data = measured_truth(simulated(name, 2000, 1, 5), measured[i]);
    FitOptions options;
    options.model.effort = "quick";
    options.train.threads = 1;
    const FitResult result = fit(data, options);
    EXPECT_TRUE(result.summary.static_model.prior_chosen);
    const Evaluation e = evaluate(result.model, data);
    EXPECT_LT(*e.mse_smoothed, 0.75 * *e.mse_raw) << name << "\n" << result.summary.brief();
    EXPECT_LE(result.summary.best_held_out, result.summary.static_model.held_out) << name;
  }
}

TEST(Fit, SameSeedSameBytesWhateverTheThreads) {
  const Dataset data = simulated("van-der-pol", 1500);
  FitOptions options = small_options();
  const std::string one = bytes_of(fit(data, options).model);
  options.train.threads = 2;
  EXPECT_EQ(bytes_of(fit(data, options).model), one);
  options.train.seed = 2;
  EXPECT_NE(bytes_of(fit(data, options).model), one);
}

TEST(Fit, TruthIsNeverRead) {
  const Dataset data = simulated("van-der-pol", 900, 2);
  const FitOptions options = small_options();
  const std::string with = bytes_of(fit(data, options).model);
  Dataset none = data, nan = data, garbage = data, misshapen = data;
  none.x_names.clear();
  for (Series& series : none.series) series.x.clear();
  for (Series& series : nan.series) std::fill(series.x.begin(), series.x.end(), kMissing);
  for (Series& series : garbage.series) std::fill(series.x.begin(), series.x.end(), 1e300);
  for (Series& series : misshapen.series) series.x.resize(3);
  EXPECT_EQ(bytes_of(fit(none, options).model), with);
  EXPECT_EQ(bytes_of(fit(nan, options).model), with);
  EXPECT_EQ(bytes_of(fit(garbage, options).model), with);
  EXPECT_EQ(bytes_of(fit(misshapen, options).model), with);
}

TEST(Fit, TheModelIsSavedWithItsSummary) {
  const Dataset data = simulated("van-der-pol", 900);
  const FitResult result = fit(data, small_options());
  const ScratchFolder folder;
  result.model.save(folder.file("a.kalmia"));
  const Model loaded = Model::load(folder.file("a.kalmia"));
  EXPECT_EQ(bytes_of(loaded), bytes_of(result.model));
  const auto info = nlohmann::json::parse(loaded.info_json());
  const auto& summary = info["training"]["summary"];
  EXPECT_EQ(summary["best_held_out"], result.summary.best_held_out);
  EXPECT_EQ(summary["message"], result.summary.message);
}

TEST(Fit, ProgressAndInterruptionInTheStaticStage) {
  const Dataset data = simulated("van-der-pol", 900);
  for (const int hidden : {0, 16}) {
    FitOptions options = small_options();
    options.model.hidden = hidden;
    int calls = 0;
    const auto stop = [&](const FitProgress& now) {
      EXPECT_EQ(now.stage, "static constant-position");
      EXPECT_TRUE(std::isfinite(now.loss));
      EXPECT_TRUE(std::isnan(now.held_out));
      return ++calls < 2;
    };
    EXPECT_THROW(fit(data, options, {}, stop), Interrupted);  // there is no model yet
    EXPECT_EQ(calls, 2);
  }
}

TEST(Fit, InterruptionInTheNetworkStage) {
  const Dataset data = simulated("van-der-pol", 900);
  FitOptions options = small_options();
  options.train.updates = 100000;
  options.train.patience = 100000;
  std::vector<std::string> stages;
  const FitResult result = fit(data, options, {}, [&](const FitProgress& now) {
    if (stages.empty() || stages.back() != now.stage) stages.push_back(now.stage);
    EXPECT_GE(now.seconds, 0);
    return now.stage != "networks";
  });
  ASSERT_GE(stages.size(), 3u);
  EXPECT_EQ(stages.front(), "static constant-position");
  EXPECT_EQ(stages.back(), "networks");
  EXPECT_EQ(result.summary.networks.stop_reason, StopReason::Interrupted);
  EXPECT_GT(result.summary.networks.updates, 0);
  EXPECT_EQ(result.model.smooth(data, 1).series[0].steps, 900);
}

TEST(Fit, LittleDataGiveTheStaticModel) {
  const Dataset data = dataset_of({local_level(100, 1, 4, 3)});
  const FitResult result = fit(data, small_options());
  EXPECT_EQ(result.summary.networks.stop_reason, StopReason::LittleData);
  EXPECT_NE(result.summary.message.find("too little data"), std::string::npos);
  EXPECT_FALSE(result.summary.networks.kept);
  EXPECT_EQ(result.summary.data.training_steps, 100u);
  EXPECT_EQ(result.summary.data.held_out_steps, 0u);
}

TEST(Fit, ShortSeriesAmongOthers) {
  Dataset data = dataset_of({local_level(700, 1, 4, 3), {1.5}, {}, {2, 1}, {kMissing}});
  const FitResult result = fit(data, small_options());
  EXPECT_EQ(result.summary.data.training_steps + result.summary.data.held_out_steps, 703u);
  const Estimates smoothed = result.model.smooth(data, 1);
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    EXPECT_EQ(smoothed.series[s].steps, data.series[s].steps);
    for (const double value : smoothed.series[s].mean) EXPECT_TRUE(std::isfinite(value));
  }
}

// Arrays of series are padded with missing values.
TEST(Fit, PaddingIsNotHeldOut) {
  std::vector<std::vector<double>> series;
  for (std::uint64_t s = 0; s < 3; ++s) {
    series.push_back(local_level(400, 1, 4, 3 + s));
    series.back().resize(1000, kMissing);
  }
  const FitResult result = fit(dataset_of(series), small_options());
  EXPECT_EQ(result.summary.data.training_steps, 1020u);
  EXPECT_EQ(result.summary.data.held_out_steps, 180u);
  EXPECT_TRUE(std::isfinite(result.summary.best_held_out));
  EXPECT_EQ(result.summary.data.empty_end_steps, 1800u);
  EXPECT_NE(result.summary.brief().find("1800 rows without measurements at the ends of series"),
            std::string::npos);
  EXPECT_NE(result.summary.to_json().find("\"empty_end_steps\": 1800"), std::string::npos);
}

TEST(Fit, NothingMeasuredWhereItIsHeldOut) {
  std::vector<double> y = local_level(3000, 1, 4, 3);
  for (std::size_t k = 2500; k < 2999; ++k) y[k] = kMissing;
  const FitResult result = fit(dataset_of({y}), small_options());
  EXPECT_EQ(result.summary.networks.stop_reason, StopReason::LittleData);
  EXPECT_TRUE(std::isfinite(result.summary.static_model.held_out));
}

TEST(Fit, CorrelatedNoiseIsNotLearned) {
  // Slow signal, AR(1) noise of deviation 0.3, stated as white with 0.5.
  RandomStream random(2, "coloured");
  std::vector<double> y;
  double noise = 0;
  for (int k = 0; k < 3000; ++k) {
    noise = 0.95 * noise + 0.3 * std::sqrt(1 - 0.95 * 0.95) * random.normal();
    y.push_back(std::sin(0.02 * k) + noise);
  }
  FitOptions options = small_options();
  options.model.noise = "0.5";
  const FitResult result = fit(dataset_of({y}), options);
  EXPECT_EQ(result.summary.networks.stop_reason, StopReason::NoisePredicted);
  EXPECT_EQ(result.summary.networks.updates, 0);  // the static model does already
  EXPECT_NE(result.summary.message.find("stated noise"), std::string::npos);
  EXPECT_FALSE(result.summary.networks.kept);
  // White noise of the deviation stated is no such thing.
  Dataset white = simulated("sinusoids", 3000);
  EXPECT_NE(fit(white, options).summary.networks.stop_reason, StopReason::NoisePredicted);
}

TEST(Fit, DataThatCannotBeLearnedFrom) {
  const FitOptions options = small_options();
  EXPECT_THROW(fit(Dataset(), options), DataError);
  EXPECT_THROW(fit(dataset_of({}), options), DataError);
  EXPECT_THROW(fit(dataset_of({{5}}), options), DataError);
  EXPECT_THROW(fit(dataset_of({std::vector<double>(800, 5.0)}), options), DataError);
  EXPECT_THROW(fit(dataset_of({std::vector<double>(800, kMissing)}), options), DataError);
  std::vector<double> infinite = local_level(800, 1, 1, 1);
  infinite[70] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(fit(dataset_of({infinite}), options), DataError);
  Dataset misshapen = dataset_of({local_level(800, 1, 1, 1)});
  misshapen.series[0].y.pop_back();
  EXPECT_THROW(fit(misshapen, options), DataError);
  Dataset backwards = dataset_of({local_level(800, 1, 1, 1)});
  backwards.time_kind = TimeKind::Number;
  for (int k = 0; k < 800; ++k) backwards.series[0].t.push_back(-k);
  EXPECT_NE(kalmia::message_of<DataError>([&] { fit(backwards, options); }).find("-1"),
            std::string::npos);
}

// Before any static model is fitted.
TEST(Fit, MoreColumnsThanAModelHasAreRefused) {
  Dataset wide;
  wide.source = "wide.csv";
  for (int i = 0; i < 300; ++i) wide.y_names.push_back(std::string("c").append(std::to_string(i)));
  wide.series.resize(1);
  wide.series[0].steps = 400;
  wide.series[0].y = local_level(400 * 300, 1, 1, 1);
  EXPECT_EQ(kalmia::message_of<ConfigError>([&] { fit(wide, small_options()); }),
            "wide.csv: 300 measured columns, but a model has at most 128; name fewer of them "
            "with --measure");
}

TEST(Fit, OptionsThatCannotBe) {
  const Dataset data = dataset_of({local_level(800, 1, 1, 1)});
  FitOptions options = small_options();
  options.train.window = 0;
  EXPECT_THROW(fit(data, options), ConfigError);
  options = small_options();
  options.model.prior = "constant-nothing";
  EXPECT_THROW(fit(data, options), ConfigError);
  options = small_options();
  options.model.prior = "lorenz";
  EXPECT_THROW(fit(data, options), ConfigError);
  options = small_options();
  options.model.noise = "0.5,0.5";
  EXPECT_THROW(fit(data, options), ConfigError);
}

TEST(Fit, LittleDataAreNotCalibrated) {
  FitOptions options = small_options();
  const FitResult result = fit(dataset_of({local_level(100, 1, 4, 3)}), options);
  EXPECT_TRUE(result.summary.calibration.empty());
  EXPECT_FALSE(result.model.impl().calibration);
}

TEST(Fit, TwoRowsAreEnoughForAStaticModel) {
  const FitResult result = fit(dataset_of({{1, 2}}), small_options());
  EXPECT_EQ(result.summary.networks.stop_reason, StopReason::LittleData);
  EXPECT_TRUE(std::isfinite(result.model.filter(dataset_of({{1, 2, 3}}), 1).log_likelihood));
  EXPECT_LT(result.summary.data.degrees_of_freedom, 1);
  EXPECT_NE(result.summary.brief().find("error bars mean nothing"), std::string::npos);
}

// Of each series the first value goes into where its only state begins; two numbers are learned,
// the noise of the process and of the measurements.
TEST(Fit, DegreesOfFreedomAreCounted) {
  FitOptions options = small_options();
  options.model.prior = "constant-position";
  options.model.noise = "learn";
  const auto freedom = [&](const std::vector<std::vector<double>>& series) {
    return fit(dataset_of(series), options).summary;
  };
  const FitSummary three = freedom({{1, 2, 1.5}});
  EXPECT_EQ(three.data.degrees_of_freedom, 0);
  EXPECT_NE(three.brief().find("3 measured values, less 1 for the states"), std::string::npos)
      << three.brief();
  const FitSummary seven = freedom({{1, 2, 1.5, kMissing, 1, 3, 2, 1}});
  EXPECT_EQ(seven.data.degrees_of_freedom, 4);
  EXPECT_NE(seven.brief().find("to 35 % only"), std::string::npos) << seven.brief();
  const FitSummary enough = freedom({local_level(8, 1, 4, 3), local_level(4, 1, 4, 4)});
  EXPECT_EQ(enough.data.degrees_of_freedom, 8);
  EXPECT_EQ(enough.brief().find("too few data"), std::string::npos) << enough.brief();
}

TEST(Fit, LargeOffsets) {
  std::vector<double> y = local_level(1500, 1, 4, 3), far;
  for (double& value : y) value = std::round(value * 1024) / 1024 * 1024;
  for (const double value : y) far.push_back(value + 0x1p50);
  const FitResult near_zero = fit(dataset_of({y}), small_options());
  const FitResult result = fit(dataset_of({far}), small_options());
  EXPECT_NEAR(result.summary.static_model.held_out, near_zero.summary.static_model.held_out, 1e-3);
  const Estimates smoothed = result.model.smooth(dataset_of({far}), 1);
  EXPECT_NEAR(smoothed.series[0].mean[700 * static_cast<std::size_t>(result.model.state_dim())],
              far[700], 1e4);
}

TEST(Fit, UnitsDoNotMatter) {
  Dataset data = simulated("lorenz", 1200);
  FitOptions options = small_options();
  options.model.prior = "constant-velocity";
  const FitResult plain = fit(data, options);
  const std::vector<double> scale = {1e-6, 1, 1e6};
  double log_units = 0;
  for (const double each : scale) log_units += std::log(each) / 3;
  Series& series = data.series[0];
  for (std::size_t i = 0; i < series.y.size(); ++i) series.y[i] *= scale[i % 3];
  const FitResult scaled = fit(data, options);
  EXPECT_NEAR(scaled.summary.static_model.held_out - log_units, plain.summary.static_model.held_out,
              5e-3);
  EXPECT_NEAR(scaled.summary.best_held_out - log_units, plain.summary.best_held_out, 2e-2);
}

// The whole way with a user's equations: an input, a learned parameter, times that differ,
// networks, and the file.
TEST(Fit, AUsersSystem) {
  Dataset data = dataset_of({{}, {}});
  data.time_kind = TimeKind::Number;
  data.u_names = {"force"};
  RandomStream random(27, "driven");
  for (Series& series : data.series) {
    double x = 0, t = 0, force = 0;
    for (int k = 0; k < 700; ++k) {
      series.t.push_back(t);
      series.y.push_back(x + 0.1 * random.normal());
      force = 0.9 * force + random.normal();
      series.u.push_back(force);
      const double dt = random.uniform(0.1, 1), decay = std::exp(-0.5 * dt);
      x = decay * x + 2 * (1 - decay) * 0.7 * force + 0.05 * std::sqrt(dt) * random.normal();
      t += dt;
    }
    series.steps = 700;
  }
  FitOptions options = small_options();
  System& system = options.model.system;
  system.states = {"y"};
  system.inputs = {"force"};
  system.parameters = {{"rate", 0.4, true, 0}, {"gain", 1, true}};
  system.ode = {{"y", "gain*force - rate*y"}};
  const FitResult result = fit(data, options);
  EXPECT_EQ(result.summary.static_model.prior, "system");
  EXPECT_FALSE(result.summary.static_model.prior_chosen);
  const auto theta = nlohmann::json::parse(result.model.info_json()).at("theta");
  EXPECT_NEAR(theta.at(0).at("value").get<double>(), 0.5, 0.03);
  EXPECT_NEAR(theta.at(1).at("value").get<double>(), 0.7, 0.03);
  // Better than any motion can predict it, and the file knows all of it.
  FitOptions automatic = small_options();
  automatic.model.hidden = 0;
  EXPECT_LT(result.summary.static_model.held_out, fit(data, automatic).summary.best_held_out - 0.3);
  const ScratchFolder folder;
  result.model.save(folder.file("m.kalmia"));
  const Model loaded = Model::load(folder.file("m.kalmia"));
  EXPECT_EQ(loaded.info_json(), result.model.info_json());
  EXPECT_EQ(loaded.smooth(data, 1).series[1].mean, result.model.smooth(data, 1).series[1].mean);
}

TEST(Fit, NotesAboutTime) {
  Dataset data = dataset_of({local_level(600, 1, 4, 3)});
  data.time_kind = TimeKind::Number;
  for (int k = 0; k < 600; ++k) data.series[0].t.push_back(0.1667 * (k < 300 ? k : k + 5));
  FitOptions options = small_options();
  options.model.hidden = 0;
  const FitResult result = fit(data, options);
  ASSERT_EQ(result.summary.notes.size(), 2u);
  EXPECT_EQ(result.summary.notes[0], "time steps differ (median 0.1667, one differs by 0.8335)");
  EXPECT_NE(result.summary.notes[1].find("chosen by the held-out loss"), std::string::npos);
}

}  // namespace
}  // namespace kalmia
