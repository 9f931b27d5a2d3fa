#include "base/json.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kalmia {
namespace {

TEST(JsonNesting, CountsWhatLiesWithinOneAnother) {
  EXPECT_EQ(json_nesting(""), 0);
  EXPECT_EQ(json_nesting("3"), 0);
  EXPECT_EQ(json_nesting("[]"), 1);
  EXPECT_EQ(json_nesting(R"({"a": [1, 2], "b": [[], {}]})"), 3);
  EXPECT_EQ(json_nesting("[1], [2], [3]"), 1);
}

TEST(JsonNesting, QuotesHideBrackets) {
  EXPECT_EQ(json_nesting(R"(["[[[[", "}"])"), 1);
  EXPECT_EQ(json_nesting(R"(["\"[[[[", "\\", []])"), 2);
  EXPECT_EQ(json_nesting("[\"never closed [[["), 1);
}

TEST(JsonNesting, AnyDepthIsCounted) {
  EXPECT_EQ(json_nesting(std::string(1000000, '[')), 1000000);
  // More closed than opened is no JSON; what follows counts from there.
  EXPECT_EQ(json_nesting("]]]["), 0);
}

}  // namespace
}  // namespace kalmia
