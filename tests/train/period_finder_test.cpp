#include "train/period_finder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numbers>

#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

struct Wave {
  double period, size;
};

// A sum of waves and white noise of deviation 1.
std::vector<double> waves(int steps, const std::vector<Wave>& all, std::uint64_t seed) {
  RandomStream random(seed, "waves");
  std::vector<double> y;
  for (int k = 0; k < steps; ++k) {
    double value = random.normal();
    for (const Wave& wave : all)
      value += wave.size * std::sin(2 * std::numbers::pi * k / wave.period + wave.period);
    y.push_back(value);
  }
  return y;
}

// Values at times, in seconds since 1970 where they are dates.
Dataset timed(const std::vector<double>& t, const std::vector<double>& y, TimeKind kind) {
  Dataset data = dataset_of({y});
  data.time_kind = kind;
  data.series[0].t = t;
  return data;
}

// Dated values, `dt` seconds apart.
Dataset dated(const std::vector<double>& y, double dt) {
  std::vector<double> t;
  for (std::size_t k = 0; k < y.size(); ++k) t.push_back(1.6e9 + dt * static_cast<double>(k));
  return timed(t, y, TimeKind::Date);
}

std::vector<double> periods_of(const std::vector<double>& y, std::size_t most = 3) {
  return find_periods(dataset_of({y}), 0, 1, most);
}

// Frequencies that a spectrum of so many steps does not tell apart.
void expect_same(double found, double period, int steps) {
  EXPECT_LT(std::abs(1 / found - 1 / period), 0.5 / steps) << found << ", not " << period;
}

TEST(PeriodFinder, FindsAKnownPeriodInNoise) {
  for (const int steps : {600, 2400})
    for (const double period : {3.3, 7.0, 12.0, 24.0, 37.3, 50.0}) {
      const std::vector<double> found = periods_of(waves(steps, {{period, 0.8}}, 3));
      ASSERT_EQ(found.size(), 1u) << period;
      expect_same(found[0], period, steps);
      if (period == std::round(period) && steps == 2400) {
        EXPECT_EQ(found[0], period);
      }
    }
}

TEST(PeriodFinder, TheStrongestComesFirstAndNoMoreThanAreAskedFor) {
  const std::vector<double> y = waves(3000, {{11, 0.5}, {29, 2}, {101, 1}}, 4);
  EXPECT_EQ(periods_of(y), (std::vector<double>{29, 101, 11}));
  EXPECT_EQ(periods_of(y, 2), (std::vector<double>{29, 101}));
}

TEST(PeriodFinder, ALineHidesNone) {
  std::vector<double> y = waves(1200, {{90, 0.8}}, 22);
  for (std::size_t k = 0; k < y.size(); ++k) y[k] += 1e3 * static_cast<double>(k);
  EXPECT_EQ(periods_of(y), (std::vector<double>{90}));
}

// Of 300 series of each kind one or two would show a period by chance.
TEST(PeriodFinder, NoisesWalksAndTrendsShowNone) {
  struct Kind {
    const char* name;
    std::function<std::vector<double>(RandomStream&, int)> make;
  };
  const Kind kinds[] = {{"white noise",
                         [](RandomStream& random, int steps) {
                           std::vector<double> y;
                           for (int k = 0; k < steps; ++k) y.push_back(random.normal());
                           return y;
                         }},
                        {"a random walk in noise",
                         [](RandomStream& random, int steps) {
                           std::vector<double> y;
                           double x = 0;
                           for (int k = 0; k < steps; ++k)
                             y.push_back((x += random.normal()) + random.normal());
                           return y;
                         }},
                        {"a walk of the slope",
                         [](RandomStream& random, int steps) {
                           std::vector<double> y;
                           double x = 0, v = 0;
                           for (int k = 0; k < steps; ++k) {
                             v += random.normal();
                             x += v;
                             y.push_back(x + random.normal());
                           }
                           return y;
                         }},
                        {"a trend in noise",
                         [](RandomStream& random, int steps) {
                           std::vector<double> y;
                           for (int k = 0; k < steps; ++k) y.push_back(0.05 * k + random.normal());
                           return y;
                         }},
                        {"a memory", [](RandomStream& random, int steps) {
                           std::vector<double> y;
                           double x = 0;
                           for (int k = 0; k < steps; ++k)
                             y.push_back(x = 0.95 * x + random.normal());
                           return y;
                         }}};
  for (const Kind& kind : kinds)
    for (const int steps : {72, 200, 800}) {
      int seen = 0;
      for (std::uint64_t seed = 0; seed < 300; ++seed) {
        RandomStream random(seed, kind.name);
        seen += periods_of(kind.make(random, steps)).empty() ? 0 : 1;
      }
      EXPECT_LE(seen, 6) << kind.name << " of " << steps;
    }
}

