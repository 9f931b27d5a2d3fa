#include "prior/expert_draft.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "prior/prior_cases.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::prior {
namespace {

// States a, b, c, of which a is measured, with these entries of F.
ExpertDraft draft_of(const Matrix& F) {
  ExpertDraft draft;
  draft.expert.name = "made up";
  draft.expert.state_names = {"a", "b", "c"};
  draft.expert.states = {{0, 0}, {-1, 0}, {-1, 0}};
  draft.expert.measured_state = {0};
  draft.symbols.states = 3;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) draft.map.F.push_back(draft.graph.constant(F(i, j)));
    draft.map.e.push_back(draft.graph.constant(0));
  }
  return draft;
}

ExpertSpec departing(double std) {
  ExpertSpec spec;
  spec.departure = std;
  return spec;
}

// b moves a and c moves b: all can be seen.
const Matrix kChain{{1, 2, 0}, {0, 0.5, 3}, {0, 0, 0.25}};

std::vector<std::string> parameter_names(const Expert& expert) {
  std::vector<std::string> names;
  for (const ExpertParameter& each : expert.parameters) names.push_back(each.name);
  return names;
}

TEST(ExpertDraft, DerivativesHaveNames) {
  EXPECT_EQ(derivative_suffix(0), "");
  EXPECT_EQ(derivative_suffix(1), "_rate");
  EXPECT_EQ(derivative_suffix(2), "_acceleration");
}

TEST(ExpertDraft, ParametersAreNumberedInTheirOrder) {
  ExpertDraft draft = draft_of(kChain);
  ExpertParameter first, second;
  first.name = "first";
  first.value = 4;
  second.name = "second";
  second.value = 5;
  const expr::Node a = draft.add_parameter(first), b = draft.add_parameter(second);
  EXPECT_EQ(draft.graph[a].symbol, draft.symbols.theta(0));
  EXPECT_EQ(draft.graph[b].symbol, draft.symbols.theta(1));
  draft.map.F[8] = b;
  draft.map.e[2] = a;
  const Expert expert = finish(draft, departing(0));
  EXPECT_EQ(parameter_names(expert), (std::vector<std::string>{"first", "second"}));
  EXPECT_EQ(expert.theta(), (std::vector<double>{4, 5}));
  const LocalMap map = local_map(expert, {Vector::Zero(3)});
  EXPECT_EQ(map.F, (Matrix{{1, 2, 0}, {0, 0.5, 3}, {0, 0, 5}}));
  EXPECT_EQ(map.e, (Vector{{0, 0, 4}}));
}

TEST(ExpertDraft, AMapIsLeftAloneWithoutADeparture) {
  ExpertDraft draft = draft_of(kChain);
  const Expert expert = finish(draft, departing(0));
  EXPECT_TRUE(expert.parameters.empty());
  EXPECT_EQ(local_map(expert, {Vector::Zero(3)}).F, kChain);
  EXPECT_EQ(expert.H, (std::vector<double>{1, 0, 0}));
}

