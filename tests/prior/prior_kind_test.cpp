#include "prior/prior_kind.hpp"

#include <gtest/gtest.h>

#include <set>

#include "kalmia/error.hpp"
#include "prior/expert.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::prior {
namespace {

TEST(PriorKind, EveryRowIsFoundByItsNameAndItsKind) {
  std::set<std::string_view> names;
  for (const PriorEntry& each : prior_table()) {
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
    EXPECT_EQ(find_prior(each.name), &each);
    EXPECT_EQ(&prior_entry(each.kind), &each);
    EXPECT_EQ(prior_of_name(each.name), each.kind);
    EXPECT_EQ(prior_name(each.kind), each.name);
  }
  EXPECT_EQ(find_prior("auto"), nullptr);
}

TEST(PriorKind, AnUnknownNameListsTheKnownOnes) {
  const std::string message = message_of<ConfigError>([] { prior_of_name("constant-velosity"); });
  EXPECT_EQ(message.find("prior = \"constant-velosity\", but it must be constant-position, "), 0u)
      << message;
  for (const PriorEntry& each : prior_table())
    EXPECT_NE(message.find(each.name), std::string::npos) << message;
  EXPECT_TRUE(message.ends_with("; did you mean constant-velocity?")) << message;
}

TEST(PriorKind, WhatIsTriedHasNoMoreStatesThanAModel) {
  const std::vector<PriorKind> small = {PriorKind::ConstantPosition, PriorKind::MeanReverting};
  std::vector<PriorKind> all = small;
  all.insert(all.end(), {PriorKind::ConstantVelocity, PriorKind::DampedVelocity});
  EXPECT_EQ(automatic_priors(), all);
  EXPECT_EQ(automatic_priors(kMostStates / 2), all);
  EXPECT_EQ(automatic_priors(kMostStates / 2 + 1), small);
}

TEST(PriorKind, LinearFlowsAreThoseWhoseMapsHoldForAnyStep) {
  const std::vector<std::string> two = {"a", "b"};
  for (const PriorEntry& each : prior_table()) {
    // The parts of a sum decide.
    if (each.family != PriorFamily::Motion || each.kind == PriorKind::Sum) continue;
    ExpertSpec spec;
    spec.kind = each.kind;
    const Expert expert = make_expert(spec, two);
    const kalman::FlowMap* flow = expert.map->as_flow();
    EXPECT_EQ(flow != nullptr && flow->any_step(), each.flow_states > 0) << each.name;
    EXPECT_EQ(expert.state_dim(), 2 * (each.flow_states > 0 ? each.flow_states : 2)) << each.name;
  }
}

}  // namespace
}  // namespace kalmia::prior
