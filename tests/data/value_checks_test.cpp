#include "data/value_checks.hpp"

#include <limits>

#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ValueChecks, ValuesAreMissingOrNotTooLarge) {
  for (const double value : {0.0, -1e100, 1e100, kNotANumber}) EXPECT_TRUE(usable(value)) << value;
  for (const double value : {1.001e100, -1e101, kInfinity, -kInfinity})
    EXPECT_FALSE(usable(value)) << value;
  EXPECT_EQ(message_of<DataError>([] { refuse_value("a.csv:3: column y", 1e300); }),
            "a.csv:3: column y: value 1e+300, but values must lie within -1e100 and 1e100 (leave "
            "missing ones empty)");
}

TEST(ValueChecks, TimeIncreases) {
  check_time("here", TimeKind::Number, 1, 2);
  check_time("here", TimeKind::Number, -kInfinity, -1e99);
  EXPECT_EQ(message_of<DataError>([] { check_time("here", TimeKind::Number, 2, 2); }),
            "here: time 2 comes after 2, but time must increase within a series");
  EXPECT_EQ(
      message_of<DataError>([] { check_time("here", TimeKind::Date, 86400, 0); }),
      "here: time 1970-01-01T00:00:00 comes after 1970-01-02T00:00:00, but time must increase "
      "within a series");
  EXPECT_EQ(message_of<DataError>([] { check_time("here", TimeKind::Number, 2, kNotANumber); }),
            "here: time is missing, but every row needs one");
  message_of<DataError>([] { check_time("here", TimeKind::Number, 2, kInfinity); });
}

TEST(ValueChecks, StepsFitAnInt) {
  check_steps("here", 2147483647);
  EXPECT_EQ(message_of<DataError>([] { check_steps("here", 2147483648); }),
            "here: a series of 2147483648 steps, but it may have at most 2147483647");
}

}  // namespace
}  // namespace kalmia::data
