#include "train/fit_options.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

TEST(FitOptions, ValidateNamesEveryViolatedRule) {
  FitOptions().validate();
  FitOptions o;
  o.model.integration.order = -1;
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
  const std::string message = kalmia::message_of<ConfigError>([&] { o.validate(); });
  for (const char* name :
       {"model.order = -1", "model.hidden = -1", "model.members = 0, but it must be in 1..64",
        "model.decoder = 0", "train.learning_rate = 0", "train.updates = -1", "train.window = 1",
        "train.batch = 0", "train.patience = 0", "train.holdout = 0", "train.gaps = -0.1",
        "train.clip_norm = nan", "train.weight_decay = inf", "train.threads = -1"})
    EXPECT_NE(message.find(name), std::string::npos) << name << "\n" << message;
}

// Of every kind: names, forms, numbers and what cannot go together. Each with its value, its rule
// and what to do.
TEST(FitOptions, TenWrongOptionsAreTenLinesOfOneMessage) {
  FitOptions o;
  o.model.prior = "constant-velosity";
  o.model.integration.flow = "rk5";
  o.model.latent = 3;
  o.model.noise = "1,2;2,1";
  o.model.tails = "0.5";
  o.model.encoder = "gruu";
  o.model.taps = 0;
  o.model.smoother = "recursive";
  o.train.holdout = 0.9;
  o.train.window = 1;
  EXPECT_EQ(o.violations().size(), 9u);
  EXPECT_EQ(
      kalmia::message_of<ConfigError>([&] { o.validate(); }),
      "invalid options:\n"
      "  model.taps = 0, but it must be in 1..4096; left out, it is 16\n"
      "  model.prior = \"constant-velosity\", but it must be auto, constant-position, "
      "mean-reverting, constant-velocity, damped-velocity, constant-acceleration, oscillator, ar, "
      "coordinated-turn, lorenz, linear-motion, none, system or a sum as in trend + season(24); did "
      "you mean constant-velocity?\n"
      "  model.flow = \"rk5\", but it must be frozen, taylor or rk4; did you mean rk4?\n"
      "  model.noise = \"1,2;2,1\": R has the eigenvalue -1, but it must be positive definite "
      "(a measurement without noise makes the innovation covariance singular)\n"
      "  model.tails = \"0.5\", but it must be auto, gaussian or learn, or degrees of freedom of "
      "Student's t in 1..1000000\n"
      "  model.encoder = \"gruu\", but it must be gru, lstm, conv, transformer or tcn; did you "
      "mean gru?\n"
      "  model.latent = 3 with prior = constant-velosity, but latent states are for none; take "
      "that prior, or leave them out\n"
      "  train.window = 1, but it must be in 2..4096 (one step has no transition to learn); left "
      "out, it is 32\n"
      "  train.holdout = 0.9, but it must be above 0 and at most 0.5; left out, it is 0.15");
}

TEST(FitOptions, AreReadOnce) {
  FitOptions o;
  o.model.prior = "none";
  o.train.seed = 17;
  const train::FitSpec spec = train::parse_options(o);
  EXPECT_TRUE(spec.model.is_prior(prior::PriorKind::None));
  EXPECT_EQ(spec.train.seed, 17u);
  o.model.hidden = -1;
  EXPECT_THROW(train::parse_options(o), ConfigError);
}

TEST(FitOptions, ValidateKnowsTheUpperEnds) {
  const auto refused = [](auto change) {
    FitOptions o;
    change(o);
    EXPECT_THROW(o.validate(), ConfigError);
  };
  refused([](FitOptions& o) { o.model.integration.order = 21; });
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

TEST(FitOptions, SmoothersMayNeedGaussianNoise) {
  FitOptions o;
  o.model.filter = "recurrent";
  for (const char* smoother :
       {"linearized", "fused", "recurrent", "recursive", "recursive-alternative"}) {
    o.model.smoother = smoother;
    o.validate();
  }
  o.model.tails = std::string("4");
  EXPECT_THROW(o.validate(), ConfigError);
  o.model.smoother = "recursive";
  o.validate();
}

}  // namespace
}  // namespace kalmia
