#include <gtest/gtest.h>

#include "train/fit_context.hpp"

namespace kalmia::train {
namespace {

TEST(ProgressReport, RemembersThatItWasStopped) {
  int asked = 0;
  ProgressReport report([&](const FitProgress& now) {
    EXPECT_EQ(now.stage, "networks");
    EXPECT_GE(now.seconds, 0);
    return ++asked != 2;
  });
  FitProgress now;
  now.stage = "networks";
  now.seconds = -1;
  EXPECT_TRUE(report(now));
  EXPECT_FALSE(report.stopped());
  EXPECT_FALSE(report(now));
  EXPECT_TRUE(report.stopped());
  // A later yes does not start it again.
  EXPECT_FALSE(report(now));
  EXPECT_EQ(asked, 3);
}

TEST(ProgressReport, WithoutAFunctionNothingStops) {
  ProgressReport report({});
  FitProgress now;
  EXPECT_TRUE(report(now));
  EXPECT_FALSE(report.stopped());
}

}  // namespace
}  // namespace kalmia::train
