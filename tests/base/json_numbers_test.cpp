#include <gtest/gtest.h>

#include "base/json.hpp"
#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::model {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonNumbers, WholeNumbersAreRead) {
  const Json json = Json::parse(R"({"a": 7, "b": -2147483648, "c": [2147483647, 0], "d": []})");
  EXPECT_EQ(whole_number(json, "a"), 7);
  EXPECT_EQ(whole_number(json, "b"), -2147483647 - 1);
  EXPECT_EQ(whole_numbers(json, "c"), (std::vector<int>{2147483647, 0}));
  EXPECT_TRUE(whole_numbers(json, "d").empty());
}

TEST(JsonNumbers, WhatAnIntDoesNotHoldIsRefused) {
  for (const char* value : {"2.5", "1e300", "2147483648", "-2147483649", "18446744073709551615",
                            "true", "null", "\"7\"", "[1]", "{}"}) {
    const Json json = Json::parse(std::string(R"({"taps": )") + value + "}");
    const std::string message = message_of<ConfigError>([&] { whole_number(json, "taps"); });
    EXPECT_EQ(message.rfind("taps = ", 0), 0u) << message;
    EXPECT_NE(message.find("must be a whole number"), std::string::npos) << message;
  }
  const Json json = Json::parse(R"({"decoder": [8, 2.5], "hidden": 8})");
  EXPECT_EQ(message_of<ConfigError>([&] { whole_numbers(json, "decoder"); }),
            "decoder[1] = 2.5, but it must be a whole number within +-2147483647");
  EXPECT_EQ(message_of<ConfigError>([&] { whole_numbers(json, "hidden"); }),
            "hidden is no array, but it must be one of whole numbers");
  EXPECT_THROW(whole_number(json, "taps"), Json::exception);
}

}  // namespace
}  // namespace kalmia::model
