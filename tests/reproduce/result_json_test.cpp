#include "reproduce/result_json.hpp"

#include <gtest/gtest.h>

#include "kalmia/version.hpp"

namespace kalmia::reproduction {
namespace {

Reproduction small_reproduction() {
  Reproduction result;
  result.options.experiment = "linear";
  result.options.sizes = {128};
  result.options.seeds = 1;
  result.options.threads = 2;
  result.started = "2026-01-02T03:04:05Z";
  result.seconds = 1.5;
  result.complete = true;
  result.methods = {{"kalman-optimal", "the best", false, false, true, 0.135}};
  ReproduceRow row;
  row.method = "kalman-optimal";
  row.n = 128;
  row.seed = 1;
  row.state_mse = 0.25;
  row.reducible_error = 0.5;
  row.prediction_error = 0.625;
  result.rows = {row};
  result.summary = {{"kalman-optimal", 128, 1, {0.25, 0.25, 0.25}, {}, {}, {}}};
  result.smoother_check = {64, 1e-13, 2e-14};
  return result;
}

TEST(ResultJson, HasRowsMediansTheoryAndProvenance) {
  const Json json = result_json(small_reproduction());
  EXPECT_EQ(json["experiment"], "linear");
  EXPECT_EQ(json["rows"][0]["state_mse"], 0.25);
  EXPECT_EQ(json["methods"][0]["paper_state_mse"], 0.135);
  EXPECT_EQ(json["methods"][0]["self_supervised"], false);
  EXPECT_EQ(json["summary"][0]["state_mse"]["median"], 0.25);
  EXPECT_TRUE(json["summary"][0]["position_mse"]["median"].is_null());
  EXPECT_EQ(json["theory"]["decomposition"][0]["estimated"], 0.5);
  EXPECT_EQ(json["theory"]["decomposition"][0]["true"], 0.625);
  EXPECT_EQ(json["theory"]["linearized_smoother"]["steps"], 64);
  const Json& provenance = json["provenance"];
  EXPECT_EQ(provenance["version"], kVersionText);
  EXPECT_FALSE(provenance["compiler"].get<std::string>().empty());
  EXPECT_FALSE(provenance["instruction_set"].get<std::string>().empty());
  EXPECT_EQ(provenance["options"]["sizes"], Json({128}));
  EXPECT_EQ(provenance["threads"], 2);
  EXPECT_EQ(provenance["started"], "2026-01-02T03:04:05Z");
}

}  // namespace
}  // namespace kalmia::reproduction
