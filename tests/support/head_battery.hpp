// The properties that every head must have, whatever its rows mean: lanes do not see each other,
// lengths are honoured, and nothing depends on threads or on what a workspace was used for before.
// tests/heads/invariants_test.cpp has more, for the heads of states.
//
// A Case is a random model with random data for one lane group:
//
//   Group                                        of its head
//   Case(encoder, steps, lanes, seed), model(), group
//   each_panel(a, b, visit)                      visit(a.panel, b.panel, rows) of two groups, for
//                                                everything that a step of a lane has
//   empty_group(steps, lanes)                    a group with nothing in its panels
//   outputs()                                    {name, rows} of what the head gives for each step
//   moments(buffers)                             the head's Moments, one buffer for each of these
//   poison(group, step, lane)                    makes a number NaN that the loss depends on
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/batch.hpp"
#include "support/encoders.hpp"
#include "support/isas.hpp"
#include "support/lane_groups.hpp"

namespace kalmia::test {

template <typename Case>
class HeadBattery : public testing::Test {
 protected:
  using Group = typename Case::Group;
  using Head = typename Group::Head;
  using T = typename Head::Scalar;

  static constexpr int kSteps = 19;  // more than one chunk of weight gradients
  static constexpr double kScale = 0.01;

  /// Calls `property(encoder, lanes)` for every instruction set, encoder and lane count.
  template <typename Property>
  static void everywhere(Property property) {
    for_each_isa([&] {
      for_each_encoder([&](nn::EncoderKind encoder) {
        for (const int lanes : {16, 32, 48}) {
          SCOPED_TRACE(std::to_string(lanes) + " lanes");
          property(encoder, lanes);
        }
      });
    });
  }

  static std::vector<int> order(int lanes) {
    std::vector<int> from(static_cast<std::size_t>(lanes));
    std::iota(from.begin(), from.end(), 0);
    return from;
  }

  /// The first `steps` steps of a case's group with lane `from[i]` as lane i; -1 is an idle lane.
  static Group take(const Case& c, int steps, const std::vector<int>& from) {
    const int lanes = static_cast<int>(from.size());
    Group out = c.empty_group(steps, lanes);
    c.each_panel(c.group, out, [&](const auto& source, auto& target, int rows) {
      take_lanes(source, c.group.lanes, rows, 0, steps, from, kNoise, target);
    });
    take_lanes(c.group.carry.h, c.group.lanes, c.model().architecture->encoder_state_rows(), 0, 1,
               from, kNoise, out.carry.h);
    for (const int old : from) {
      const auto at = static_cast<std::size_t>(old);
      out.length.push_back(old < 0 ? 0 : std::min(steps, c.group.length[at]));
      if constexpr (requires { out.fresh; }) out.fresh.push_back(old < 0 ? 1 : c.group.fresh[at]);
    }
    return out;
  }

  static typename Head::Workspace workspace_of(const Case& c, int steps, int lanes,
                                               bool training = true) {
    typename Head::Workspace workspace;
    workspace.prepare(c.model(), steps, lanes, training);
    return workspace;
  }

