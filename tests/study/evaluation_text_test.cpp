#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "kalmia/evaluate.hpp"

namespace kalmia {
namespace {

Evaluation full() {
  Evaluation e;
  e.steps = 100;
  e.measured_values = 180;
  e.mse_raw = 0.25;
  e.mse_filtered = 0.125;
  e.mse_smoothed = 0.0625;
  e.gap_mse_interpolated = 1;
  e.gap_mse_filtered = 2;
  e.gap_mse_smoothed = 3;
  e.state_mse_filtered = 4;
  e.state_mse_smoothed = 5;
  e.hidden_mse_interpolated = 6;
  e.hidden_mse_filtered = 7;
  e.hidden_mse_smoothed = 8;
  e.log_likelihood = -360;
  e.log_likelihood_per_value = -2;
  e.nis = 1.01;
  e.nees = 0.99;
  e.nees_filtered = 0.98;
  e.coverage95 = 0.94;
  e.coverage95_filtered = 0.93;
  e.whiteness_p = 0.3;
  e.reducible_error = 0.02;
  e.leak = 0.005;
  e.forecasts = {{0.5, 0.96}, {std::nullopt, std::nullopt}};
  ChannelScore range;
  range.name = "range";
  range.scale = 100;
  range.mse_raw = 0.5;
  range.reducible_error = -0.25;
  e.channels = {range};
  return e;
}

TEST(EvaluationText, JsonHasEveryFigureUnderItsKey) {
  const nlohmann::json want = {
      {"mse", {{"raw", 0.25}, {"filtered", 0.125}, {"smoothed", 0.0625}}},
      {"gaps", {{"interpolated", 1.0}, {"filtered", 2.0}, {"smoothed", 3.0}}},
      {"state_mse", {{"filtered", 4.0}, {"smoothed", 5.0}}},
      {"hidden", {{"interpolated", 6.0}, {"filtered", 7.0}, {"smoothed", 8.0}}},
      {"log_likelihood", -360.0},
      {"log_likelihood_per_value", -2.0},
      {"nis", 1.01},
      {"nees", 0.99},
      {"nees_filtered", 0.98},
      {"coverage95", 0.94},
      {"coverage95_filtered", 0.93},
      {"whiteness_p", 0.3},
      {"reducible_error", 0.02},
      {"leak", 0.005},
      {"forecasts",
       {{{"mse", 0.5}, {"coverage95", 0.96}}, {{"mse", nullptr}, {"coverage95", nullptr}}}},
      {"channels",
       {{{"name", "range"},
         {"scale", 100.0},
         {"mse", {{"raw", 0.5}, {"filtered", nullptr}, {"smoothed", nullptr}}},
         {"gaps", {{"interpolated", nullptr}, {"filtered", nullptr}, {"smoothed", nullptr}}},
         {"hidden", {{"interpolated", nullptr}, {"filtered", nullptr}, {"smoothed", nullptr}}},
         {"reducible_error", -0.25}}}},
      {"steps", 100},
      {"measured_values", 180}};
  EXPECT_EQ(nlohmann::json::parse(full().to_json()), want);
}

TEST(EvaluationText, JsonIsNullWhereAFigureDoesNotApplyOrIsNotFinite) {
  Evaluation e;
  e.log_likelihood = std::numeric_limits<double>::quiet_NaN();
  e.log_likelihood_per_value = -std::numeric_limits<double>::infinity();
  const std::string text = e.to_json();
  const nlohmann::json json = nlohmann::json::parse(text);
  const std::string lower = text;
  EXPECT_EQ(lower.find("nan"), std::string::npos) << text;
  EXPECT_EQ(lower.find("inf"), std::string::npos) << text;
  int nulls = 0;
  for (const char* group : {"mse", "gaps", "state_mse", "hidden"}) {
    ASSERT_TRUE(json.contains(group));
    for (const auto& [name, value] : json[group].items()) nulls += value.is_null() ? 1 : 0;
  }
  EXPECT_EQ(nulls, 3 + 3 + 2 + 3);
  for (const char* key :
       {"log_likelihood", "log_likelihood_per_value", "nis", "nees", "nees_filtered", "coverage95",
        "coverage95_filtered", "whiteness_p", "reducible_error", "leak"})
    EXPECT_TRUE(json.at(key).is_null()) << key;
  EXPECT_EQ(json.at("steps"), 0);
}

TEST(EvaluationText, TextShowsWhatApplies) {
  const std::string text = full().to_text();
  for (const char* part : {"raw 0.25", "filtered 0.125", "smoothed 0.0625", "interpolated 6",
                           "-360", "per value -2", "1.01", "filtered 0.98", "smoothed 0.94", "180",
                           "forecast, 1 ahead", "within 95 % bars 0.96"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  EXPECT_EQ(text.back(), '\n');
  Evaluation e;
  e.steps = 7;
  e.nis = 1.5;
  const std::string little = e.to_text();
  EXPECT_NE(little.find("no truth"), std::string::npos) << little;
  EXPECT_NE(little.find("1.5"), std::string::npos) << little;
  EXPECT_EQ(little.find("NEES"), std::string::npos) << little;
  EXPECT_EQ(little.find("gaps"), std::string::npos) << little;
}

// One mean over channels of different scales is that of the largest.
TEST(EvaluationText, ChannelsOfOtherScalesAreShownApart) {
  Evaluation e = full();
  EXPECT_EQ(e.to_text().find("range"), std::string::npos);
  ChannelScore bearing = e.channels[0];
  bearing.name = "bear\x1bing";
  bearing.mse_raw = 0.000125;
  bearing.scale = 40;
  e.channels.push_back(bearing);
  EXPECT_EQ(e.to_text().find("of range"), std::string::npos);
  e.channels[1].scale = 0.5;
  const std::string text = e.to_text();
  for (const char* part :
       {"scales differ", "of range\n", "raw 0.5", "of bear\\x1bing\n", "raw 0.000125"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  e.channels.resize(40, bearing);
  EXPECT_NE(e.to_text().find("40 channels in all"), std::string::npos);
}

TEST(EvaluationText, ANegativeErrorIsNone) {
  Evaluation e = full();
  e.reducible_error = -109.7;
  const std::string text = e.to_text();
  EXPECT_EQ(text.find("-109.7"), std::string::npos) << text;
  EXPECT_NE(text.find("mean square is 109.7 below the noise"), std::string::npos) << text;
}

}  // namespace
}  // namespace kalmia
