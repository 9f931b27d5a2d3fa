#include "train/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace kalmia::train {
namespace {

FitSummary example() {
  FitSummary s;
  s.networks.stop_reason = StopReason::Patience;
  s.static_model.prior = "constant-velocity";
  s.static_model.prior_chosen = true;
  s.networks.kept = true;
  s.notes = {"a note about the data"};
  s.data.training_steps = 850;
  s.data.held_out_steps = 150;
  s.static_model.held_out = 1.25;
  s.best_held_out = s.networks.held_out = 0.75;
  s.data.noise_bound = -std::numeric_limits<double>::infinity();
  s.networks.updates = 400;
  s.networks.best_update = 320;
  s.networks.skipped_updates = 3;
  s.networks.rate_cuts = 1;
  s.static_model.seconds = 0.5;
  s.networks.seconds = 2.25;
  s.networks.steps_per_second = 1.5e6;
  s.networks.checks = {{80, std::nan(""), std::numeric_limits<double>::infinity(), 1e-3},
                       {160, 0.9, 0.75, 2e-3}};
  s.message = message_of({}, s);
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
  none.networks.kept = false;
  none.networks.best_update = 0;
  none.networks.skipped_updates = 0;
  EXPECT_NE(none.brief().find("none was better in 400 updates"), std::string::npos);
  EXPECT_EQ(none.brief().find("left out"), std::string::npos);
  none.networks.updates = 0;
  EXPECT_EQ(none.brief().find("networks:"), std::string::npos);
}

TEST(Summary, JsonHasEverythingAndNoNumberThatIsNone) {
  const std::string text = example().to_json();
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["networks"]["stop_reason"], "patience");
  EXPECT_EQ(json["static"]["prior"], "constant-velocity");
  EXPECT_EQ(json["static"]["prior_chosen"], true);
  EXPECT_EQ(json["networks"]["kept"], true);
  EXPECT_EQ(json["notes"][0], "a note about the data");
  EXPECT_EQ(json["data"]["training_steps"], 850);
  EXPECT_EQ(json["data"]["held_out_steps"], 150);
  EXPECT_EQ(json["static"]["held_out"], 1.25);
  EXPECT_EQ(json["best_held_out"], 0.75);
  EXPECT_TRUE(json["data"]["noise_bound"].is_null());
  EXPECT_EQ(json["networks"]["updates"], 400);
  EXPECT_EQ(json["networks"]["best_update"], 320);
  EXPECT_EQ(json["networks"]["skipped_updates"], 3);
  EXPECT_EQ(json["networks"]["rate_cuts"], 1);
  EXPECT_EQ(json["static"]["seconds"], 0.5);
  EXPECT_EQ(json["networks"]["seconds"], 2.25);
  EXPECT_EQ(json["networks"]["steps_per_second"], 1.5e6);
  EXPECT_EQ(json["networks"]["checks"].size(), 2u);
  EXPECT_TRUE(json["networks"]["checks"][0]["loss"].is_null());
  EXPECT_TRUE(json["networks"]["checks"][0]["held_out"].is_null());
  EXPECT_EQ(json["networks"]["checks"][1]["held_out"], 0.75);
  EXPECT_EQ(json["networks"]["checks"][1]["learning_rate"], 2e-3);
}

