#include "prior/integration.hpp"

#include <gtest/gtest.h>

#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::prior {
namespace {

TEST(Integration, OrdersAndSubstepsHaveRanges) {
  for (const Integration& each : {Integration{{}, 0, 0}, Integration{FlowKind::Rk4, 20, 100}})
    EXPECT_NO_THROW(check_ranges(each, "", 0));
  const auto refused = [](const Integration& integration, const std::string& place, int least) {
    return message_of<ConfigError>([&] { check_ranges(integration, place, least); });
  };
  EXPECT_EQ(refused({{}, 21, 0}, "", 0), "order = 21, but it must be in 0..20");
  EXPECT_EQ(refused({{}, -1, 0}, "", 0), "order = -1, but it must be in 0..20");
  EXPECT_EQ(refused({{}, 0, 1}, "system.", 1), "system.order = 0, but it must be in 1..20");
  EXPECT_EQ(refused({{}, 1, 0}, "system.", 1), "system.substeps = 0, but it must be in 1..100");
  EXPECT_EQ(refused({{}, 2, 101}, "", 0), "substeps = 101, but it must be in 0..100");
}

TEST(Integration, AnOrderAloneHasTheSameRange) {
  EXPECT_NO_THROW(check_order(20, "", 0));
  EXPECT_EQ(message_of<ConfigError>([] { check_order(21, "", 0); }),
            "order = 21, but it must be in 0..20");
}

TEST(Integration, FlowsHaveNames) {
  for (const FlowEntry& each : flow_table()) {
    EXPECT_EQ(find_flow(each.name), &each);
    EXPECT_EQ(flow_name(each.flow), each.name);
    EXPECT_EQ(flow_of_name(std::string(each.name), "", true), each.flow);
  }
  EXPECT_EQ(find_flow("euler"), nullptr);
  EXPECT_EQ(flow_of_name("", "", false), std::nullopt);
  EXPECT_EQ(usual_flow(true), FlowKind::Frozen);
  EXPECT_EQ(usual_flow(false), FlowKind::Rk4);
}

TEST(Integration, AWrongFlowIsToldTheRightOnes) {
  const auto refused = [](const char* name, bool matrix) {
    return message_of<ConfigError>([&] { flow_of_name(name, "system.", matrix); });
  };
  EXPECT_EQ(refused("tailor", true),
            "system.flow = \"tailor\", but it must be frozen, taylor or rk4; did you mean taylor?");
  EXPECT_EQ(refused("frozen", false),
            "system.flow = \"frozen\", but it must be taylor or rk4; frozen is for a matrix");
}

}  // namespace
}  // namespace kalmia::prior
