// Parts as users write them: what is read, what is refused and how, and that what is written reads
// back.
#include "prior/parts_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "prior/expert.hpp"

namespace kalmia::prior {
namespace {

constexpr double kDay = 86400;

const DataAxes kRows{.channels = {"north", "east", "up"}};
const DataAxes kHours{.channels = {"load"}, .step = 3600, .dates = true};
const DataAxes kWeeks{.channels = {"co2"}, .step = 7 * kDay, .dates = true};

std::vector<Part> parts_read(const std::string& text, const DataAxes& axes) {
  return parts_in_steps(parse_sum(text).parts, axes);
}

// What is said against a text.
std::string text_refusal(const std::string& text, const DataAxes& axes = kHours) {
  try {
    parts_read(text, axes);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

// As it is written after it was read.
std::string written_again(const std::string& text, const DataAxes& axes) {
  return parts_text(parts_read(text, axes), axes);
}

TEST(PartsText, PartsOfAllChannels) {
  EXPECT_EQ(parts_read("level", kRows), (std::vector<Part>{{PartKind::Level}}));
  EXPECT_EQ(parts_read(" trend+season( 24 ,4 )  + memory ( 1e+2 ) + ar + ar(20) ", kRows),
            (std::vector<Part>{{PartKind::Trend},
                               {PartKind::Season, 24, 4},
                               {PartKind::Memory, 100},
                               {PartKind::Ar, 0, 2},
                               {PartKind::Ar, 0, 20}}));
}

// Three harmonics, or as many as the steps show.
TEST(PartsText, HarmonicsThatAreNotGiven) {
  EXPECT_EQ(parts_read("season(24)", kRows)[0].count, 3);
  EXPECT_EQ(parts_read("season(5)", kRows)[0].count, 2);
  EXPECT_EQ(parts_read("season(2.5)", kRows)[0].count, 1);
}

TEST(PartsText, TimesCountInStepsOfTheData) {
  EXPECT_EQ(parts_read("season(24 h)", kHours), (std::vector<Part>{{PartKind::Season, 24, 3}}));
  EXPECT_EQ(parts_read("season(1d) + memory(90 min)", kHours),
            (std::vector<Part>{{PartKind::Season, 24, 3}, {PartKind::Memory, 1.5}}));
  EXPECT_EQ(parts_read("memory(7200)", kHours), (std::vector<Part>{{PartKind::Memory, 2}}));
  EXPECT_EQ(parts_read("memory(4 w)", kWeeks), (std::vector<Part>{{PartKind::Memory, 4}}));
  const DataAxes seconds{.channels = {"angle"}, .step = 0.05};
  EXPECT_EQ(parts_read("oscillator(2)", seconds), (std::vector<Part>{{PartKind::Oscillator, 40}}));
}

TEST(PartsText, ChannelsHavePartsOfTheirOwn) {
  EXPECT_EQ(parts_read("north: trend + memory; level", kRows),
            (std::vector<Part>{{PartKind::Trend, 0, 0, 0},
                               {PartKind::Memory, 0, 0, 0},
                               {PartKind::Level, 0, 0, 1},
                               {PartKind::Level, 0, 0, 2}}));
  // The order is that of the columns.
  EXPECT_EQ(parts_read("level; up: trend", kRows).back(), (Part{PartKind::Trend, 0, 0, 2}));
  // Where all have the same, it is that of all.
  EXPECT_EQ(parts_read("north: trend; east: trend; up : trend", kRows),
            (std::vector<Part>{{PartKind::Trend}}));
  EXPECT_EQ(parts_read("north: trend; trend", kRows), (std::vector<Part>{{PartKind::Trend}}));
}

TEST(PartsText, NamesInQuotes) {
  const DataAxes odd{.channels = {"a: b", "c;d", "e + f", "5\" pipe", "(g)"}};
  const std::string text =
      R"x("a: b": trend; "c;d": level; "e + f": memory; "5"" pipe": ar(3); "(g)": season(7, 1))x";
  const std::vector<Part> parts = parts_read(text, odd);
  ASSERT_EQ(parts.size(), 5u);
  for (int m = 0; m < 5; ++m) EXPECT_EQ(parts[static_cast<std::size_t>(m)].channel, m);
  EXPECT_EQ(parts_text(parts, odd), text);
  // A name may stand in quotes that needs none, and blanks within one need no quotes.
  EXPECT_EQ(written_again("\"up\": trend; level", kRows), "north: level; east: level; up: trend");
  const DataAxes blank{.channels = {"wind speed", "gusts"}};
  EXPECT_EQ(written_again("wind speed : trend; level", blank),
            "\"wind speed\": trend; gusts: level");
}

TEST(PartsText, WhatIsWrittenReadsBack) {
  for (const char* text : {"level", "trend + season(24 h, 4) + memory(3 d)", "ar(2)",
                           "damped-trend(90 min) + oscillator(30 h)", "damped-velocity + level",
                           "acceleration + season(2 w, 2) + season(365.25 d, 3)"})
    EXPECT_EQ(written_again(text, kHours), text);
  EXPECT_EQ(written_again("north: trend; east: season(7.5, 2); up: level", kRows),
            "north: trend; east: season(7.5, 2); up: level");
}

// The largest unit that says the time exactly, or else days.
TEST(PartsText, TimesForPeople) {
  EXPECT_EQ(written_again("season(365.25 d)", kWeeks), "season(365.25 d, 3)");
  EXPECT_EQ(written_again("season(52 w)", kWeeks), "season(52 w, 3)");
  EXPECT_EQ(written_again("season(1 d)", kHours), "season(24 h, 3)");
  EXPECT_EQ(written_again("memory(2 d)", kHours), "memory(2 d)");
  EXPECT_EQ(written_again("memory(29.530588853 d)", kHours), "memory(29.5306 d)");
  EXPECT_EQ(written_again("memory(1)", kHours), "memory(1 s)");
  EXPECT_EQ(written_again("memory(0.333333333)", kHours), "memory(0.333333 s)");
  EXPECT_EQ(written_again("memory(0.1)", kRows), "memory(0.1)");
  EXPECT_EQ(written_again("memory(12.3456789)", kRows), "memory(12.3457)");
}

TEST(PartsText, NamesOfTheParts) {
  using Names = std::vector<std::string>;
  const auto names = [](const std::string& text, const DataAxes& axes) {
    return part_names(parts_read(text, axes), axes);
  };
  EXPECT_EQ(names("trend", kHours), Names{"trend"});
  // Which numbers learning begins with, or how many a shape has, is no name.
  EXPECT_EQ(names("trend + season(24 h, 4) + memory(3 d) + ar(3)", kHours),
            (Names{"trend", "season(24 h)", "memory", "ar"}));
  EXPECT_EQ(names("season(24) + season(168, 2)", kRows), (Names{"season(24)", "season(168)"}));
  const DataAxes halves{.channels = {"x"}, .step = 0.5};
  EXPECT_EQ(names("season(7.5)", halves), Names{"season(7.5)"});
  // Of two that would share one, all that there is.
  EXPECT_EQ(names("memory(3 d) + memory(5 h) + trend", kHours),
            (Names{"memory(3 d)", "memory(5 h)", "trend"}));
  EXPECT_EQ(names("ar(2) + ar(7)", kRows), (Names{"ar(2)", "ar(7)"}));
  EXPECT_EQ(names("season(24, 2) + season(24, 3)", kRows),
            (Names{"season(24, 2)", "season(24, 3)"}));
  EXPECT_EQ(names("memory + memory(5)", kRows), (Names{"memory", "memory(5)"}));
  // What is the same is counted.
  EXPECT_EQ(names("memory + trend + memory + memory", kRows),
            (Names{"memory", "trend", "memory2", "memory3"}));
  EXPECT_EQ(names("ar(2) + ar(2)", kRows), (Names{"ar(2)", "ar2(2)"}));
}

TEST(PartsText, WrongPartsAreRefused) {
  const std::string parts =
      "level, memory, trend, damped-trend, damped-velocity, acceleration, damped-acceleration, "
      "oscillator, season or ar";
  EXPECT_EQ(text_refusal("trnd + level"),
            "prior: part \"trnd\", but a part must be " + parts + "; did you mean trend?");
  EXPECT_EQ(text_refusal("trend + level(3)"),
            "prior: part \"level(3)\", but level has nothing in brackets");
  EXPECT_EQ(text_refusal("season"),
            "prior: part \"season\", but it needs its period: season(24) or, where times are "
            "dates, season(24 h)");
  EXPECT_EQ(text_refusal("memory(3, 2)"),
            "prior: part \"memory(3, 2)\", but it has one number, a time");
  EXPECT_EQ(text_refusal("ar(3, 2)"), "prior: part \"ar(3, 2)\", but ar has one number, its lags");
  for (const char* text : {"ar(0)", "ar()", "ar(129)", "ar(2.5)", "ar(-1)", "ar(x)"})
    EXPECT_EQ(text_refusal(text), "prior: part \"" + std::string(text) +
                                      "\", but its lags must be a whole number from 1 to 128");
  for (const char* text : {"season(24 h, 0)", "season(24 h,)", "season(24 h, 129)"})
    EXPECT_EQ(text_refusal(text), "prior: part \"" + std::string(text) +
                                      "\", but its harmonics must be a whole number from 1 to 128");
  for (const char* text : {"memory()", "memory(0)", "memory(-3)", "memory(nan)", "memory(inf)",
                           "memory(h)", "memory(1e999)", "season(, 3)"})
    EXPECT_EQ(text_refusal(text),
              "prior: part \"" + std::string(text) + "\", but its time must be a number above 0");
  EXPECT_EQ(text_refusal("memory(3 y)"),
            "prior: part \"memory(3 y)\", but \"y\" is no unit of time: s, min, h, d or w");
}

TEST(PartsText, WrongSignsAreRefused) {
  for (const char* text : {"trend +", "+ trend", "trend ++ level", "", "load: ", "load: trend;"})
    EXPECT_EQ(text_refusal(text),
              "prior: a part is missing beside a sign; write them, as in \"trend + season(24)\"")
        << text;
  EXPECT_EQ(text_refusal("season(24 h + level"),
            "prior: part \"season(24 h + level\", but its bracket does not end it");
  EXPECT_EQ(text_refusal("season(24 h)x"),
            "prior: part \"season(24 h)x\", but its bracket does not end it");
  EXPECT_NE(text_refusal("season)24 h("), "");
  EXPECT_NE(text_refusal("season(24 h)(3)"), "");
  EXPECT_EQ(text_refusal(": trend"),
            "prior: there is no name of a channel before \":\"; write it, or leave the \":\" out");
  EXPECT_EQ(text_refusal("\"\": trend"),
            "prior: there is no name of a channel before \":\"; write it, or leave the \":\" out");
  EXPECT_EQ(text_refusal("\"load: trend"), "prior: \"load: trend, but a quote is missing");
  EXPECT_NE(text_refusal("\"lo\"ad: trend"), "");
  EXPECT_NE(text_refusal("lo\"\"ad: trend"), "");
  EXPECT_NE(text_refusal("\"lo\"a\"d\": trend"), "");
}

TEST(PartsText, WrongTimesAreRefused) {
  EXPECT_EQ(text_refusal("season(24 h)", kRows),
            "prior: part season(24 h), but the data have no column of dates; give its time in the "
            "time column's unit, or in rows where there is none");
  EXPECT_EQ(text_refusal("season(2 h)"),
            "prior: part season(2 h), but its time is 2 steps, and a season must be above 2");
  EXPECT_EQ(text_refusal("season(4 h, 2)"),
            "prior: part season(4 h, 2), but its time is 4 steps, which show at most 1 harmonic");
  EXPECT_EQ(text_refusal("memory(1e300)"),
            "prior: part memory(1e+300 s), but its time is 2.77778e+296 steps, and must be "
            "in 1e-06..1e+09");
  EXPECT_NE(text_refusal("memory(1e-300)"), "");
}

TEST(PartsText, WrongChannelsAreRefused) {
  EXPECT_EQ(text_refusal("nort: trend; level", kRows),
            "prior: channel nort, but the measured columns are north, east, up; did you mean "
            "north?");
  EXPECT_EQ(text_refusal("north: trend; level; north: memory", kRows),
            "prior: channel north stands there twice; join its parts with +");
  EXPECT_EQ(text_refusal("trend; level", kRows),
            "prior: two groups of parts name no channel; join them with +, or name the channel of "
            "one, as in \"north: trend; level\"");
  EXPECT_EQ(text_refusal("north: trend; up: level", kRows),
            "prior: the measured column east has no parts; add \"; east: level\", or parts "
            "without a column's name for all others");
  EXPECT_EQ(text_refusal("north: trend; up: level; east: level; memory", kRows),
            "prior: parts without a column's name are for columns that have none of their own, "
            "but all have some; leave them out");
  EXPECT_NE(text_refusal("level + ar(43)", kRows).find("has 132 states"), std::string::npos);
}

TEST(PartsText, EquationsComeFirst) {
  EXPECT_EQ(parse_sum("lorenz + memory(3)").map, PriorKind::Lorenz);
  EXPECT_EQ(parse_sum(" system ; up: level").map, PriorKind::System);
  EXPECT_TRUE(parse_sum("system").parts.empty());
  // A column of that name.
  EXPECT_EQ(parse_sum("lorenz: level; trend").map, std::nullopt);
  EXPECT_EQ(parse_sum("\"lorenz\": level").parts[0].channel, "lorenz");
  const auto added = [](const std::string& text) {
    return parts_in_steps(parse_sum(text).parts, kRows, Alone::No);
  };
  EXPECT_EQ(added("lorenz + memory(3) + level"),
            (std::vector<Part>{{PartKind::Memory, 3}, {PartKind::Level}}));
  EXPECT_EQ(added("lorenz; east: level"), (std::vector<Part>{{PartKind::Level, 0, 0, 1}}));
  EXPECT_EQ(added("lorenz + level; east: memory"), (std::vector<Part>{{PartKind::Level, 0, 0, 0},
                                                                      {PartKind::Memory, 0, 0, 1},
                                                                      {PartKind::Level, 0, 0, 2}}));
  // As it is written after it was read.
  for (const char* text : {"lorenz", "lorenz + memory(3) + level", "lorenz; east: level",
                           "lorenz; north: season(24, 3); up: memory",
                           "lorenz; north: level; east: ar(3); up: trend"}) {
    ExpertSpec spec;
    spec.kind = PriorKind::Lorenz;
    spec.parts = added(text);
    EXPECT_EQ(prior_text(spec, kRows), text);
  }
}

TEST(PartsText, WrongSumsWithEquationsAreRefused) {
  const auto refused = [](const std::string& text) {
    try {
      parts_in_steps(parse_sum(text).parts, kRows, Alone::No);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused("level + lorenz"),
            "prior: part \"lorenz\", but equations come first: lorenz + level");
  EXPECT_EQ(refused("lorenz + system"),
            "prior: part \"system\", but equations come first: system + level");
  EXPECT_EQ(refused("lorenz +"),
            "prior: a part is missing beside a sign; write them, as in \"trend + season(24)\"");
  EXPECT_EQ(refused("lorenz; level"),
            "prior: two groups of parts name no channel; join them with +, or name the channel of "
            "one, as in \"north: trend; level\"");
  EXPECT_EQ(refused("lorenz; west: level"),
            "prior: channel west, but the measured columns are north, east, up");
  EXPECT_EQ(refused("none + level").find("prior: part \"none\", but a part must be level"), 0u);
}

TEST(PartsText, WhatIsMeantAsParts) {
  for (const char* text : {"trend", "trend + level", "trnd + level", "seson(24)", "x: trend",
                           "trend; level", "ar(2)", " level "})
    EXPECT_TRUE(looks_like_parts(text)) << text;
  for (const char* text : {"trnd", "lorenz", "constant-velocity", "", "sum"})
    EXPECT_FALSE(looks_like_parts(text)) << text;
}

}  // namespace
}  // namespace kalmia::prior
