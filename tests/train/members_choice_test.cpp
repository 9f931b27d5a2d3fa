#include <gtest/gtest.h>

#include "train/members.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

// A level with Student-t noise of 3 degrees of freedom and unit scale.
Dataset level(int steps) {
  RandomStream random(5, "student level");
  std::vector<double> y;
  double x = 0;
  for (int k = 0; k < steps; ++k) {
    x += 0.3 * random.normal();
    double chi_square = 0;
    for (int i = 0; i < 3; ++i) chi_square += std::pow(random.normal(), 2);
    y.push_back(x + random.normal() * std::sqrt(3 / chi_square));
  }
  return dataset_of({y});
}

struct Choice {
  explicit Choice(double tails) : c(level(6000), "constant-position") {
    c.description.tails = tails;
    model::NoiseSpec noise;
    noise.kind = model::NoiseSpec::Kind::Given;
    noise.R = {1};
    split = split_data({6000}, 0.3, 1);
    fitted = fit_static(c.description, c.channels, noise, c.scaled, split.training, team);
  }

  // The fitted model with this factor on the deviation of its process noise, as networks could have
  // it. In units of the best smoother's error, that of a factor f is (f + 1 / f) / 2, and f is what
  // it claims.
  std::unique_ptr<model::LearnedModel<float>> with(double process) const {
    StaticResult other = fitted;
    const double L = std::log1p(std::exp(other.output.back())) * process;
    other.output.back() = std::log(std::expm1(L));
    return other.with_networks<float>(4, {}, 1);
  }
  std::string against(double process, double before = 1) {
    return against_networks(*with(before), *with(process), c.scaled, split, team);
  }

  ThreadTeam team{2};
  Case c;
  Split split;
  StaticResult fitted;
};

TEST(NetworkChoice, NetworksThatFollowTheNoiseAreNotWorthHaving) {
  Choice choice(3);
  EXPECT_NE(choice.against(8).find("smoothing"), std::string::npos) << choice.against(8);
}

TEST(NetworkChoice, NorAreThoseThatLag) {
  Choice choice(3);
  EXPECT_NE(choice.against(0.1).find("estimated error"), std::string::npos) << choice.against(0.1);
}

TEST(NetworkChoice, NorThoseThatChangeNothing) {
  Choice choice(3);
  EXPECT_FALSE(choice.against(1).empty());
}

// The error is smaller, but not as small as they claim.
TEST(NetworkChoice, NorThoseWhoseBarsAreTooNarrow) {
  Choice choice(3);
  const std::string reason = choice.against(0.5, 4);
  EXPECT_NE(reason.find("bars"), std::string::npos) << reason;
}

TEST(NetworkChoice, ThoseThatAreBetterAre) {
  Choice choice(3);
  EXPECT_EQ(choice.against(1, 0.15), "");
}

TEST(NetworkChoice, UnderGaussianNoiseTheLikelihoodDecides) {
  Choice choice(0);
  EXPECT_EQ(choice.against(8), "");
}

}  // namespace
}  // namespace kalmia::train
