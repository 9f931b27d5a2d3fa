#include "train/summary.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>

#include "kalman/student.hpp"
#include "support/scratch_folder.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

FitSummary example() {
  FitSummary s;
  s.stop_reason = StopReason::Patience;
  s.prior = "constant-velocity";
  s.prior_chosen = true;
  s.networks = true;
  s.notes = {"a note about the data"};
  s.training_steps = 850;
  s.held_out_steps = 150;
  s.static_held_out = 1.25;
  s.best_held_out = 0.75;
  s.noise_bound = -std::numeric_limits<double>::infinity();
  s.updates = 400;
  s.best_update = 320;
  s.skipped_updates = 3;
  s.rate_cuts = 1;
  s.static_seconds = 0.5;
  s.network_seconds = 2.25;
  s.steps_per_second = 1.5e6;
  s.checks = {{80, std::nan(""), std::numeric_limits<double>::infinity(), 1e-3},
              {160, 0.9, 0.75, 2e-3}};
  describe({}, s);
  return s;
}

TEST(Summary, BriefSaysWhatHappened) {
  const std::string text = example().brief();
  for (const char* part :
       {"a note about the data\n", "850 steps, 150 held out", "constant-velocity", "1.2500",
        "0.5 s", "0.7500 at update 320 of 400", "2.2 s", "1.50 million", "3 updates were left out",
        "halved 1 times", "after 12 checks without a better held-out loss"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  FitSummary none = example();
  none.networks = false;
  none.best_update = 0;
  none.skipped_updates = 0;
  EXPECT_NE(none.brief().find("none was better in 400 updates"), std::string::npos);
  EXPECT_EQ(none.brief().find("left out"), std::string::npos);
  none.updates = 0;
  EXPECT_EQ(none.brief().find("networks:"), std::string::npos);
}

TEST(Summary, SaysWhichConstantsDidNotMoveOrSitAtABound) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<Parameter> began = {{"gravity", 10, true, 0, inf},
                                        {"damping", 0.1, true, 0, inf},
                                        {"share", 0.5, true, 0, 1},
                                        {"offset", 0, true, -inf, inf},
                                        {"still", 3, true, -inf, inf}};
  std::vector<Parameter> ended = began;
  ended[0].value = 9.8;
  ended[1].value = 1e-7;
  ended[2].value = 0.9999;
  ended[3].value = 0.01;
  EXPECT_EQ(
      constant_notes(began, ended),
      (std::vector<std::string>{
          "constants that did not move from where they began: still (3); the data do not show "
          "them, or the search was lost there: begin elsewhere",
          "constants that sit at a bound: damping (1e-07), share (0.9999); the data want them "
          "beyond it, or do not show them"}));
  ended[1].value = 0.02;
  ended[2].value = 0.6;
  ended[4].value = 3.1;
  EXPECT_TRUE(constant_notes(began, ended).empty());
}

TEST(Summary, JsonHasEverythingAndNoNumberThatIsNone) {
  const std::string text = example().to_json();
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["stop_reason"], "patience");
  EXPECT_EQ(json["prior"], "constant-velocity");
  EXPECT_EQ(json["prior_chosen"], true);
  EXPECT_EQ(json["networks"], true);
  EXPECT_EQ(json["notes"][0], "a note about the data");
  EXPECT_EQ(json["training_steps"], 850);
  EXPECT_EQ(json["held_out_steps"], 150);
  EXPECT_EQ(json["static_held_out"], 1.25);
  EXPECT_EQ(json["best_held_out"], 0.75);
  EXPECT_TRUE(json["noise_bound"].is_null());
  EXPECT_EQ(json["updates"], 400);
  EXPECT_EQ(json["best_update"], 320);
  EXPECT_EQ(json["skipped_updates"], 3);
  EXPECT_EQ(json["rate_cuts"], 1);
  EXPECT_EQ(json["static_seconds"], 0.5);
  EXPECT_EQ(json["network_seconds"], 2.25);
  EXPECT_EQ(json["steps_per_second"], 1.5e6);
  EXPECT_EQ(json["checks"].size(), 2u);
  EXPECT_TRUE(json["checks"][0]["loss"].is_null());
  EXPECT_TRUE(json["checks"][0]["held_out"].is_null());
  EXPECT_EQ(json["checks"][1]["held_out"], 0.75);
  EXPECT_EQ(json["checks"][1]["learning_rate"], 2e-3);
}

