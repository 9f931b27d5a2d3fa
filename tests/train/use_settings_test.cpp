#include "train/use_settings.hpp"

#include <gtest/gtest.h>

#include "kalmia/fit.hpp"
#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

// A walk whose networks add the same at every step.
struct Residual {
  Case c;
  std::unique_ptr<model::LearnedModel<float>> model;
  ThreadTeam team{1};
  Split split;

  // What they add, in the units of the model.
  explicit Residual(float offset) : c(ramp(), "constant-position") {
    StaticResult start;
    start.description = c.description;
    start.R = {1};
    start.output = {0, 0, 8};
    start.initial_e = {0};
    start.initial_L = {5};
    model = start.with_networks<float>(4, {}, 1);
    std::vector<float> parameters(model->parameters().begin(), model->parameters().end());
    parameters[static_cast<std::size_t>(model->architecture().decoder.bias.back() + 1)] = offset;
    model->set_parameters(parameters);
    split = split_data({c.data.series[0].steps}, 0.3, 1);
  }
  // It rises by one unit a step.
  static Dataset ramp() {
    RandomStream random(3, "ramp");
    std::vector<double> y;
    for (int k = 0; k < 900; ++k) y.push_back(k + 0.1 * random.normal());
    return dataset_of({y});
  }
};

TEST(GapTrust, WhatPredictsThroughGapsIsKept) {
  Residual right(0);
  const double step = 1 / right.c.description.units.y_scale[0];
  Residual rises(static_cast<float>(step));
  EXPECT_EQ(find_gap_trust(*rises.model, rises.c.scaled, rises.split, rises.team), 1);
  Residual falls(static_cast<float>(-step));
  EXPECT_EQ(find_gap_trust(*falls.model, falls.c.scaled, falls.split, falls.team), 0);
  // The model itself is as it was.
  EXPECT_EQ(falls.model->description().gap_trust, 1);
}

TEST(GapTrust, DoesNotDependOnTheTrustBefore) {
  Residual any(0);
  const auto step = static_cast<float>(1 / any.c.description.units.y_scale[0]);
  for (const float offset : {step, -step})
    for (const double before : {0.0, 1.0}) {
      Residual moves(offset);
      moves.model->set_gap_trust(before);
      EXPECT_EQ(find_gap_trust(*moves.model, moves.c.scaled, moves.split, moves.team),
                offset > 0 ? 1 : 0);
      EXPECT_EQ(moves.model->description().gap_trust, before);
    }
}

TEST(GapTrust, AModelWithoutNetworksStaysAsItIs) {
  Residual any(0);
  StaticResult start;
  start.description = any.c.description;
  start.R = {1};
  start.output = {0, 0, 8};
  start.initial_e = {0};
  start.initial_L = {5};
  const auto alone = start.alone<float>();
  EXPECT_EQ(find_gap_trust(*alone, any.c.scaled, any.split, any.team), 1);
}

}  // namespace
}  // namespace kalmia::train
