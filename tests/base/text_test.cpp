#include "kalmia/text.hpp"

#include <gtest/gtest.h>

namespace kalmia {
namespace {

TEST(Text, PlainTextIsShownAsItIs) {
  for (const char* text : {"", "gps_north_m", "speed [m/s]", "a\\b", "\"a\"", "H\u00f6he",
                           "\u6e29\u5ea6 \u00b0C", "\U0001f600", " "})
    EXPECT_EQ(printable(text), text);
}

TEST(Text, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m"), "\\x1b[31mred\\x1b[0m");
  EXPECT_EQ(printable(std::string_view("\0\a\x7f", 3)), "\\x00\\x07\\x7f");
  EXPECT_EQ(printable("\u0085\u009b31m"), "\\u0085\\u009b31m");  // the controls of ISO 8859
  EXPECT_EQ(printable("\u202egnp.exe\u2066 \u2028"), "\\u202egnp.exe\\u2066 \\u2028");
}

// Each byte for itself; what follows is read on.
TEST(Text, WhatIsNoUtf8IsEscaped) {
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(printable("\xe9t\xe9 \xc3\xa9"), "\\xe9t\\xe9 \u00e9");
  EXPECT_EQ(printable("\x9b"), "\\x9b");
  EXPECT_EQ(printable("\xc0\x8a"), "\\xc0\\x8a");                    // overlong line feed
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");           // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond the last
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");                    // cut off
  EXPECT_EQ(printable("\xff"), "\\xff");
}

TEST(Text, FieldsOfCsv) {
  for (const char* text : {"", "a", "a b", "H\u00f6he", "a\x1b"}) EXPECT_EQ(csv_field(text), text);
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a;b"), "\"a;b\"");
  EXPECT_EQ(csv_field("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_field("say \"a\""), "\"say \"\"a\"\"\"");
  EXPECT_EQ(csv_field(" a"), "\" a\"");
  EXPECT_EQ(csv_field("a\t"), "\"a\t\"");
}

}  // namespace
}  // namespace kalmia