TEST(Summary, SaysHowWellConstantsAreKnown) {
  FitSummary s = example();
  const double none = std::nan("");
  const double inf = std::numeric_limits<double>::infinity();
  s.static_model.parameters = {
      {"gravity", 9.8123, 5, 0, inf, ParameterState::Determined, 0.0312, {}},
      {"mass", 2, 1, 0, inf, ParameterState::NotIdentifiable, none, {"length"}},
      {"drag", 1e-9, 1, 0, inf, ParameterState::AtBound, none, {}},
      {"still", 3, 3, -inf, inf, ParameterState::DidNotMove, none, {}},
      {"rate", 0.5, 0.1, 0, 1, ParameterState::Unknown, none, {}}};
  s.static_model.training = 1.125;
  EXPECT_NE(s.brief().find("learned: gravity 9.812 +- 0.031, mass 2 (not identifiable), drag 1e-09 "
                           "(at its bound), still 3 (did not move), rate 0.5\n"),
            std::string::npos)
      << s.brief();
  const auto json = nlohmann::json::parse(s.to_json())["static"];
  EXPECT_EQ(json["training"], 1.125);
  const auto& found = json["parameters"];
  EXPECT_EQ(found[0]["standard_error"], 0.0312);
  EXPECT_EQ(found[0]["state"], "determined");
  EXPECT_EQ(found[0]["start"], 5);
  EXPECT_TRUE(found[0]["upper"].is_null());
  EXPECT_TRUE(found[1]["standard_error"].is_null());
  EXPECT_EQ(found[1]["together"], (std::vector<std::string>{"length"}));
  const char* states[] = {"determined", "not_identifiable", "at_bound", "did_not_move", "unknown"};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(found[i]["state"], states[i]);
}

// Stands for a value of any type.
struct Anything {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor)
};

template <typename Part, std::size_t... I>
constexpr bool takes(std::index_sequence<I...>) {
  return requires { Part{(static_cast<void>(I), Anything())...}; };
}

// How many fields a struct has: as many as it can be initialised with.
template <typename Part, std::size_t Count = 32>
constexpr int field_count() {
  if constexpr (takes<Part>(std::make_index_sequence<Count>()))
    return static_cast<int>(Count);
  else
    return field_count<Part, Count - 1>();
}

template <typename Part>
void expect_all_visited() {
  int visited = 0;
  visit_fields(Part(), [&](const char*, const auto&, Figure = Figure::Repeats) { ++visited; });
  EXPECT_EQ(visited, field_count<Part>());
}

TEST(Summary, EveryFieldIsVisited) {
  expect_all_visited<FitSummary>();
  expect_all_visited<FitDataSummary>();
  expect_all_visited<FitStaticSummary>();
  expect_all_visited<FitNetworksSummary>();
  expect_all_visited<FitSmootherSummary>();
  expect_all_visited<FitEnsembleSummary>();
  expect_all_visited<FitMember>();
  expect_all_visited<FitFactor>();
  expect_all_visited<FitCheck>();
  expect_all_visited<LearnedParameter>();
}

TEST(Summary, ASmootherIsToldWhereOneWasTrained) {
  FitSummary s = example();
  EXPECT_FALSE(s.has_smoother());
  EXPECT_FALSE(nlohmann::json::parse(s.to_json()).contains("smoother"));
  EXPECT_EQ(s.brief().find("smoother"), std::string::npos);
  FitSmootherSummary& smoother = s.smoother.emplace();
  smoother.kind = "fused";
  smoother.updates = 200;
  smoother.seconds = 1.25;
  smoother.held_out = 0.5;
  EXPECT_FALSE(s.has_smoother());
  EXPECT_NE(s.brief().find("smoother: none was better than the filter in 200 updates, 1.2 s\n"),
            std::string::npos);
  smoother.kept = true;
  smoother.best_update = 150;
  smoother.leak = 0.125;
  EXPECT_TRUE(s.has_smoother());
  EXPECT_NE(s.brief().find("smoother (fused): held-out loss 0.5000 at update 150 of 200, 1.2 s, "
                           "leak 0.1250\n"),
            std::string::npos);
  const auto json = nlohmann::json::parse(s.to_json())["smoother"];
  EXPECT_EQ(json["kind"], "fused");
  EXPECT_EQ(json["kept"], true);
  EXPECT_EQ(json["seconds"], 1.25);
  EXPECT_EQ(json["leak"], 0.125);
  EXPECT_TRUE(json["risk"].is_null());
  EXPECT_EQ(stored_summary_json({}, s).find("second"), std::string::npos);
}

