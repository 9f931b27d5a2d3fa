#include "data/text_number.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kalmia::data {
namespace {

double number(std::string_view text) {
  double value = 0;
  EXPECT_EQ(parse_number(text, value), NumberText::Number) << text;
  return value;
}

NumberText kind(std::string_view text) {
  double value = 0;
  const NumberText result = parse_number(text, value);
  if (result != NumberText::Number) {
    EXPECT_TRUE(std::isnan(value)) << text;
  }
  return result;
}

TEST(TextNumber, ReadsNumbers) {
  EXPECT_EQ(number("1.5"), 1.5);
  EXPECT_EQ(number("+1.5"), 1.5);
  EXPECT_EQ(number("-.5e-3"), -0.0005);
  EXPECT_EQ(number(" 7\t"), 7);
  EXPECT_EQ(number("0.1"), 0.1);
  EXPECT_EQ(number("1e-400"), 0);
  EXPECT_EQ(number("5e-324"), 5e-324);
  EXPECT_EQ(number("1e400"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(number("-inf"), -std::numeric_limits<double>::infinity());
}

TEST(TextNumber, KnowsWhatIsMissing) {
  for (const char* text : {"", "  ", "nan", "NaN", "NAN", "-nan", "NA", "na", "N/A", "n/a", "#N/A",
                           "<NA>", "null", "NULL", "None", "none"})
    EXPECT_EQ(kind(text), NumberText::Missing) << text;
}

TEST(TextNumber, RefusesOtherText) {
  for (const char* text : {"abc", "1.5x", "1,5", "1 2", "--1", "+-1", "+", "-", ".", "e5", "0x10",
                           "nanx", "nones", "1e", "1.2.3"})
    EXPECT_EQ(kind(text), NumberText::Other) << text;
}

TEST(TextNumber, WritesTheShortestText) {
  EXPECT_EQ(number_text(0.1), "0.1");
  EXPECT_EQ(number_text(3), "3");
  EXPECT_EQ(number_text(1e300), "1e+300");
  EXPECT_EQ(number(number_text(1.0 / 3)), 1.0 / 3);
}

TEST(TextNumber, QuotesForMessages) {
  EXPECT_EQ(in_quotes("abc"), "\"abc\"");
  EXPECT_EQ(in_quotes("a\nb\x1b"), "\"a\\nb\\x1b\"");
  EXPECT_EQ(in_quotes(std::string(1000, 'x')).size(), 45U);
  // Whole characters, of two bytes here; bytes that are none are cut anywhere.
  EXPECT_EQ(
      in_quotes("x" + std::string(20, 'y') +
                "\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6"),
      "\"x" + std::string(20, 'y') + "\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6...\"");
  EXPECT_EQ(in_quotes(std::string(50, '\x9b')).size(), 2 + 3 + 4 * 37U);
}

}  // namespace
}  // namespace kalmia::data
