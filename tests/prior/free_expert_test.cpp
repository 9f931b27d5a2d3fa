// none: what it starts from, and that all of it is free.
#include <gtest/gtest.h>

#include "kalmia/error.hpp"
#include "prior/expert.hpp"
#include "prior/prior_cases.hpp"
#include "support/expert_spec.hpp"

namespace kalmia::prior {
namespace {

ExpertSpec free_spec(int latent, double departure = 1) {
  ExpertSpec spec = test::named("none");
  spec.latent = latent;
  spec.departure = departure;
  return spec;
}

TEST(FreeExpert, WithoutLatentStatesNothingIsKnown) {
  const Expert expert = make_expert(free_spec(0), {"a", "b"});
  EXPECT_EQ(expert.state_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(local_map(expert, {Vector{{1.0, 2.0}}}).F, Matrix::Zero(2, 2));
}

TEST(FreeExpert, LatentStatesStartAsLags) {
  const Expert expert = make_expert(free_spec(3), {"a", "b"});
  EXPECT_EQ(expert.state_names,
            (std::vector<std::string>{"a", "b", "latent_1", "latent_2", "latent_3"}));
  EXPECT_EQ(expert.measured_state, (std::vector<int>{0, 1}));
  EXPECT_EQ(expert.H, (std::vector<double>{1, 0, 0, 0, 0, 0, 1, 0, 0, 0}));
  const LocalMap map = local_map(expert, {Vector::Zero(5)});
  const Matrix start{{0, 0, 0.1, 0, 0.1},  // a: weakly, its lags
                     {0, 0, 0, 0.1, 0},    // b
                     {1, 0, 0, 0, 0},      // latent_1: a before
                     {0, 1, 0, 0, 0},      // latent_2: b before
                     {0, 0, 1, 0, 0}};     // latent_3: a before that
  EXPECT_EQ(map.F, start);
  EXPECT_EQ(map.e, Vector::Zero(5));
}

TEST(FreeExpert, EveryEntryIsLearned) {
  const Expert expert = make_expert(free_spec(1, 0.7), {"a"});
  ASSERT_EQ(expert.parameters.size(), 4u);
  for (const ExpertParameter& each : expert.parameters) {
    EXPECT_TRUE(each.learn);
    EXPECT_EQ(each.prior_std, 0.7);
  }
  const LocalMap map =
      local_map(expert, {Vector::Zero(2), 1, Vector(0), Vector{{0.5, 0.25, -1, 2}}});
  EXPECT_EQ(map.F, (Matrix{{0.5, 0.35}, {0, 2}}));
}

TEST(FreeExpert, MistakesAreSaid) {
  const auto message = [](const ExpertSpec& spec, const std::vector<std::string>& channels) {
    try {
      make_expert(spec, channels);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message(free_spec(65), {"a"}), "latent = 65, but it must be in 0..64");
  EXPECT_EQ(message(free_spec(-1), {"a"}), "latent = -1, but it must be in 0..64");
  EXPECT_EQ(message(free_spec(2), {"latent_2"}),
            "latent = 2: the measured column latent_2 has the name of a latent state; rename it");
  ExpertSpec other = test::named("oscillator");
  other.latent = 2;
  EXPECT_EQ(message(other, {"a"}),
            "latent = 2, but prior = \"oscillator\" has states of its own; latent states are for "
            "none");
}

}  // namespace
}  // namespace kalmia::prior