  /// Runs a group, whose carry moves on.
  static WindowResult run(const Case& c, Group& group, typename Head::Workspace& workspace) {
    std::vector<Buffer<double>> buffers;
    for (const auto& [name, rows] : c.outputs())
      buffers.emplace_back(panel_at(group.steps, rows, 0, group.lanes, 0));
    WindowResult result;
    const auto keep = [&](const char* name, int count, int rows, const auto& buffer) {
      std::vector<double> values(buffer.data(),
                                 buffer.data() + panel_at(count, rows, 0, group.lanes, 0));
      result.lane[name] = {count, rows, group.lanes, std::move(values)};
    };
    result.loss =
        engine::window_forward(c.model(), group.view(), group.carry, c.moments(buffers), workspace);
    for (std::size_t i = 0; i < buffers.size(); ++i)
      keep(c.outputs()[i].first, group.steps, c.outputs()[i].second, buffers[i]);
    const int encoder = c.model().architecture->encoder_state_rows();
    keep("lane_nll", 1, 1, workspace.lane_nll);
    keep("carry.h", 1, encoder, group.carry.h);
    result.failures = workspace.failures;
    if (!workspace.training) return result;
    engine::window_backward(c.model(), group.view(), kScale, workspace);
    result.gradient = in_double(workspace.gradient);
    keep("d_h", 1, encoder, workspace.d_h);
    return result;
  }
  static WindowResult run(const Case& c, Group group) {
    typename Head::Workspace workspace = workspace_of(c, group.steps, group.lanes);
    return run(c, group, workspace);
  }
  static WindowResult run(const Case& c) { return run(c, take(c, kSteps, order(c.group.lanes))); }
};

TYPED_TEST_SUITE_P(HeadBattery);

TYPED_TEST_P(HeadBattery, PermutingLanesPermutesResultsBitForBit) {
  constexpr double kRounding = sizeof(typename TestFixture::T) == 4 ? 1e-5 : 1e-13;
  this->everywhere([&](nn::EncoderKind encoder, int lanes) {
    const TypeParam c(encoder, this->kSteps, lanes, 61);
    std::vector<int> from = this->order(lanes);
    RandomStream random(5, "permutation");
    for (std::size_t i = from.size(); i > 1; --i) std::swap(from[i - 1], from[random.below(i)]);
    const WindowResult before = this->run(c);
    const WindowResult after = this->run(c, this->take(c, this->kSteps, from));
    for (int lane = 0; lane < lanes; ++lane)
      EXPECT_TRUE(same_lane(after, lane, before, from[static_cast<std::size_t>(lane)]));
    // Sums over lanes are taken in another order.
    EXPECT_NEAR(after.loss, before.loss, 1e-13 * std::abs(before.loss));
    EXPECT_LE(relative_difference(after.gradient, before.gradient), kRounding);
  });
}

TYPED_TEST_P(HeadBattery, ALaneDoesNotDependOnItsNeighbours) {
  this->everywhere([&](nn::EncoderKind encoder, int lanes) {
    const TypeParam c(encoder, this->kSteps, lanes, 62);
    const WindowResult full = this->run(c);
    for (const int kept : {0, 1}) {
      std::vector<int> from = this->order(lanes);
      for (int lane = 1 - kept; lane < lanes; lane += 2) from[static_cast<std::size_t>(lane)] = -1;
      const WindowResult half = this->run(c, this->take(c, this->kSteps, from));
      for (int lane = kept; lane < lanes; lane += 2) EXPECT_TRUE(same_lane(half, lane, full, lane));
    }
    for (const auto& [lane, size, position] :
         {std::tuple{2, 16, 0}, {2, 16, 15}, {5, 32, 17}, {lanes - 1, 48, 40}}) {
      std::vector<int> from(static_cast<std::size_t>(size), -1);
      from[static_cast<std::size_t>(position)] = lane;
      const WindowResult alone = this->run(c, this->take(c, this->kSteps, from));
      EXPECT_TRUE(same_lane(alone, position, full, lane)) << position << " of " << size;
    }
  });
}

// A lane that breaks counts as if it were not there; the others do not notice.
TYPED_TEST_P(HeadBattery, ANaNStaysInItsLane) {
  constexpr int kBad = 6, kStep = 4;
  this->everywhere([&](nn::EncoderKind encoder, int lanes) {
    TypeParam c(encoder, this->kSteps, lanes, 63);
    c.group.length[kBad] = 0;
    const WindowResult expected = this->run(c);
    c.group.length[kBad] = this->kSteps - 2;
    c.poison(c.group, kStep, kBad);
    const WindowResult result = this->run(c);
    ASSERT_EQ(result.failures.size(), 1u);
    EXPECT_EQ(result.failures[0].lane, kBad);
    EXPECT_EQ(result.failures[0].step, kStep);
    for (int lane = 0; lane < lanes; ++lane)
      EXPECT_TRUE(lane == kBad || same_lane(result, lane, expected, lane));
    EXPECT_TRUE(same_bits(result.loss, expected.loss));
    EXPECT_TRUE(same_numbers(result.gradient, expected.gradient));
    for (const double g : result.gradient) ASSERT_TRUE(std::isfinite(g));
    const ResultPanel& d_h = result.lane.at("d_h");
    for (int row = 0; row < d_h.rows; ++row) EXPECT_EQ(d_h.at(0, row, kBad), 0) << "row " << row;
  });
}

TYPED_TEST_P(HeadBattery, ALaneOfLengthZeroDoesNothing) {
  this->everywhere([&](nn::EncoderKind encoder, int lanes) {
    TypeParam c(encoder, this->kSteps, lanes, 64);
    for (int lane = 0; lane < lanes; lane += 3) c.group.length[static_cast<std::size_t>(lane)] = 0;
    const WindowResult result = this->run(c);
    for (int lane = 0; lane < lanes; lane += 3) {
      EXPECT_EQ(result.lane.at("lane_nll").at(0, 0, lane), 0) << "lane " << lane;
      const ResultPanel& d_h = result.lane.at("d_h");
      for (int row = 0; row < d_h.rows; ++row)
        EXPECT_EQ(d_h.at(0, row, lane), 0) << "lane " << lane << ", row " << row;
    }
    c.group.length.assign(static_cast<std::size_t>(lanes), 0);
    const WindowResult none = this->run(c);
    EXPECT_EQ(none.loss, 0);
    for (const double g : none.gradient) ASSERT_EQ(g, 0);
  });
}

TYPED_TEST_P(HeadBattery, AWindowOfNoStepsDoesNothing) {
  this->everywhere([&](nn::EncoderKind encoder, int lanes) {
    TypeParam c(encoder, this->kSteps, lanes, 65);
    auto workspace = this->workspace_of(c, this->kSteps, lanes);
    // Leaves results of another window behind, one lane of it broken.
    c.group.length[3] = this->kSteps;
    auto used = this->take(c, this->kSteps, this->order(lanes));
    c.poison(used, 2, 3);
    this->run(c, used, workspace);
    auto empty = this->take(c, 0, this->order(lanes));
    const WindowResult result = this->run(c, empty, workspace);
    EXPECT_EQ(result.loss, 0);
    EXPECT_TRUE(result.failures.empty());
    for (const double g : result.gradient) ASSERT_EQ(g, 0);
    EXPECT_TRUE(same_numbers(in_double(empty.carry.h), in_double(c.group.carry.h)));
  });
}

TYPED_TEST_P(HeadBattery, ALaneOfLengthOneEqualsAWindowOfOneStep) {
  this->everywhere([&](nn::EncoderKind encoder, int lanes) {
    TypeParam c(encoder, this->kSteps, lanes, 66);
    c.group.length.assign(static_cast<std::size_t>(lanes), 1);
    const WindowResult cut = this->run(c);
    const WindowResult one = this->run(c, this->take(c, 1, this->order(lanes)));
    for (const auto& [name, panel] : one.lane)
      for (int lane = 0; lane < lanes; ++lane)
        for (int row = 0; row < panel.rows; ++row)
          EXPECT_TRUE(same_bits(cut.lane.at(name).at(0, row, lane), panel.at(0, row, lane)))
              << name << ", row " << row << ", lane " << lane;
    EXPECT_EQ(cut.loss, one.loss);
    EXPECT_EQ(cut.gradient, one.gradient);
  });
}

TYPED_TEST_P(HeadBattery, AnyNumberOfThreadsGivesTheSameBits) {
  using Number = typename TestFixture::T;
  using LaneGroup = typename TestFixture::Group;
  this->everywhere([&](nn::EncoderKind encoder, int lanes) {
    const TypeParam c(encoder, this->kSteps, lanes, 67);
    const auto with_threads = [&](int threads) {
      std::vector<LaneGroup> groups;
      for (std::uint64_t g = 0; g < 5; ++g)
        groups.push_back(TypeParam(encoder, this->kSteps, lanes, 68 + g).group);
      ThreadTeam team(threads);
      engine::BatchEngine<LaneGroup> engine(c.model(), team, this->kSteps, lanes, true);
      std::vector<Number> gradient(
          static_cast<std::size_t>(c.model().architecture->parameters.size()));
      const engine::BatchResult result = engine.gradient(groups, this->kScale, gradient);
      std::vector<double> all = {result.nll};
      all.insert(all.end(), gradient.begin(), gradient.end());
      for (const LaneGroup& group : groups)
        for (const Number h : group.carry.h.span()) all.push_back(static_cast<double>(h));
      return all;
    };
    const std::vector<double> one = with_threads(1);
    EXPECT_TRUE(std::isfinite(one[0]) && one[0] != 0);
    EXPECT_TRUE(same_numbers(with_threads(2), one));
    EXPECT_TRUE(same_numbers(with_threads(3), one));
  });
}

// Also on a workspace that has seen other data, is larger than needed, or keeps no tape.
TYPED_TEST_P(HeadBattery, RepetitionGivesTheSameBits) {
  this->everywhere([&](nn::EncoderKind encoder, int lanes) {
    const TypeParam c(encoder, this->kSteps, lanes, 73);
    const TypeParam other(encoder, this->kSteps, lanes + 16, 74);
    auto workspace = this->workspace_of(c, this->kSteps + 3, lanes + 16);
    const auto on = [&](const TypeParam& which, auto& room) {
      auto group = this->take(which, this->kSteps, this->order(which.group.lanes));
      return this->run(which, group, room);
    };
    const WindowResult first = on(c, workspace);
    on(other, workspace);
    for (const WindowResult& result : {on(c, workspace), this->run(c)}) {
      for (int lane = 0; lane < lanes; ++lane) EXPECT_TRUE(same_lane(result, lane, first, lane));
      EXPECT_TRUE(same_numbers(result.gradient, first.gradient));
      EXPECT_TRUE(same_bits(result.loss, first.loss));
    }
    auto without_tape = this->workspace_of(c, this->kSteps, lanes, false);
    const WindowResult inference = on(c, without_tape);
    for (int lane = 0; lane < lanes; ++lane) EXPECT_TRUE(same_lane(inference, lane, first, lane));
    EXPECT_TRUE(same_bits(inference.loss, first.loss));
  });
}

REGISTER_TYPED_TEST_SUITE_P(HeadBattery, PermutingLanesPermutesResultsBitForBit,
                            ALaneDoesNotDependOnItsNeighbours, ANaNStaysInItsLane,
                            ALaneOfLengthZeroDoesNothing, AWindowOfNoStepsDoesNothing,
                            ALaneOfLengthOneEqualsAWindowOfOneStep,
                            AnyNumberOfThreadsGivesTheSameBits, RepetitionGivesTheSameBits);

struct HeadBatteryNames {
  template <typename Case>
  static std::string GetName(int) {
    return Case::name();
  }
};

}  // namespace kalmia::test
