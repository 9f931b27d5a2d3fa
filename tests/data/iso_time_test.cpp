#include "data/iso_time.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.hpp"

namespace kalmia::data {
namespace {

double seconds(std::string_view text) {
  const std::optional<double> value = parse_iso_time(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value.value_or(-1);
}

TEST(IsoTime, ReadsDatesAndTimes) {
  EXPECT_EQ(seconds("1970-01-01"), 0);
  EXPECT_EQ(seconds("2000-02-29"), 951782400);
  EXPECT_EQ(seconds("1969-12-31T23:59:59"), -1);
  EXPECT_EQ(seconds("2024-03-01T12:30"), 1709296200);
  EXPECT_EQ(seconds("2024-03-01 12:30:05"), 1709296205);
  EXPECT_EQ(seconds("2024-03-01T12:30:05.25"), 1709296205.25);
  EXPECT_EQ(seconds("2024-03-01T12:30:05,25"), 1709296205.25);
  EXPECT_EQ(seconds("2024-03-01T12:30:05Z"), 1709296205);
  EXPECT_EQ(seconds("2024-03-01T12:30:05+01:00"), 1709296205 - 3600);
  EXPECT_EQ(seconds("2024-03-01T12:30:05-0530"), 1709296205 + 19800);
  EXPECT_EQ(seconds("2024-03-01T12:30:05.5+02"), 1709296205.5 - 7200);
  EXPECT_EQ(seconds("2024-03-01T12:30:05.123456789012345678901234"), 1709296205.123456789);
}

TEST(IsoTime, RefusesWhatIsNoDate) {
  for (const char* text : {"",
                           "2024",
                           "2024-03",
                           "2023-02-29",
                           "2024-13-01",
                           "2024-00-01",
                           "2024-01-32",
                           "2024-01-01T",
                           "2024-01-01T24:00:00",
                           "2024-01-01T12:60",
                           "2024-01-01T12:00:60",
                           "2024-01-01T12:00:00.",
                           "2024-01-01T12:00:00+",
                           "2024-01-01T12:00:00+1",
                           "2024-01-01T12:00:00+01:",
                           "2024-01-01T12:00:00+24:00",
                           "2024-01-01T12:00:00Zx",
                           "2024-01-01x",
                           "24-01-01",
                           "2024/01/01",
                           "1.5",
                           "20240101"})
    EXPECT_FALSE(parse_iso_time(text).has_value()) << text;
}

TEST(IsoTime, ReadsEightDigits) {
  EXPECT_EQ(date_of_digits(20000229), 951782400);
  EXPECT_FALSE(date_of_digits(20010229).has_value());
  EXPECT_FALSE(date_of_digits(20000229.5).has_value());
  EXPECT_FALSE(date_of_digits(2000022).has_value());
  EXPECT_FALSE(date_of_digits(1e300).has_value());
  EXPECT_FALSE(date_of_digits(-20000229).has_value());
}

TEST(IsoTime, WritesAsShortAsPossible) {
  EXPECT_EQ(iso_text(951782400, DateStyle::Day), "2000-02-29");
  EXPECT_EQ(iso_text(951782400, DateStyle::Second), "2000-02-29T00:00:00");
  EXPECT_EQ(iso_text(-0.5, DateStyle::Second), "1969-12-31T23:59:59.5");
  EXPECT_EQ(iso_text(1709296205.1, DateStyle::Second), "2024-03-01T12:30:05.1");
  EXPECT_EQ(iso_text(-1e-20, DateStyle::Second), "1970-01-01T00:00:00");
  EXPECT_EQ(iso_text(1e300, DateStyle::Second), "1e+300");
  EXPECT_EQ(date_style(std::vector<double>{0, 86400}), DateStyle::Day);
  EXPECT_EQ(date_style(std::vector<double>{0, 86401}), DateStyle::Second);
  EXPECT_EQ(date_style(std::vector<double>{0, 0.5}), DateStyle::Second);
}

TEST(IsoTime, ReadsBackWhatItWrote) {
  RandomStream random(3, "iso_time");
  for (int i = 0; i < 20000; ++i) {
    const double want = random.uniform(-6e10, 2.5e11) / (i % 2 == 0 ? 1 : 1000);
    EXPECT_EQ(seconds(iso_text(want, DateStyle::Second)), want)
        << iso_text(want, DateStyle::Second);
  }
}

}  // namespace
}  // namespace kalmia::data
