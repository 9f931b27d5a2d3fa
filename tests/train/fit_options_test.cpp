#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "kalmia/error.hpp"
#include "kalmia/fit.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

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
            "invalid options:\n  model.filter = recursiv, but it must be recursive, recurrent or "
            "diagonal\n"
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
}  // namespace kalmia
