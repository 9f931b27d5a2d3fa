#include "model/drive.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::model {
namespace {

const double kNoInput = std::nan("");

// One series at these times, with these values of inputs a and b.
Dataset driven(const std::vector<double>& t, const std::vector<double>& u = {}) {
  Dataset data;
  data.source = "plant.csv";
  data.time_kind = TimeKind::Number;
  data.y_names = {"y"};
  if (!u.empty()) data.u_names = {"a", "b"};
  Series& series = data.series.emplace_back();
  series.key = "first";
  series.steps = static_cast<int>(t.size());
  series.t = t;
  series.y.assign(t.size(), 0);
  series.u = u;
  return data;
}

SeriesDrive drive_of(const Dataset& data, double dt) {
  return series_drive(data, data.series[0], dt);
}

TEST(SeriesDrive, RegularTimesHaveNoLengths) {
  EXPECT_TRUE(drive_of(driven({0, 0.5, 1, 1.5}), 0.5).dt.empty());
  // Within a hundredth of a step.
  EXPECT_TRUE(drive_of(driven({0, 0.504, 1, 1.504}), 0.5).dt.empty());
  EXPECT_TRUE(drive_of(driven({}), 0.5).dt.empty());
  EXPECT_TRUE(drive_of(driven({3}), 0.5).dt.empty());
}

TEST(SeriesDrive, OtherTimesHaveTheirLengths) {
  EXPECT_EQ(drive_of(driven({1, 1.5, 4, 4.25}), 0.5).dt,
            (std::vector<double>{0.5, 0.5, 2.5, 0.25}));
  // Regular, but not as the model knows it.
  EXPECT_EQ(drive_of(driven({0, 1, 2}), 0.5).dt, (std::vector<double>{0.5, 1, 1}));
  EXPECT_EQ(drive_of(driven({0, 0.508, 1}), 0.5).dt.size(), 3u);
}

TEST(SeriesDrive, TimeMustRise) {
  EXPECT_EQ(message_of<DataError>([] {
              drive_of(driven({0, 1, 1}), 1);
            }),
            "plant.csv, series \"first\", step 3: the time is 1 after 1, but time must rise from "
            "step to step");
  EXPECT_THROW(drive_of(driven({0, 1, 0.5}), 1), DataError);
  EXPECT_THROW(drive_of(driven({0, kNoInput, 2}), 1), DataError);
  EXPECT_THROW(drive_of(driven({0, 1, std::numeric_limits<double>::infinity()}), 1), DataError);
}

TEST(SeriesDrive, InputsAreFilledFromTheOneBefore) {
  const Dataset data = driven({0, 1, 2, 3}, {kNoInput, 10, 2, kNoInput, kNoInput, kNoInput, 4, 13});
  EXPECT_EQ(drive_of(data, 1).u, (std::vector<double>{2, 10, 2, 10, 2, 10, 4, 13}));
  EXPECT_TRUE(drive_of(driven({0, 1}), 1).u.empty());
}

TEST(SeriesDrive, InputsThatCannotBeUsedAreRefused) {
  EXPECT_EQ(message_of<DataError>([] {
              drive_of(driven({0, 1}, {1, kNoInput, 2, kNoInput}), 1);
            }),
            "plant.csv, series \"first\", step 1, column b: the input has no values");
  EXPECT_EQ(message_of<DataError>([] {
              drive_of(driven({0, 1}, {1, 2, 3, -std::numeric_limits<double>::infinity()}), 1);
            }),
            "plant.csv, series \"first\", step 2, column b: the input is infinite");
  Dataset cut = driven({0, 1}, {1, 2, 3, 4});
  cut.series[0].u.pop_back();
  EXPECT_EQ(message_of<DataError>([&] { drive_of(cut, 1); }),
            "plant.csv, series \"first\", step 1: 3 inputs, but 2 steps of 2");
}

TEST(DriveStatistics, TheUsualLengthIsTheMedian) {
  const DriveStatistics found = drive_statistics(driven({0, 0.5, 1, 1.5, 4, 4.5}));
  EXPECT_EQ(found.dt, 0.5);
  EXPECT_TRUE(found.irregular);
  EXPECT_EQ(found.furthest, 2);
  const DriveStatistics regular = drive_statistics(driven({0, 0.5, 1, 1.502, 2}));
  EXPECT_EQ(regular.dt, 0.5);
  EXPECT_FALSE(regular.irregular);
  Dataset untimed = driven({});
  untimed.time_kind = TimeKind::None;
  EXPECT_EQ(drive_statistics(untimed).dt, 1);
  EXPECT_FALSE(drive_statistics(untimed).irregular);
}

// One series that differs is enough.
TEST(DriveStatistics, AllSeriesCount) {
  Dataset data = driven({0, 1, 2, 3, 4, 5}, {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0});
  data.series.push_back(data.series[0]);
  data.series[1].key = "second";
  data.series[1].t = {0, 1, 1.5, 3, 4, 5};
  data.series[1].u.assign(12, 7);
  const DriveStatistics found = drive_statistics(data);
  EXPECT_EQ(found.dt, 1);
  EXPECT_TRUE(found.irregular);
  EXPECT_EQ(found.furthest, 0.5);
  ASSERT_EQ(found.u_mean.size(), 2u);
  EXPECT_NEAR(found.u_mean[0], (21 + 42) / 12.0, 1e-14);
  EXPECT_NEAR(found.u_mean[1], 3.5, 1e-14);
  EXPECT_NEAR(found.u_spread[0], std::sqrt((91 + 6 * 49) / 12.0 - 5.25 * 5.25), 1e-14);
  EXPECT_NEAR(found.u_spread[1], 3.5, 1e-14);
  data.series[1].t[3] = 1;
  EXPECT_NE(
      message_of<DataError>([&] { drive_statistics(data); }).find("series \"second\", step 4"),
      std::string::npos);
}

// An input that never changes has no spread to divide by.
TEST(DriveStatistics, AConstantInputHasSpreadOne) {
  for (const double value : {0.1, 0.3, 20.1, 300.15, -101.3})
    for (int steps = 3; steps < 40; ++steps) {
      std::vector<double> t, u;
      for (int k = 0; k < steps; ++k) {
        t.push_back(k);
        u.insert(u.end(), {value, 0});
      }
      const DriveStatistics found = drive_statistics(driven(t, u));
      EXPECT_EQ(found.u_spread, (std::vector<double>{1, 1})) << value << ", " << steps << " steps";
    }
}

// Large numbers that hardly vary have the spread they have.
TEST(DriveStatistics, LargeInputsKeepTheirSpread) {
  const double large = 1e9;
  const DriveStatistics found = drive_statistics(
      driven({0, 1, 2, 3}, {large, -large, large + 2, -large, large, -large, large + 2, -large}));
  EXPECT_EQ(found.u_mean, (std::vector<double>{large + 1, -large}));
  EXPECT_EQ(found.u_spread, (std::vector<double>{1, 1}));
  const DriveStatistics fine =
      drive_statistics(driven({0, 1, 2, 3}, {large, 0, large + 0.5, 0, large, 0, large + 0.5, 0}));
  EXPECT_EQ(fine.u_spread[0], 0.25);
}

TEST(DriveStatistics, TimeThatStandsStillIsRefused) {
  EXPECT_THROW(drive_statistics(driven({1, 1, 1, 1})), DataError);
}

// Steps that the data may have are within ten times of the model's, which are 0.5 long.
TEST(CheckTime, AnotherUnitOfTimeIsRefused) {
  const auto check = [](const std::vector<double>& t, TimeKind kind = TimeKind::Number) {
    check_time(driven(t), kind, 0.5, "plant.csv");
  };
  for (const double step : {0.05, 0.5, 5.0}) EXPECT_NO_THROW(check({1, 1 + step, 1 + 2 * step}));
  EXPECT_EQ(message_of<DataError>([&] {
              check({0, 500, 1000, 1500});
            }),
            "plant.csv: the time step is 500 (the median), but the model was fitted with steps of "
            "0.5, and they may differ by a factor of 10 at most; is the time in another unit? "
            "Bring it to that of the fit, or fit a model to data with such steps");
  EXPECT_THROW(check({0, 0.049, 0.098}), DataError);
  EXPECT_THROW(check({0, 5.01, 10.02}), DataError);
  // The median counts, whatever single steps are.
  EXPECT_NO_THROW(check({0, 0.5, 1, 1000, 1000.5}));
  // What has no steps has no wrong ones, and time that does not rise has a message of its own.
  EXPECT_NO_THROW(check({7}));
  EXPECT_NO_THROW(check({}));
  EXPECT_NO_THROW(check({2, 1, 0}));
}

TEST(CheckTime, DatesAreSeconds) {
  Dataset data = driven({0, 3600, 7200});
  EXPECT_NO_THROW(check_time(data, TimeKind::Date, 3600, "plant.csv"));
  data.time_kind = TimeKind::Date;
  EXPECT_NO_THROW(check_time(data, TimeKind::Number, 3600, "plant.csv"));
  EXPECT_NE(message_of<DataError>([&] {
              check_time(data, TimeKind::Number, 1, "plant.csv");
            }).find("is 3600 s (the median), but the model was fitted with steps of 1, and"),
            std::string::npos);
}

TEST(CheckTime, BothHaveTimeOrNeither) {
  Dataset counted = driven({});
  counted.time_kind = TimeKind::None;
  EXPECT_NO_THROW(check_time(counted, TimeKind::None, 1, "plant.csv"));
  EXPECT_EQ(message_of<DataError>([&] { check_time(counted, TimeKind::Date, 60, "plant.csv"); }),
            "plant.csv: there is no time, but the model was fitted with time, in steps of 60 s; "
            "name the column with --time, or fit a model without time");
  Dataset timed = driven({0, 1, 2});
  timed.time_name = "t_s";
  EXPECT_EQ(message_of<DataError>([&] { check_time(timed, TimeKind::None, 1, "plant.csv"); }),
            "plant.csv: there is time (column t_s), but the model was fitted without, and counts "
            "steps; take the time out of the data, or fit a model with time");
}

}  // namespace
}  // namespace kalmia::model