TEST(Summary, MembersAndFactorsAreTold) {
  FitSummary s = example();
  s.members = {{StopReason::Finished, true, 0.8125, 400, 320, true},
               {StopReason::Patience, false, 1.25, 200, 0, false},
               {StopReason::Finished, true, 0.78, 400, 400, false}};
  s.combined = true;
  s.combined_held_out = s.best_held_out;
  s.calibration = {{"filter", 1.5, 0.0625, true}, {"linearized", 1, 0.75, false}};
  const std::string text = s.brief();
  for (const char* part :
       {"held-out loss 0.7800 at update 320 of 400",
        "members: 2 of 3 combined have held-out loss 0.7500 (alone 0.8125, 0.7800)\n",
        "covariances scaled by: filter 1.500 (+-6 %), linearized 1.000 (not determined)\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const auto json = nlohmann::json::parse(s.to_json());
  EXPECT_EQ(json["members"]["combined"], true);
  EXPECT_EQ(json["members"]["held_out"], 0.75);
  EXPECT_EQ(json["members"]["each"][0]["held_out"], 0.8125);
  EXPECT_EQ(json["members"]["each"][0]["smoother"], true);
  EXPECT_EQ(json["members"]["each"][1]["networks"], false);
  EXPECT_EQ(json["members"]["each"][1]["stop_reason"], "patience");
  EXPECT_EQ(json["calibration"][0]["factor"], 1.5);
  EXPECT_EQ(json["calibration"][1]["determined"], false);
  s.combined = false;
  s.combined_held_out = 0.8;
  s.best_held_out = 0.78;
  EXPECT_NE(s.brief().find("; the best alone is kept"), std::string::npos);
  s.members[0].networks = false;
  s.combined_held_out = std::nan("");
  EXPECT_NE(s.brief().find("1 of 3 better than the static model"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(s.to_json())["members"]["held_out"].is_null());
}

TEST(Summary, WhatIsStoredDoesNotVaryFromRunToRun) {
  FitOptions options;
  options.train.threads = 3;
  FitSummary s = example();
  const std::string stored = stored_summary_json(options, s);
  s.static_seconds *= 2;
  s.network_seconds *= 2;
  s.steps_per_second *= 2;
  options.train.threads = 7;
  EXPECT_EQ(stored_summary_json(options, s), stored);
  EXPECT_EQ(stored.find("second"), std::string::npos);
  EXPECT_EQ(stored.find("threads"), std::string::npos);
  const auto json = nlohmann::json::parse(stored);
  EXPECT_EQ(json["model"]["hidden"], 64);
  EXPECT_EQ(json["train"]["window"], 32);
  EXPECT_EQ(json["train"]["seed"], 1);
  EXPECT_EQ(json["summary"]["best_update"], 320);
}

TEST(Summary, EveryReasonHasItsSentence) {
  std::vector<std::string> seen;
  for (const StopReason reason :
       {StopReason::Finished, StopReason::Patience, StopReason::Interrupted, StopReason::Failures,
        StopReason::NoNetworks, StopReason::LittleData, StopReason::NoisePredicted}) {
    FitSummary s = example();
    s.stop_reason = reason;
    s.message.clear();
    describe({}, s);
    EXPECT_GT(s.message.size(), 20u);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), s.message), 0);
    seen.push_back(s.message);
  }
  FitSummary before = example();
  before.stop_reason = StopReason::Interrupted;
  before.updates = 0;
  describe({}, before);
  EXPECT_NE(before.message.find("before any networks"), std::string::npos);
}

TEST(NoiseBound, IsTheLossOfTheNoiseItself) {
  Dataset data;
  data.y_names = {"a", "b"};
  Series& series = data.series.emplace_back();
  series.steps = 6;
  series.y = {1, 2, 1, 2, 1, kMissing, 1, kMissing, kMissing, kMissing, kMissing, 2};
  const model::NoiseSpec noise{model::NoiseSpec::Kind::Given, {4, 1, 1, 9}};
  const double one = 0.5 * (1 + std::log(2 * std::numbers::pi));
  EXPECT_NEAR(noise_bound(noise, 0, data, {{{0, 0, 2}, 0}}), one + 0.25 * std::log(35), 1e-12);
  // Steps before the first that counts do not, and each channel counts where it is measured.
  EXPECT_NEAR(noise_bound(noise, 0, data, {{{0, 0, 6}, 1}}),
              one + (0.5 * std::log(35) + 2 * std::log(2) + std::log(3)) / 5, 1e-12);
  const double none = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(noise_bound(noise, 0, data, {}), none);
  EXPECT_EQ(noise_bound(noise, 0, data, {{{0, 4, 5}, 4}}), none);
  EXPECT_EQ(noise_bound({}, 0, data, {{{0, 0, 2}, 0}}), none);
}

