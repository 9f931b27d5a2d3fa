#include "model/smoother_networks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "kalmia/error.hpp"
#include "model/learned_cases.hpp"

namespace kalmia::model {
namespace {

TEST(SmootherNetworks, TheSmootherHasNetworksOfItsOwn) {
  const auto model = test::network_case(2, 81).make<float>();
  EXPECT_EQ(model->smoother(), nullptr);
  test::give_smoother(*model, 82);
  ASSERT_NE(model->smoother(), nullptr);
  const heads::ArchitectureOptions& options = model->smoother()->architecture().options;
  EXPECT_TRUE(options.head == heads::HeadKind::Fusion);
  EXPECT_FALSE(options.recursive());
  EXPECT_FALSE(options.two_sided);
  EXPECT_EQ(options.hidden, 7);
  EXPECT_EQ(options.decoder, std::vector<int>{6});
  EXPECT_EQ(options.state_dim, 4);
  EXPECT_EQ(options.meas_dim, 2);
  EXPECT_EQ(options.input_dim, model->description().features.channel_features());
  // The window is the filter's in all but the networks.
  const heads::StateModel<float> filter = model->window(), smoother = model->smoother_window();
  EXPECT_EQ(smoother.architecture, &model->smoother()->architecture());
  EXPECT_EQ(smoother.network, &model->smoother()->network());
  EXPECT_EQ(smoother.emission, filter.emission);
  EXPECT_EQ(smoother.emission_map, filter.emission_map);
  EXPECT_EQ(smoother.theta, filter.theta);
  EXPECT_EQ(filter.architecture, &model->architecture());
}

TEST(SmootherNetworks, TheKindSaysWhatTheyRead) {
  const auto model = test::network_case(2, 81).make<float>();
  for (const char* name : {"recurrent", "recursive", "recursive-alternative"}) {
    SCOPED_TRACE(name);
    const SmootherKind kind = smoother_of_name(name);
    EXPECT_EQ(smoother_name(kind), name);
    test::give_smoother(*model, 82, kind);
    const heads::ArchitectureOptions& options = model->smoother()->architecture().options;
    EXPECT_FALSE(options.head == heads::HeadKind::Fusion);
    EXPECT_TRUE(options.two_sided);
    EXPECT_TRUE(model->smoother()->two_sided());
    EXPECT_EQ(options.recursive(), kind != SmootherKind::Recurrent);
    EXPECT_EQ(options.posterior == heads::PosteriorRule::Alternative,
              kind == SmootherKind::RecursiveAlternative);
    EXPECT_EQ(options.input_dim, model->description().features.input_dim());
  }
  EXPECT_EQ(smoother_name(smoother_of_name("fused")), "fused");
  EXPECT_THROW(smoother_of_name("linearized"), ConfigError);
}

TEST(SmootherNetworks, NewNumbersStayInPlace) {
  const auto model = test::network_case(2, 81).make<float>();
  test::give_smoother(*model, 82);
  const SmootherNetworks* networks = model->smoother();
  const heads::PackedModel<float>* packed = &networks->network();
  std::vector<float> numbers(networks->parameters().begin(), networks->parameters().end());
  for (float& each : numbers) each += 1;
  model->set_smoother_parameters(numbers);
  EXPECT_EQ(model->smoother(), networks);  // the engine holds pointers to it
  EXPECT_EQ(&networks->network(), packed);
  EXPECT_TRUE(std::ranges::equal(networks->parameters(), numbers));
}

TEST(SmootherNetworks, WhatDoesNotFitIsRefusedAndChangesNothing) {
  const auto model = test::network_case(2, 81).make<float>();
  test::give_smoother(*model, 82);
  const std::vector<float> good(model->smoother()->parameters().begin(),
                                model->smoother()->parameters().end());
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
    EXPECT_EQ(said([&] { model->set_smoother_parameters(numbers); }), message);
    EXPECT_EQ(said([&] { model->set_smoother({7, {6}}, numbers); }), message);
    ASSERT_NE(model->smoother(), nullptr);
    EXPECT_TRUE(std::ranges::equal(model->smoother()->parameters(), good));
    EXPECT_EQ(model->description().smoother.hidden, 7);
  };
  numbers.pop_back();
  expect_refused("model: the smoother has " + std::to_string(good.size() - 1) +
                 " parameters, but " + std::to_string(good.size()) + " are needed");
  numbers = good;
  numbers[3] = std::numeric_limits<float>::infinity();
  expect_refused("model: a parameter of the smoother is not finite");
}

TEST(SmootherNetworks, ASmootherCanBeTakenAwayAndGivenItsOwnNumbers) {
  const auto model = test::network_case(2, 81).make<float>();
  test::give_smoother(*model, 82);
  const std::vector<float> good(model->smoother()->parameters().begin(),
                                model->smoother()->parameters().end());
  model->set_smoother({7, {6}}, model->smoother()->parameters());
  EXPECT_TRUE(std::ranges::equal(model->smoother()->parameters(), good));
  model->set_smoother({}, {});
  EXPECT_EQ(model->smoother(), nullptr);
  EXPECT_EQ(model->description().smoother.hidden, 0);
  EXPECT_TRUE(model->description().smoother.decoder.empty());
}

}  // namespace
}  // namespace kalmia::model