// A season with a shape of its own, on a walk, as in a few years of monthly values.
std::vector<double> few_seasons(int steps, std::uint64_t seed) {
  constexpr double kShape[] = {0, -3, 1, 2, 5, 9, 14, 12, 6, 1, -6, -2};
  RandomStream random(seed, "seasons");
  std::vector<double> y;
  double walk = 0;
  for (int k = 0; k < steps; ++k) {
    walk += random.normal();
    y.push_back(walk + kShape[k % 12] + 0.5 * random.normal());
  }
  return y;
}

TEST(PeriodFinder, FewCyclesAreEnoughForAClearShape) {
  for (const int steps : {60, 72, 104})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const std::vector<double> found = periods_of(few_seasons(steps, seed));
      ASSERT_FALSE(found.empty()) << steps;
      EXPECT_EQ(found[0], 12) << steps;
      // Its harmonics are no periods of their own.
      for (const double period : found) EXPECT_NE(period, 6);
    }
  // Three cycles are not.
  EXPECT_TRUE(periods_of(few_seasons(40, 1)).empty());
}

// A saw has harmonics, and a pulse has all of one strength.
TEST(PeriodFinder, HarmonicsAreThatOfTheirCycle) {
  const std::vector<double> noise = waves(2400, {}, 5);
  std::vector<double> saw, pulse;
  for (int k = 0; k < 2400; ++k) {
    const double white = noise[static_cast<std::size_t>(k)];
    saw.push_back(k % 24 / 6.0 + white);
    pulse.push_back((k % 24 < 3 ? 4.0 : 0.0) + white);
  }
  EXPECT_EQ(periods_of(saw), (std::vector<double>{24}));
  EXPECT_EQ(periods_of(pulse), (std::vector<double>{24}));
  // The second harmonic is the strongest.
  EXPECT_EQ(periods_of(waves(2400, {{24, 1}, {12, 2}}, 6)), (std::vector<double>{24}));
}

// A day is the seventh harmonic of a week, but no week's shape tells it.
TEST(PeriodFinder, ADayInAWeekIsACycleOfItsOwn) {
  for (const double week : {0.4, 1.0, 2.0}) {
    std::vector<double> found = periods_of(waves(24 * 7 * 12, {{24, 1}, {168, week}}, 7));
    std::ranges::sort(found);
    EXPECT_EQ(found, (std::vector<double>{24, 168})) << week;
  }
}

TEST(PeriodFinder, DatedDataHaveThePeriodsOfTheCalendar) {
  constexpr double kHour = 3600, kDay = 86400, kYear = 31557600;
  // 1,000 values every 40 minutes: a day is 36 of them. One of 36.2 is not told from it.
  EXPECT_EQ(find_periods(dated(waves(1000, {{36.2, 1}}, 8), 2400), 0, 2400, 1)[0], kDay / 2400);
  const Dataset daily = dated(waves(8 * 365, {{365.25, 1.5}}, 9), kDay);
  EXPECT_EQ(find_periods(daily, 0, kDay, 1)[0], kYear / kDay);
  EXPECT_EQ(find_periods(dated(waves(2000, {{168, 1}}, 10), kHour), 0, kHour, 1)[0], 168);
  // No cycle of the calendar.
  EXPECT_EQ(find_periods(dated(waves(2400, {{31, 1}}, 11), kHour), 0, kHour, 1)[0], 31);
}

