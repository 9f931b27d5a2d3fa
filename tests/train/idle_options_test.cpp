// FitOptions::without_effect, option by option.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kalmia/fit.hpp"

namespace kalmia {
namespace {

using Change = std::function<void(FitOptions&)>;

std::vector<std::string> idle(const Change& change, bool validation = false) {
  FitOptions options;
  change(options);
  return options.without_effect(validation);
}

// The option's sentence is the only one.
void expect_idle(const Change& change, const std::string& sentence, bool validation = false) {
  EXPECT_EQ(idle(change, validation), (std::vector<std::string>{sentence})) << sentence;
}
void expect_works(const Change& change) { EXPECT_TRUE(idle(change).empty()); }

System equations(const std::string& flow) {
  System system;
  system.states = {"x"};
  system.ode = {{"x", "-x"}};
  system.integration.flow = flow;
  return system;
}

TEST(WithoutEffect, DefaultsAreLeftAlone) {
  expect_works([](FitOptions&) {});
  expect_works([](FitOptions& o) { o.model.hidden = 0; });
  EXPECT_TRUE(idle([](FitOptions&) {}, true).empty());
}

TEST(WithoutEffect, APurposeWithoutASearch) {
  expect_idle([](FitOptions& o) { o.model.effort = "quick", o.model.purpose = "gaps"; },
              "purpose = gaps has no effect: effort = quick, so there is no search that asks for "
              "it; leave it out");
  for (const char* effort : {"normal", "thorough"})
    expect_works([&](FitOptions& o) { o.model.effort = effort, o.model.purpose = "gaps"; });
  expect_works([](FitOptions& o) { o.model.effort = "quick"; });
}

TEST(WithoutEffect, OptionsOfOtherPriors) {
  const std::string flows = "it is for the priors lorenz and linear-motion; leave it out";
  for (const char* prior : {"auto", "constant-velocity", "none", "ar", "oscillator"}) {
    expect_idle([&](FitOptions& o) { o.model.prior = prior, o.model.integration.flow = "rk4"; },
                "flow = rk4 has no effect: " + flows);
    expect_idle([&](FitOptions& o) { o.model.prior = prior, o.model.integration.substeps = 9; },
                "substeps = 9 has no effect: " + flows);
  }
  expect_idle(
      [](FitOptions& o) { o.model.integration.order = 5; },
      "order = 5 has no effect: it is for the priors ar, lorenz and linear-motion; leave it "
      "out");
  expect_works([](FitOptions& o) { o.model.prior = "ar", o.model.integration.order = 5; });
  expect_works([](FitOptions& o) { o.model.prior = "lorenz", o.model.integration.order = 5; });
}

TEST(WithoutEffect, OptionsOfOtherFlows) {
  for (const char* prior : {"lorenz", "linear-motion"}) {
    expect_works([&](FitOptions& o) {
      o.model.prior = prior, o.model.integration.flow = "rk4", o.model.integration.substeps = 9;
    });
    expect_idle([&](FitOptions& o) { o.model.prior = prior, o.model.integration.substeps = 9; },
                "substeps = 9 has no effect: it is for flow = rk4; leave it out");
    expect_idle(
        [&](FitOptions& o) {
          o.model.prior = prior, o.model.integration.flow = "rk4", o.model.integration.order = 3;
        },
        "order = 3 has no effect: flow = rk4 has no Taylor series; it is for frozen and taylor; "
        "leave it out");
  }
}

TEST(WithoutEffect, OptionsOfAUsersEquations) {
  const auto with = [](const System& system, int order, int substeps) {
    return [=](FitOptions& o) {
      o.model.system = system;
      o.model.system.integration.order = order;
      o.model.system.integration.substeps = substeps;
    };
  };
  expect_works(with(equations(""), 2, 4));
  expect_works(with(equations("taylor"), 3, 0));
  expect_idle(with(equations(""), 3, 0),
              "system.order = 3 has no effect: the flow is rk4, and it is for taylor and frozen; "
              "leave it out");
  expect_idle(with(equations("taylor"), 2, 4),
              "system.substeps = 4 has no effect: it is for flow = rk4; leave it out");
  System map;
  map.states = {"x"};
  map.next = {{"x", "0.9*x"}};
  EXPECT_EQ(idle(with(map, 3, 4)).size(), 2u);
  System matrix;
  matrix.states = {"x"};
  matrix.matrix = {{"-1"}};
  expect_works(with(matrix, 3, 0));
  EXPECT_EQ(idle(with(matrix, 2, 4)).size(), 1u);
}

TEST(WithoutEffect, Departures) {
  expect_idle([](FitOptions& o) { o.model.prior = "constant-position", o.model.departure = 0.1; },
              "departure = 0.1 has no effect: constant-position has no entry to depart from; a "
              "departure_degree above 1 adds a drift; leave it out");
  expect_works([](FitOptions& o) { o.model.prior = "constant-position", o.model.departure = 0; });
  expect_works([](FitOptions& o) { o.model.prior = "constant-velocity", o.model.departure = 0.1; });
  expect_idle([](FitOptions& o) { o.model.departure = 0, o.model.departure_degree = 3; },
              "departure_degree = 3 has no effect: departure = 0, so there is none; leave it out");
}

// Every option that is about networks, on its own.
TEST(WithoutEffect, OptionsOfNetworksThatThereAreNone) {
  const std::vector<std::pair<std::string, Change>> changes = {
      {"encoder = lstm", [](FitOptions& o) { o.model.encoder = "lstm"; }},
      {"taps = 8", [](FitOptions& o) { o.model.taps = 8; }},
      {"filter = recurrent", [](FitOptions& o) { o.model.filter = "recurrent"; }},
      {"smoother = fused", [](FitOptions& o) { o.model.smoother = "fused"; }},
      {"keep_smoother = true", [](FitOptions& o) { o.model.keep_smoother = true; }},
      {"members = 2", [](FitOptions& o) { o.model.members = 2; }},
      {"decoder = [8,8]",
       [](FitOptions& o) {
         o.model.decoder = {8, 8};
       }},
      {"learning_rate = 0.125", [](FitOptions& o) { o.train.learning_rate = 0.125; }},
      {"updates = 20", [](FitOptions& o) { o.train.updates = 20; }},
      {"window = 16", [](FitOptions& o) { o.train.window = 16; }},
      {"batch = 4", [](FitOptions& o) { o.train.batch = 4; }},
      {"patience = 3", [](FitOptions& o) { o.train.patience = 3; }},
      {"gaps = 0.25", [](FitOptions& o) { o.train.gaps = 0.25; }},
      {"clip_norm = 2", [](FitOptions& o) { o.train.clip_norm = 2; }},
      {"weight_decay = 0.5", [](FitOptions& o) { o.train.weight_decay = 0.5; }}};
  for (const auto& [setting, change] : changes) {
    const auto sentences = idle([&](FitOptions& o) {
      o.model.hidden = 0;
      change(o);
    });
    ASSERT_EQ(sentences.size(), 1u) << setting;
    EXPECT_EQ(sentences[0].find(setting), 0u) << sentences[0];
    EXPECT_NE(sentences[0].find("hidden = 0, so there are no networks"), std::string::npos);
    if (setting != "taps = 8" && setting != "keep_smoother = true") expect_works(change);
  }
  expect_idle([](FitOptions& o) { o.model.taps = 8; },
              "taps = 8 has no effect: it is for encoder = conv, transformer or tcn; leave it out");
  for (const char* encoder : {"conv", "transformer", "tcn"})
    expect_works([=](FitOptions& o) { o.model.encoder = encoder, o.model.taps = 8; });
  expect_idle(
      [](FitOptions& o) { o.model.keep_smoother = true; },
      "keep_smoother = true has no effect: the linearized smoother is always kept; leave it "
      "out");
  expect_works([](FitOptions& o) { o.model.smoother = "fused", o.model.keep_smoother = true; });
}

TEST(WithoutEffect, AShareHeldOutBesideValidationData) {
  expect_works([](FitOptions& o) { o.train.holdout = 0.25; });
  expect_idle(
      [](FitOptions& o) { o.train.holdout = 0.25; },
      "holdout = 0.25 has no effect: the validation data are what is held out; leave it out", true);
}

}  // namespace
}  // namespace kalmia
