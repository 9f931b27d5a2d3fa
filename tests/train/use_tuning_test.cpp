#include "train/use_tuning.hpp"

#include <gtest/gtest.h>

#include "lanes/panel.hpp"
#include "nn/softplus.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

// A level in noise, and a model of it whose process noise is a hundred times too large.
struct WrongNoise {
  Case c{dataset_of({local_level(2000, 0.2, 1, 41)}), "constant-position"};
  StaticResult model = begin_static(c.description, c.channels, {}, c.scaled, c.everything());
  UseData data{c.scaled, c.everything(), 0, {4, 12}};
  ThreadTeam team{1};

  WrongNoise() {
    const model::Units& units = c.description.units;
    model.output.back() = nn::inverse_softplus(std::sqrt(20.0) / units.x_scale[0]);
    model.R = {1 / (units.y_scale[0] * units.y_scale[0])};
  }
  double loss(const StaticResult& of) {
    return mean_loss(data.score(*of.alone<float>(), LeftOut::Exactly, team));
  }
  double q(const StaticResult& of) const {
    return std::pow(c.description.units.x_scale[0] * nn::softplus(of.output.back()), 2);
  }
};

TEST(UseTuning, FindsTheNoiseThatIsBestInUse) {
  WrongNoise wrong;
  const StaticResult tuned = tuned_for_use(wrong.model, wrong.data, {}, wrong.team, {});
  EXPECT_LT(wrong.loss(tuned), wrong.loss(wrong.model) - 0.1);
  EXPECT_GT(wrong.q(tuned), 0.2 / 2.5);
  EXPECT_LT(wrong.q(tuned), 0.2 * 2.5);
  EXPECT_EQ(tuned.R, wrong.model.R);  // it is given
  // There is nothing left to do.
  const StaticResult again = tuned_for_use(tuned, wrong.data, {}, wrong.team, {});
  EXPECT_GT(wrong.loss(again), wrong.loss(tuned) - 0.01);
}

TEST(UseTuning, AStopKeepsTheBestSoFar) {
  WrongNoise wrong;
  int asked = 0;
  const StaticResult none =
      tuned_for_use(wrong.model, wrong.data, {}, wrong.team, [&] { return ++asked < 1; });
  EXPECT_EQ(none.output, wrong.model.output);
  EXPECT_EQ(asked, 1);
  const StaticResult some =
      tuned_for_use(wrong.model, wrong.data, {}, wrong.team, [&] { return ++asked < 5; });
  EXPECT_EQ(asked, 5);
  EXPECT_LE(wrong.loss(some), wrong.loss(wrong.model));
}

// Q -> D Q D, with D the factor at one state.
TEST(UseTuning, ProcessNoiseOfOneStateIsScaled) {
  const Case c(dataset_of({local_level(200, 0.2, 1, 42)}), "constant-velocity");
  StaticResult model = begin_static(c.description, c.channels, {}, c.scaled, c.everything());
  const auto L = std::span(model.output).last(3);
  L[static_cast<std::size_t>(lanes::triangle_index(1, 0))] = 0.3;
  const auto noise = [&] {
    const double a = nn::softplus(L[static_cast<std::size_t>(lanes::triangle_index(0, 0))]),
                 b = L[static_cast<std::size_t>(lanes::triangle_index(1, 0))],
                 d = nn::softplus(L[static_cast<std::size_t>(lanes::triangle_index(1, 1))]);
    return std::array{a * a, a * b, b * b + d * d};
  };
  const auto before = noise();
  scale_process_noise(1, 3, model);
  const auto after = noise();
  EXPECT_NEAR(after[0], before[0], 1e-12);
  EXPECT_NEAR(after[1], 3 * before[1], 1e-12);
  EXPECT_NEAR(after[2], 9 * before[2], 1e-12 * after[2]);
}

}  // namespace
}  // namespace kalmia::train
