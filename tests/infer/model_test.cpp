#include "kalmia/model.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "infer/infer_cases.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

using test::expect_same_bits;
using test::motion_data;
using test::public_model;

TEST(Model, TellsItsMatricesInTheUsersUnits) {
  const Model model = public_model(test::static_case(2));
  const reference::DenseSystem system = test::static_system(test::motion_description(2));
  EXPECT_EQ(model.state_dim(), 4);
  EXPECT_EQ(model.meas_dim(), 2);
  EXPECT_EQ(model.measured_names(), (std::vector<std::string>{"north", "east"}));
  EXPECT_EQ(model.emission(std::vector<double>(4)), test::row_major(system.H));
  EXPECT_THROW(model.emission(std::vector<double>(3)), ConfigError);
  EXPECT_EQ(model.noise(), test::row_major(system.R));
  EXPECT_EQ(nlohmann::json::parse(model.info_json()).at("dt"), 0.5);
}

TEST(Model, WhatCannotBeAskedForIsRefused) {
  const Model model = public_model(test::static_case(1));
  const Dataset data = motion_data(1, {3}, 95);
  EXPECT_EQ(message_of<ConfigError>([&] { model.forecast(data, 0, 1); }),
            "horizon = 0, but it must be >= 1");
  EXPECT_EQ(message_of<ConfigError>([&] { model.sample(data, 0, 1, 1); }),
            "count = 0, but it must be >= 1");
}

TEST(Model, DataThatDoNotFitAreRefused) {
  const Model model = public_model(test::static_case(2));
  EXPECT_EQ(message_of<DataError>([&] { model.filter(motion_data(1, {3}, 96), 1); }),
            "walk.csv: the data have 1 measured columns, but the model has 2 (north, east); name "
            "them with --measure");
  Dataset data = motion_data(2, {3, 6}, 97);
  data.series[1].y[2 * 4 + 1] = -std::numeric_limits<double>::infinity();
  const std::string infinite = message_of<DataError>([&] { model.smooth(data, 1); });
  EXPECT_EQ(infinite,
            "walk.csv, series \"r2\", step 5, column east: the value is infinite; leave it empty "
            "to mark it as missing");
  EXPECT_EQ(message_of<DataError>([&] { model.forecast(data, 1, 1); }), infinite);
  EXPECT_EQ(message_of<DataError>([&] { model.sample(data, 1, 1, 1); }), infinite);
  EXPECT_EQ(message_of<DataError>([&] { model.innovations(data, 1); }), infinite);
  data.series[1].y.pop_back();
  EXPECT_NE(
      message_of<DataError>([&] { model.filter(data, 1); }).find("has 11 values, but 6 steps"),
      std::string::npos);
}

TEST(Model, ABreakdownNamesSeriesAndStep) {
  const Model model = public_model(test::network_case(2, 98));
  Dataset data = motion_data(2, {90, 50, 130}, 99);
  data.series[1].y[2 * 40] = 1e200;
  const auto expect_named = [](const std::string& message) {
    EXPECT_EQ(message.rfind("walk.csv, series \"r2\", step 41: ", 0), 0u) << message;
  };
  expect_named(message_of<NumericalError>([&] { model.filter(data, 1); }));
  expect_named(message_of<NumericalError>([&] { model.smooth(data, 2); }));
  expect_named(message_of<NumericalError>([&] { model.sample(data, 1, 1, 1); }));
  expect_named(message_of<NumericalError>([&] { model.innovations(data, 1); }));
  expect_named(message_of<NumericalError>([&] { model.forecast(data, 1, 2); }));
}

TEST(Model, AFileGivesTheSameModel) {
  const ScratchFolder folder;
  const Model model = public_model(test::network_case(2, 100));
  model.save(folder.file("m.kalmia"));
  const Model loaded = Model::load(folder.file("m.kalmia"));
  const Dataset data = motion_data(2, {80, 10}, 101);
  expect_same_bits(model.smooth(data, 1), loaded.smooth(data, 1));
  EXPECT_EQ(model.info_json(), loaded.info_json());
  EXPECT_EQ(folder.files(), 1u);
  EXPECT_THROW(Model::load(folder.file("none.kalmia")), IoError);
  EXPECT_THROW(model.save(folder.file("none/m.kalmia")), IoError);
  const std::string csv = folder.file("data.csv", "t,y\n0,1\n");
  const std::string message = message_of<DataError>([&] { Model::load(csv); });
  EXPECT_NE(message.find("data.csv: not a Kalmia model"), std::string::npos) << message;
}

}  // namespace
}  // namespace kalmia