TEST(Summary, MembersAndFactorsAreTold) {
  FitSummary s = example();
  s.networks.held_out = 0.78;
  FitEnsembleSummary& ensemble = s.ensemble.emplace();
  ensemble.members = {{StopReason::Finished, true, 0.8125, 400, 320, true},
                      {StopReason::Patience, false, 1.25, 200, 0, false},
                      {StopReason::Finished, true, 0.78, 400, 400, false}};
  ensemble.combined = true;
  ensemble.held_out = s.best_held_out;
  s.calibration = {{"filter", "north", 1, 1.5, 0.0625, true},  {"filter", "north", 10, 3, 0.125, true},
                   {"filter", "east", 1, 1.5, 0.0625, true},   {"filter", "east", 10, 12, 0.25, true},
                   {"linearized", "north", 0.5, 1, 0.75, false}};
  const std::string text = s.brief();
  for (const char* part :
       {"held-out loss 0.7800 at update 320 of 400",
        "members: 2 of 3 combined have held-out loss 0.7500 (alone 0.8125, 0.7800)\n",
        "variances scaled, by steps to the values that tell of a state: filter 1.5 (1), 6 (10); "
        "linearized 1 (0.5, not determined)\n"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const auto json = nlohmann::json::parse(s.to_json());
  EXPECT_EQ(json["ensemble"]["combined"], true);
  EXPECT_EQ(json["ensemble"]["held_out"], 0.75);
  EXPECT_EQ(json["ensemble"]["members"][0]["held_out"], 0.8125);
  EXPECT_EQ(json["ensemble"]["members"][0]["smoother"], true);
  EXPECT_EQ(json["ensemble"]["members"][1]["networks"], false);
  EXPECT_EQ(json["ensemble"]["members"][1]["stop_reason"], "patience");
  EXPECT_EQ(json["calibration"][0]["factor"], 1.5);
  EXPECT_EQ(json["calibration"][1]["channel"], "north");
  EXPECT_EQ(json["calibration"][1]["steps"], 10);
  EXPECT_EQ(json["calibration"][4]["determined"], false);
  ensemble.combined = false;
  ensemble.held_out = 0.8;
  s.best_held_out = 0.78;
  EXPECT_NE(s.brief().find("; the best alone is kept"), std::string::npos);
  ensemble.members[0].networks = false;
  ensemble.held_out = std::nan("");
  EXPECT_NE(s.brief().find("1 of 3 better than the static model"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(s.to_json())["ensemble"]["held_out"].is_null());
}

TEST(Summary, WhatIsStoredDoesNotVaryFromRunToRun) {
  FitOptions options;
  options.train.threads = 3;
  FitSummary s = example();
  const std::string stored = stored_summary_json(options, s);
  s.static_model.seconds *= 2;
  s.networks.seconds *= 2;
  s.networks.steps_per_second *= 2;
  options.train.threads = 7;
  EXPECT_EQ(stored_summary_json(options, s), stored);
  EXPECT_EQ(stored.find("second"), std::string::npos);
  EXPECT_EQ(stored.find("threads"), std::string::npos);
  const auto json = nlohmann::json::parse(stored);
  EXPECT_EQ(json["model"]["hidden"], 64);
  EXPECT_EQ(json["train"]["window"], 32);
  EXPECT_EQ(json["train"]["seed"], 1);
  EXPECT_EQ(json["summary"]["networks"]["best_update"], 320);
}

TEST(Summary, EveryReasonHasItsSentence) {
  std::vector<std::string> seen;
  for (const StopReason reason :
       {StopReason::Finished, StopReason::Patience, StopReason::Interrupted, StopReason::Failures,
        StopReason::NoNetworks, StopReason::MapLearned, StopReason::LittleData,
        StopReason::NoisePredicted}) {
    FitSummary s = example();
    s.networks.stop_reason = reason;
    const std::string message = message_of({}, s);
    EXPECT_GT(message.size(), 20u);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), message), 0);
    seen.push_back(message);
  }
  FitSummary before = example();
  before.networks.stop_reason = StopReason::Interrupted;
  before.networks.updates = 0;
  EXPECT_NE(message_of({}, before).find("before any networks"), std::string::npos);
}

}  // namespace
}  // namespace kalmia::train