TEST(NoiseBound, OfStudentNoiseIsItsEntropy) {
  const Dataset data = dataset_of({{1, 2, 3}});
  const model::NoiseSpec noise{model::NoiseSpec::Kind::Given, {25}};
  const double bound = noise_bound(noise, 3, data, {{{0, 0, 3}, 0}});
  EXPECT_NEAR(bound, kalman::student_entropy(3) + std::log(5), 1e-12);
  EXPECT_GT(bound, noise_bound(noise, 0, data, {{{0, 0, 3}, 0}}));
}

TEST(NoiseBound, BelowItOnlyWhereItIsClear) {
  FitSummary s;
  s.noise_bound = 1;
  s.held_out_steps = 100000;
  EXPECT_FALSE(predicts_noise(1.5, s));
  EXPECT_FALSE(predicts_noise(0.99, s));
  EXPECT_TRUE(predicts_noise(0.97, s));
  // So few values may have been lucky.
  s.held_out_steps = 50;
  EXPECT_FALSE(predicts_noise(0.85, s));
  EXPECT_TRUE(predicts_noise(0.7, s));
  s.noise_bound = -std::numeric_limits<double>::infinity();
  EXPECT_FALSE(predicts_noise(-1e9, s));
  s.noise_bound = 1;
  EXPECT_FALSE(predicts_noise(std::nan(""), s));
}

TEST(FitOptions, ValidateNamesEveryViolatedRule) {
  FitOptions().validate();
  FitOptions o;
  o.model.order = -1;
  o.model.hidden = -1;
  o.model.members = 0;
  o.model.decoder = {64, 0};
  o.train.learning_rate = 0;
  o.train.updates = -1;
  o.train.window = 1;
  o.train.batch = 0;
  o.train.patience = 0;
  o.train.holdout = 0;
  o.train.gaps = -0.1;
  o.train.clip_norm = std::nan("");
  o.train.weight_decay = std::numeric_limits<double>::infinity();
  o.train.threads = -1;
  const std::string message = message_of<ConfigError>([&] { o.validate(); });
  for (const char* name :
       {"model.order = -1", "model.hidden = -1", "model.members = 0, but it must be in 1..64",
        "model.decoder = 0", "train.learning_rate = 0", "train.updates = -1", "train.window = 1",
        "train.batch = 0", "train.patience = 0", "train.holdout = 0", "train.gaps = -0.1",
        "train.clip_norm = nan", "train.weight_decay = inf", "train.threads = -1"})
    EXPECT_NE(message.find(name), std::string::npos) << name << "\n" << message;
}

TEST(FitOptions, ValidateKnowsTheUpperEnds) {
  const auto refused = [](auto change) {
    FitOptions o;
    change(o);
    EXPECT_THROW(o.validate(), ConfigError);
  };
  refused([](FitOptions& o) { o.model.order = 21; });
  refused([](FitOptions& o) { o.model.hidden = 4097; });
  refused([](FitOptions& o) { o.model.members = 65; });
  refused([](FitOptions& o) { o.train.learning_rate = 1.01; });
  refused([](FitOptions& o) { o.train.learning_rate = std::nan(""); });
  refused([](FitOptions& o) { o.train.window = 4097; });
  refused([](FitOptions& o) { o.train.batch = 65537; });
  refused([](FitOptions& o) { o.train.holdout = 0.51; });
  refused([](FitOptions& o) { o.train.gaps = 0.51; });
  refused([](FitOptions& o) { o.train.threads = 4097; });
}

TEST(FitOptions, FiltersAndSmoothersAreNamed) {
  FitOptions o;
  o.model.filter = "recursiv";
  o.model.smoother = "rts";
  EXPECT_EQ(message_of<ConfigError>([&] { o.validate(); }),
            "invalid options:\n  model.filter = recursiv, but it must be recursive or recurrent\n"
            "  model.smoother = rts, but it must be linearized, fused, recurrent, recursive or "
            "recursive-alternative");
  o.model.filter = "recurrent";
  for (const char* smoother :
       {"linearized", "fused", "recurrent", "recursive", "recursive-alternative"}) {
    o.model.smoother = smoother;
    o.validate();
  }
  o.model.tails = "4";
  EXPECT_THROW(o.validate(), ConfigError);
  o.model.smoother = "recursive";
  o.validate();
}

TEST(FitOptions, WhatLeaksIsNotCalibrated) {
  FitOptions o;
  o.model.calibrate = true;
  o.model.smoother = "fused";
  o.validate();
  o.model.smoother = "recursive-alternative";
  EXPECT_NE(message_of<ConfigError>([&] {
              o.validate();
            }).find("model.calibrate with model.smoother = recursive-alternative"),
            std::string::npos);
}

}  // namespace
}  // namespace kalmia::train