TEST(PeriodFinder, GapsAndIrregularStepsHideNoPeriod) {
  constexpr int kSteps = 2400;
  std::vector<double> y = waves(kSteps, {{24, 1.5}}, 12);
  RandomStream random(13, "gaps");
  std::vector<double> some = y, t;
  for (std::size_t k = 0; k < some.size(); ++k)
    if (random.uniform() < 0.3 || (k >= 700 && k < 900)) some[k] = kMissing;
  EXPECT_EQ(periods_of(some), (std::vector<double>{24}));
  // Rows left out instead, in another unit of time.
  std::vector<double> rows;
  for (std::size_t k = 0; k < some.size(); ++k)
    if (!std::isnan(some[k])) {
      t.push_back(0.25 * static_cast<double>(k));
      rows.push_back(some[k]);
    }
  EXPECT_EQ(find_periods(timed(t, rows, TimeKind::Number), 0, 0.25, 3), (std::vector<double>{24}));
  // Steps of any length from half to one and a half.
  RandomStream jitter(14, "jitter");
  t.clear();
  rows.clear();
  for (double at = 0; at < kSteps; at += 0.5 + jitter.uniform()) {
    t.push_back(at);
    rows.push_back(1.5 * std::sin(2 * std::numbers::pi * at / 24) + jitter.normal());
  }
  const std::vector<double> found = find_periods(timed(t, rows, TimeKind::Number), 0, 1, 3);
  ASSERT_EQ(found.size(), 1u);
  expect_same(found[0], 24, kSteps);
}

TEST(PeriodFinder, TooFewStepsCyclesOrValuesShowNone) {
  EXPECT_TRUE(periods_of(waves(30, {{5, 20}}, 15)).empty());
  EXPECT_TRUE(periods_of({}).empty());
  EXPECT_TRUE(periods_of(std::vector<double>(500, kMissing)).empty());
  EXPECT_TRUE(periods_of(std::vector<double>(500, 3.0)).empty());
  // Two cycles and a half may be anything; twenty may not.
  EXPECT_TRUE(periods_of(waves(250, {{100, 5}}, 16)).empty());
  EXPECT_FALSE(periods_of(waves(2000, {{100, 5}}, 16)).empty());
  // A value in a hundred steps says nothing of a period of 24.
  std::vector<double> y = waves(9000, {{24, 5}}, 17);
  for (std::size_t k = 0; k < y.size(); ++k)
    if (k % 100 > 0) y[k] = kMissing;
  EXPECT_TRUE(periods_of(y).empty());
}

TEST(PeriodFinder, ReadsItsChannelOfTheLongestSeries) {
  Dataset data = dataset_of({waves(100, {{5, 3}}, 18), waves(1200, {{24, 3}}, 19)});
  EXPECT_EQ(find_periods(data, 0, 1, 3), (std::vector<double>{24}));
  const std::vector<double> a = waves(1200, {{24, 3}}, 20), b = waves(1200, {{17, 3}}, 21);
  Dataset two;
  two.y_names = {"a", "b"};
  Series& series = two.series.emplace_back();
  series.steps = 1200;
  for (std::size_t k = 0; k < a.size(); ++k) series.y.insert(series.y.end(), {a[k], b[k]});
  EXPECT_EQ(find_periods(two, 0, 1, 3), (std::vector<double>{24}));
  EXPECT_EQ(find_periods(two, 1, 1, 3), (std::vector<double>{17}));
}

}  // namespace
}  // namespace kalmia::train
