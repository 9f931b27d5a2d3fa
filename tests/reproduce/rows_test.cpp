#include "reproduce/rows.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace kalmia::reproduction {
namespace {

ReproduceRow full() {
  ReproduceRow row;
  row.method = "recursive-filter";
  row.n = 512;
  row.seed = 2;
  row.state_mse = 0.1 + 1.0 / 3;
  row.position_mse = 0.25;
  row.nees = 1.5;
  row.coverage95 = 0.9;
  row.seconds = 2.25;
  row.self_supervised_error = 0.75;
  row.reducible_error = 0.5;
  row.prediction_error = 0.125;
  row.reducible_error_std = 0.0625;
  row.held_out = -1;
  row.leak = 0.01;
  row.networks_kept = true;
  return row;
}

TEST(Rows, BeginWithTheFiguresOfTheTable) {
  const Json json = row_json(full());
  std::vector<std::string> names;
  for (const auto& [name, value] : json.items()) names.push_back(name);
  names.resize(8);
  EXPECT_EQ(names, (std::vector<std::string>{"method", "n", "seed", "state_mse", "position_mse",
                                             "nees", "coverage95", "seconds"}));
}

TEST(Rows, ComeBackFromJson) {
  const Json json = row_json(full());
  EXPECT_EQ(row_json(row_from_json(Json::parse(json.dump()))), json);
  ReproduceRow empty;
  empty.method = "raw";
  empty.error = "it broke";
  const ReproduceRow back = row_from_json(row_json(empty));
  EXPECT_FALSE(back.state_mse);
  EXPECT_FALSE(back.networks_kept);
  EXPECT_EQ(back.error, "it broke");
}

TEST(Rows, WhatIsNotFiniteIsNull) {
  ReproduceRow row = full();
  row.nees = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(row_json(row)["nees"].is_null());
  EXPECT_NE(rows_csv({row}).find(",0.25,,0.9,"), std::string::npos) << rows_csv({row});
}

TEST(Rows, AsCsv) {
  ReproduceRow failed;
  failed.method = "raw";
  failed.error = "step 3, \"x\"";
  EXPECT_EQ(
      rows_csv({full(), failed}),
      "method,n,seed,state_mse,position_mse,nees,coverage95,seconds,self_supervised_error,"
      "reducible_error,prediction_error,reducible_error_std,held_out,leak,networks_kept,error\n"
      "recursive-filter,512,2,0.43333333333333335,0.25,1.5,0.9,2.250,0.75,0.5,0.125,0.0625,-1,0.01,"
      "1,\n"
      "raw,0,0,,,,,0.000,,,,,,,,\"step 3, \"\"x\"\"\"\n");
}

TEST(Rows, TrajectoriesSideBySide) {
  EXPECT_EQ(trajectories_csv({{"noisy", {1, 2, 3, 4}}, {"eks", {5, 6}}}, {"y1", "y2"}),
            "step,noisy_y1,noisy_y2,eks_y1,eks_y2\n0,1,2,5,6\n1,3,4,,\n");
}

}  // namespace
}  // namespace kalmia::reproduction
