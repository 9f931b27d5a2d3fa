// Data sets compared number by number, missing ones included.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kalmia/data.hpp"

namespace kalmia {

inline void expect_equal(const std::vector<double>& have, const std::vector<double>& want,
                         const std::string& what) {
  ASSERT_EQ(have.size(), want.size()) << what;
  for (std::size_t i = 0; i < have.size(); ++i)
    if (std::isnan(want[i]))
      EXPECT_TRUE(std::isnan(have[i])) << what << " " << i << " is " << have[i];
    else
      EXPECT_EQ(have[i], want[i]) << what << " " << i;
}

/// All but the source.
inline void expect_equal(const Dataset& have, const Dataset& want) {
  EXPECT_EQ(have.key_name, want.key_name);
  EXPECT_EQ(have.time_name, want.time_name);
  EXPECT_EQ(have.time_kind, want.time_kind);
  EXPECT_EQ(have.y_names, want.y_names);
  EXPECT_EQ(have.x_names, want.x_names);
  EXPECT_EQ(have.u_names, want.u_names);
  ASSERT_EQ(have.series.size(), want.series.size());
  for (std::size_t i = 0; i < want.series.size(); ++i) {
    EXPECT_EQ(have.series[i].key, want.series[i].key);
    EXPECT_EQ(have.series[i].steps, want.series[i].steps);
    expect_equal(have.series[i].y, want.series[i].y, "y");
    expect_equal(have.series[i].x, want.series[i].x, "x");
    expect_equal(have.series[i].u, want.series[i].u, "u");
    expect_equal(have.series[i].t, want.series[i].t, "t");
    expect_equal(have.series[i].y_std, want.series[i].y_std, "y_std");
  }
}

/// Two series of different lengths with everything a data set may have; awkward numbers and keys.
inline Dataset example_dataset() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  Dataset data;
  data.key_name = "unique_id";
  data.time_name = "t";
  data.time_kind = TimeKind::Number;
  data.y_names = {"y1", "y2"};
  data.x_names = {"true_position", "true_speed", "true_load"};
  data.u_names = {"u"};
  Series a;
  a.key = "first, \"quoted\"";
  a.steps = 3;
  a.y = {0.1, kNaN, -1e-300, 1.0 / 3, kNaN, kNaN};
  a.x = {1, 2, 3, 4, 5, 6, 7, 8, 9e99};
  a.u = {0, -0.5, 1};
  a.t = {0, 0.1, 0.30000000000000004};
  Series b;
  b.key = "second";
  b.steps = 2;
  b.y = {5, 6, 7, 123456789.123456789};
  b.x = {kNaN, 1, 2, 3, 4, 5};
  b.u = {2, 3};
  b.t = {-7.5, 1e6};
  data.series = {a, b};
  return data;
}

}  // namespace kalmia
