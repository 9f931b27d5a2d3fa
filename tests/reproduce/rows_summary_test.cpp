#include <gtest/gtest.h>

#include "reproduce/rows.hpp"

namespace kalmia::reproduction {
namespace {

TEST(Summary, Spread) {
  const ReproduceSpread odd = spread_of({3, 1, 10});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.low, 1);
  EXPECT_EQ(odd.high, 10);
  EXPECT_EQ(spread_of({4, 1, 2, 10}).median, 3);
  EXPECT_FALSE(spread_of({}).median);
}

TEST(Summary, OneForEachMethodAndSize) {
  const auto row = [](const char* method, int n, std::optional<double> error) {
    ReproduceRow made;
    made.method = method;
    made.n = n;
    made.state_mse = error;
    if (!error) made.error = "failed";
    return made;
  };
  const std::vector<ReproduceSummary> all =
      summarise({row("a", 128, 1), row("a", 128, 3), row("a", 128, std::nullopt),
                 row("a", 512, 0.5), row("b", 128, 7)});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].seeds, 2);
  EXPECT_EQ(all[0].state_mse.median, 2);
  EXPECT_EQ(all[0].state_mse.high, 3);
  EXPECT_FALSE(all[0].position_mse.median);
  EXPECT_EQ(all[1].n, 512);
  EXPECT_EQ(all[2].method, "b");
}

}  // namespace
}  // namespace kalmia::reproduction
