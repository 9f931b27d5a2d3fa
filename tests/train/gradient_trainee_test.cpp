#include "train/gradient_trainee.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace kalmia::train {
namespace {

// Half the squared distance of two numbers from 3 and, of the noise, of one from 1.
class Bowl : public GradientTrainee {
 public:
  explicit Bowl(bool learn_noise) {
    TrainOptions options;
    options.learning_rate = 0.125;
    const std::vector<float> start = {1, 2};
    const std::vector<double> noise(learn_noise ? 1 : 0, 0.5);
    networks = start;
    noises = noise;
    begin({start, noise}, options);
  }

  int steps() const override { return 1; }
  Parameters kept() const { return best(); }

  std::optional<double> loss = 1.0;
  bool finite = true;
  std::vector<float> networks;  // set last
  std::vector<double> noises;
  std::vector<float> scored;
  std::vector<double> rates;
  int restarts = 0;

 private:
  std::optional<double> next_gradient(std::span<float> of_networks,
                                      std::span<double> of_noise) override {
    for (std::size_t i = 0; i < of_networks.size(); ++i)
      of_networks[i] = finite ? networks[i] - 3 : std::nanf("");
    EXPECT_EQ(of_noise.size(), noises.size());
    EXPECT_EQ(current_noise().size(), noises.size());
    for (std::size_t i = 0; i < of_noise.size(); ++i) of_noise[i] = noises[i] - 1;
    return loss;
  }
  void after_step(std::span<float>, double rate) override { rates.push_back(rate); }
  void set(const Parameters& parameters) override {
    networks.assign(parameters.networks.begin(), parameters.networks.end());
    noises.assign(parameters.noise.begin(), parameters.noise.end());
  }
  double held_out(const Parameters& parameters) override {
    scored.assign(parameters.networks.begin(), parameters.networks.end());
    return 7;
  }
  void restart() override { ++restarts; }
};

TEST(GradientTrainee, AnUpdateStepsAndSets) {
  Bowl bowl(true);
  EXPECT_EQ(bowl.train_once(1), 1.0);
  // Adam's first step is as long as its step size.
  EXPECT_NEAR(bowl.networks[0], 1.125, 1e-6);
  EXPECT_NEAR(bowl.networks[1], 2.125, 1e-6);
  EXPECT_NEAR(bowl.noises[0], 0.625, 1e-6);
  EXPECT_EQ(bowl.rates, std::vector<double>{1});
  for (int i = 0; i < 500; ++i) bowl.train_once(0.5);
  EXPECT_NEAR(bowl.networks[0], 3, 1e-2);
  EXPECT_NEAR(bowl.noises[0], 1, 1e-2);
}

TEST(GradientTrainee, WithoutAFiniteLossOrGradientNothingChanges) {
  Bowl bowl(true);
  bowl.loss = std::nullopt;
  EXPECT_EQ(bowl.train_once(1), std::nullopt);
  bowl.loss = std::nan("");
  EXPECT_TRUE(std::isnan(bowl.train_once(1).value()));
  bowl.loss = 1.0;
  bowl.finite = false;
  EXPECT_TRUE(std::isnan(bowl.train_once(1).value()));
  EXPECT_EQ(bowl.networks, (std::vector<float>{1, 2}));
  EXPECT_EQ(bowl.noises, std::vector<double>{0.5});
  EXPECT_TRUE(bowl.rates.empty());
}

// What is scored, and kept, is the average; training goes on where it was.
TEST(GradientTrainee, TheAverageIsScoredAndKept) {
  Bowl bowl(false);
  for (int i = 0; i < 3; ++i) bowl.train_once(1);
  const std::vector<float> now = bowl.networks;
  EXPECT_EQ(bowl.check(), 7);
  EXPECT_EQ(bowl.networks, now);
  EXPECT_LT(bowl.scored[0], now[0]);
  EXPECT_GT(bowl.scored[0], 1);
  EXPECT_EQ(bowl.kept().networks[0], 1);  // the start, until something is kept
  bowl.keep();
  EXPECT_EQ(bowl.kept().networks[0], bowl.scored[0]);
  EXPECT_TRUE(bowl.kept().noise.empty());
}

TEST(GradientTrainee, GoesBackToWhatWasKept) {
  Bowl bowl(true);
  for (int i = 0; i < 3; ++i) bowl.train_once(1);
  bowl.check();
  bowl.keep();
  const std::vector<float> kept = bowl.scored;
  const double noise = bowl.kept().noise[0];
  for (int i = 0; i < 3; ++i) bowl.train_once(1);
  EXPECT_NE(bowl.networks, kept);
  bowl.go_back();
  EXPECT_EQ(bowl.networks, kept);
  EXPECT_EQ(bowl.noises, std::vector<double>{noise});
  EXPECT_EQ(bowl.restarts, 1);
}

TEST(BatchLoss, IsTheMeanOfAMeasuredValueUnlessTooMuchFailed) {
  engine::BatchResult result;
  Measured none, some;
  EXPECT_EQ(batch_loss(none, result, 8), std::nullopt);
  some.values = 4;
  result.nll = 6;
  EXPECT_EQ(batch_loss(some, result, 8), some.loss(6));
  result.failed_lanes = 2;
  EXPECT_EQ(batch_loss(some, result, 8), some.loss(6));
  result.failed_lanes = 3;
  EXPECT_TRUE(std::isnan(batch_loss(some, result, 8).value()));
  result.failed_lanes = 0;
  result.nll = std::nan("");
  EXPECT_TRUE(std::isnan(batch_loss(some, result, 8).value()));
  EXPECT_EQ(loss_scale(some), 0.125);
  EXPECT_EQ(loss_scale(none), 0.5);
}

}  // namespace
}  // namespace kalmia::train
