#include "model/fusion_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "kalmia/error.hpp"
#include "model/learned_cases.hpp"

namespace kalmia::model {
namespace {

TEST(FusionModel, TheSmootherHasNetworksOfItsOwn) {
  const auto model = test::network_case(2, 81).make<float>();
  EXPECT_EQ(model->fusion(), nullptr);
  test::give_smoother(*model, 82);
  ASSERT_NE(model->fusion(), nullptr);
  const ArchitectureOptions& options = model->fusion()->architecture().options;
  EXPECT_TRUE(options.fusion);
  EXPECT_FALSE(options.recursive);
  EXPECT_FALSE(options.two_sided);
  EXPECT_EQ(options.hidden, 7);
  EXPECT_EQ(options.decoder, std::vector<int>{6});
  EXPECT_EQ(options.state_dim, 4);
  EXPECT_EQ(options.meas_dim, 2);
  EXPECT_EQ(options.input_dim, model->description().features.channel_features());
  // The window is the filter's in all but the networks.
  const WindowModel<float> filter = model->window(), smoother = model->fusion_window();
  EXPECT_EQ(smoother.architecture, &model->fusion()->architecture());
  EXPECT_EQ(smoother.network, &model->fusion()->network());
  EXPECT_EQ(smoother.emission, filter.emission);
  EXPECT_EQ(smoother.emission_map, filter.emission_map);
  EXPECT_EQ(smoother.theta, filter.theta);
  EXPECT_EQ(filter.architecture, &model->architecture());
}

TEST(FusionModel, NewNumbersStayInPlace) {
  const auto model = test::network_case(2, 81).make<float>();
  test::give_smoother(*model, 82);
  const FusionNetworks* networks = model->fusion();
  const PackedNetwork<float>* packed = &networks->network();
  std::vector<float> numbers(networks->parameters().begin(), networks->parameters().end());
  for (float& each : numbers) each += 1;
  model->set_fusion_parameters(numbers);
  EXPECT_EQ(model->fusion(), networks);  // the engine holds pointers to it
  EXPECT_EQ(&networks->network(), packed);
  EXPECT_TRUE(std::ranges::equal(networks->parameters(), numbers));
}

TEST(FusionModel, WhatDoesNotFitIsRefusedAndChangesNothing) {
  const auto model = test::network_case(2, 81).make<float>();
  test::give_smoother(*model, 82);
  const std::vector<float> good(model->fusion()->parameters().begin(),
                                model->fusion()->parameters().end());
  std::vector<float> numbers = good;
  const auto expect_refused = [&](const std::string& message) {
    const auto said = [&](const std::function<void()>& call) {
      try {
        call();
      } catch (const ConfigError& error) {
        return std::string(error.what());
      }
      return std::string("nothing was thrown");
    };
    EXPECT_EQ(said([&] { model->set_fusion_parameters(numbers); }), message);
    EXPECT_EQ(said([&] { model->set_fusion({7, {6}}, numbers); }), message);
    ASSERT_NE(model->fusion(), nullptr);
    EXPECT_TRUE(std::ranges::equal(model->fusion()->parameters(), good));
    EXPECT_EQ(model->description().fusion.hidden, 7);
  };
  numbers.pop_back();
  expect_refused("model: the smoother has " + std::to_string(good.size() - 1) +
                 " parameters, but " + std::to_string(good.size()) + " are needed");
  numbers = good;
  numbers[3] = std::numeric_limits<float>::infinity();
  expect_refused("model: a parameter of the smoother is not finite");
}

TEST(FusionModel, ASmootherCanBeTakenAwayAndGivenItsOwnNumbers) {
  const auto model = test::network_case(2, 81).make<float>();
  test::give_smoother(*model, 82);
  const std::vector<float> good(model->fusion()->parameters().begin(),
                                model->fusion()->parameters().end());
  model->set_fusion({7, {6}}, model->fusion()->parameters());
  EXPECT_TRUE(std::ranges::equal(model->fusion()->parameters(), good));
  model->set_fusion({}, {});
  EXPECT_EQ(model->fusion(), nullptr);
  EXPECT_EQ(model->description().fusion.hidden, 0);
  EXPECT_TRUE(model->description().fusion.decoder.empty());
}

}  // namespace
}  // namespace kalmia::model
