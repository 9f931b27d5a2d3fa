#include "prior/parts.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "prior/expert.hpp"

namespace kalmia::prior {
namespace {

using PartLabels = std::vector<std::string>;

const DataAxes kTwoColumns{.channels = {"north", "east"}};

std::string parts_refusal(const std::vector<Part>& parts, const DataAxes& axes = kTwoColumns) {
  try {
    check_parts(parts, axes);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(Parts, TheTableHasEachNameOnce) {
  for (const PartEntry& each : part_table()) {
    EXPECT_EQ(part_of_name(each.name), each.kind) << each.name;
    EXPECT_EQ(&part_entry(each.kind), &each) << each.name;
    EXPECT_FALSE(each.meaning.empty()) << each.name;
  }
  EXPECT_THROW(part_of_name("trnd"), ConfigError);
}

TEST(Parts, StatesOfAPart) {
  EXPECT_EQ(part_states({PartKind::Level}), 1);
  EXPECT_EQ(part_states({PartKind::Acceleration}), 3);
  EXPECT_EQ(part_states({PartKind::Season, 24, 4}), 8);
  EXPECT_EQ(part_states({PartKind::Ar, 0, 7}), 7);
}

// Of a harmonic, a period must be longer than two steps.
TEST(Parts, HarmonicsThatStepsCanShow) {
  EXPECT_EQ(most_harmonics(24), 11);
  EXPECT_EQ(most_harmonics(24.1), 12);
  EXPECT_EQ(most_harmonics(3), 1);
  EXPECT_EQ(most_harmonics(2), 0);
  EXPECT_EQ(most_harmonics(0.5), 0);
  EXPECT_EQ(most_harmonics(std::numeric_limits<double>::infinity()), kMostPartCount);
}

TEST(Parts, LabelsDifferWithinAChannel) {
  EXPECT_EQ(part_labels(std::vector<Part>{
                {PartKind::Trend}, {PartKind::Season, 24, 1}, {PartKind::Season, 7, 1}}),
            (PartLabels{"trend", "season", "season2"}));
  EXPECT_EQ(
      part_labels(std::vector<Part>{
          {PartKind::Memory, 0, 0, 0}, {PartKind::Memory, 3, 0, 0}, {PartKind::Memory, 0, 0, 1}}),
      (PartLabels{"memory", "memory2", "memory"}));
  EXPECT_EQ(part_labels(std::vector<Part>{
                {PartKind::Memory, 0, 0, 1}, {PartKind::Memory, 3}, {PartKind::Memory, 0, 0, 0}}),
            (PartLabels{"memory", "memory2", "memory"}));
}

TEST(Parts, ThoseOfAChannelAreItsOwnAndThoseOfAll) {
  const std::vector<Part> parts = {
      {PartKind::Trend, 0, 0, 1}, {PartKind::Level}, {PartKind::Memory, 5, 0, 0}};
  EXPECT_EQ(parts_of_channel(parts, 0), (std::vector<Part>{parts[1], parts[2]}));
  EXPECT_EQ(parts_of_channel(parts, 1), (std::vector<Part>{parts[0], parts[1]}));
}

TEST(Parts, NumbersThatAPartCannotHaveAreRefused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<Part> wrong = {
      {PartKind::Level, 3},        {PartKind::Level, 0, 2},      {PartKind::Memory, -1},
      {PartKind::Memory, nan},     {PartKind::Memory, 1e10},     {PartKind::Memory, 1e-7},
      {PartKind::Season, 0, 1},    {PartKind::Season, 2, 1},     {PartKind::Season, 24, 0},
      {PartKind::Season, 24, 12},  {PartKind::Season, 1e4, 129}, {PartKind::Ar, 0, 0},
      {PartKind::Ar, 0, 129},      {PartKind::Ar, 5, 2},         {PartKind::Oscillator, 24, 1},
      {PartKind::Trend, 0, 0, -2}, {PartKind::Trend, 0, 0, 2},
  };
  for (std::size_t i = 0; i < wrong.size(); ++i)
    EXPECT_NE(parts_refusal({{PartKind::Level}, wrong[i]}), "") << i;
  for (const Part& right : std::vector<Part>{{PartKind::Memory},
                                             {PartKind::Memory, 3},
                                             {PartKind::Season, 24, 11},
                                             {PartKind::Ar, 0, 60},
                                             {PartKind::Trend, 0, 0, 1}})
    EXPECT_EQ(parts_refusal({{PartKind::Level}, right}), "");
}

TEST(Parts, EachChannelHasSome) {
  EXPECT_EQ(parts_refusal({{PartKind::Level, 0, 0, 0}}), "prior sum: east has no parts");
  EXPECT_EQ(parts_refusal({}), "prior sum: north has no parts");
}

TEST(Parts, ASumHasAtMost128States) {
  EXPECT_EQ(parts_refusal({{PartKind::Ar, 0, 64}}), "");
  EXPECT_EQ(parts_refusal({{PartKind::Level}, {PartKind::Ar, 0, 64}}),
            "prior: level + ar(64) has 130 states in 2 measured columns, but a sum has at most "
            "128; leave out parts, harmonics or lags, or measure fewer columns");
  EXPECT_EQ(parts_refusal({{PartKind::Level, 0, 0, 1}, {PartKind::Season, 1e4, 64, 0}}),
            "prior: north: season(10000, 64); east: level has 129 states in 2 measured columns, "
            "but a sum has at most 128; leave out parts, harmonics or lags, or measure fewer "
            "columns");
}

TEST(Parts, WhichCarryTheLevel) {
  for (const PartKind kind : {PartKind::Level, PartKind::Trend, PartKind::DampedTrend,
                              PartKind::Acceleration, PartKind::DampedAcceleration})
    EXPECT_TRUE(carries_level({kind})) << part_entry(kind).name;
  for (const PartKind kind : {PartKind::Memory, PartKind::DampedVelocity, PartKind::Oscillator,
                              PartKind::Season, PartKind::Ar})
    EXPECT_FALSE(carries_level({kind})) << part_entry(kind).name;
}

}  // namespace
}  // namespace kalmia::prior