// a is moved independently of where it is, and stays so.
TEST(ExpertDraft, ADepartureLeavesInvariantStatesAlone) {
  ExpertDraft draft = draft_of(kChain);
  const Expert expert = finish(draft, departing(0.25));
  EXPECT_EQ(parameter_names(expert),
            (std::vector<std::string>{"departure of a by b", "departure of a by c",
                                      "departure of b by b", "departure of b by c",
                                      "departure of c by b", "departure of c by c"}));
  for (const ExpertParameter& each : expert.parameters) {
    EXPECT_EQ(each.value, 0);
    EXPECT_TRUE(each.learn);
    EXPECT_EQ(each.prior_std, 0.25);
    EXPECT_EQ(each.lower, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(each.upper, std::numeric_limits<double>::infinity());
  }
  const Vector x{{1, 2, 3}};
  EXPECT_EQ(local_map(expert, {x}).F, kChain);
  const LocalMap off = local_map(expert, {x, 1, Vector(0), Vector{{1, 2, 3, 4, 5, 6}}});
  EXPECT_EQ(off.F, (Matrix(kChain + Matrix{{0, 1, 2}, {0, 3, 4}, {0, 5, 6}})));
  EXPECT_EQ(off.e, Vector::Zero(3));
}

TEST(ExpertDraft, OnlyAColumnOfTheIdentityIsInvariant) {
  // Of b the diagonal is 1, but it moves a; c fades.
  ExpertDraft draft = draft_of(Matrix{{1, 1, 0}, {0, 1, 1}, {0, 0, 0.9}});
  EXPECT_EQ(finish(draft, departing(1)).parameters.size(), 6u);
  ExpertDraft all = draft_of(Matrix{{0.9, 1, 0}, {0, 1, 1}, {0, 0, 1}});
  EXPECT_EQ(finish(all, departing(1)).parameters.size(), 9u);
}

TEST(ExpertDraft, AStateThatCannotBeSeenIsRefused) {
  const auto refused = [](const Matrix& F) {
    return message_of<ConfigError>([&] {
      ExpertDraft draft = draft_of(F);
      finish(draft, departing(0));
    });
  };
  EXPECT_EQ(refused(Matrix{{1, 2, 0}, {0, 0.5, 0}, {1, 1, 0.25}}),
            "prior made up: state c cannot be seen: no measured column depends on it, directly or "
            "through the states it moves; leave it out, or measure something it moves");
  // Two that see each other alone.
  EXPECT_NE(refused(Matrix{{1, 0, 0}, {0, 1, 1}, {0, 1, 1}}).find("state b cannot be seen"),
            std::string::npos);
  // A departure does not make it seen.
  EXPECT_NE(message_of<ConfigError>([] {
              ExpertDraft draft = draft_of(Matrix::Identity(3, 3));
              finish(draft, departing(1));
            }).find("state b cannot be seen"),
            std::string::npos);
}

TEST(ExpertDraft, WhatIsMeasuredMakesAStateSeen) {
  ExpertDraft draft = draft_of(Matrix::Identity(3, 3));
  draft.measure = {draft.graph.add(draft.x(0), draft.graph.multiply(draft.x(1), draft.x(2)))};
  draft.expert.measured_state = {-1};
  const Expert expert = finish(draft, departing(0));
  ASSERT_NE(expert.emission, nullptr);
  EXPECT_EQ(expert.emission->meas_dim(), 1);
}

TEST(ExpertDraft, ALinearMeasurementIsAMatrix) {
  const auto made = [](const auto& measure) {
    ExpertDraft draft = draft_of(kChain);
    draft.measure = measure(draft);
    draft.expert.measured_state.assign(draft.measure.size(), -1);
    return finish(draft, departing(0));
  };
  const Expert linear = made([](ExpertDraft& d) {
    expr::Graph& g = d.graph;
    return Nodes{g.add(g.multiply(g.constant(2), d.x(0)), d.x(1)),
                 g.divide(g.subtract(d.x(2), d.x(0)), g.constant(4))};
  });
  EXPECT_EQ(linear.emission, nullptr);
  EXPECT_EQ(linear.H, (std::vector<double>{2, 1, 0, -0.25, 0, 0.25}));
  // Not linear: an offset, a square, a parameter.
  EXPECT_NE(
      made([](ExpertDraft& d) { return Nodes{d.graph.add(d.x(0), d.graph.constant(1))}; }).emission,
      nullptr);
  EXPECT_NE(made([](ExpertDraft& d) { return Nodes{d.graph.multiply(d.x(0), d.x(0))}; }).emission,
            nullptr);
  EXPECT_NE(made([](ExpertDraft& d) {
              return Nodes{d.graph.multiply(d.add_parameter({}), d.x(0))};
            }).emission,
            nullptr);
}

// Whether anything is to be linearised again: an offset is not, a square is.
TEST(ExpertDraft, IsLinearWhereNeitherTheMapNorWhatIsMeasuredBends) {
  const auto linear = [](const auto& measure) {
    ExpertDraft draft = draft_of(kChain);
    draft.measure = {measure(draft)};
    draft.expert.measured_state = {-1};
    return finish(draft, departing(0)).linear;
  };
  EXPECT_TRUE(linear([](ExpertDraft& d) { return d.x(0); }));
  EXPECT_TRUE(linear([](ExpertDraft& d) { return d.graph.add(d.x(0), d.graph.constant(1)); }));
  EXPECT_FALSE(linear([](ExpertDraft& d) { return d.graph.multiply(d.x(0), d.x(0)); }));
}

TEST(ExpertDraft, EquationsThatSwellAreRefused) {
  ExpertDraft draft = draft_of(kChain);
  for (int i = 0; i < 400001; ++i) draft.graph.constant(i);
  const std::string message = message_of<ConfigError>([&] { finish(draft, departing(0)); });
  EXPECT_EQ(message.rfind("the equations of one step grew to ", 0), 0u) << message;
  EXPECT_NE(message.find("at most 400000 are possible"), std::string::npos) << message;
}

}  // namespace
}  // namespace kalmia::prior
