// One battery of properties for every model, encoder, precision, lane count and instruction set.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "base/threads.hpp"
#include "engine/batch.hpp"
#include "support/encoders.hpp"
#include "support/isas.hpp"
#include "support/lane_groups.hpp"
#include "support/window_case.hpp"

namespace kalmia::heads {
namespace {

using test::Matrix;
using test::WindowCase;
using test::WindowResult;

constexpr int kBatterySteps = 19;  // more than one chunk of weight gradients
constexpr double kScale = 0.01;
constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

/// Every model of states: its head, whether it reads both sides, and the rules of a recursion.
struct Model {
  const char* name;
  HeadKind head;
  bool two_sided;
  TransitionRule transition = TransitionRule::Residual;
  PosteriorRule posterior = PosteriorRule::Predicted;
};
constexpr Model kModels[] = {
    {"RecursiveFilter", HeadKind::Recursion, false},
    {"RecurrentFilter", HeadKind::Direct, false},
    {"DiagonalFilter", HeadKind::Diagonal, false},
    {"RecursiveSmoother", HeadKind::Recursion, true},
    {"RecurrentSmoother", HeadKind::Direct, true},
    {"TowardTheCentre", HeadKind::Recursion, true, TransitionRule::TowardCentre},
    {"AlternativePosterior", HeadKind::Recursion, true, TransitionRule::TowardCentre,
     PosteriorRule::Alternative},
};

/// One of them, and the scalar its networks run in.
template <typename Scalar, int kModel>
struct Kind {
  using T = Scalar;
  static ArchitectureOptions options() {
    ArchitectureOptions options;
    options.state_dim = 3;
    options.meas_dim = 2;
    options.input_dim = 3;
    options.hidden = 13;  // fills no register tile evenly
    options.decoder = {9, 6};
    options.head = kModels[kModel].head;
    options.two_sided = kModels[kModel].two_sided;
    options.transition = kModels[kModel].transition;
    options.posterior = kModels[kModel].posterior;
    return options;
  }
  static std::string name() {
    return std::string(kModels[kModel].name) + (sizeof(T) == 4 ? "Float" : "Double");
  }
};

using Kinds = testing::Types<Kind<float, 0>, Kind<float, 1>, Kind<float, 2>, Kind<float, 3>,
                             Kind<float, 4>, Kind<float, 5>, Kind<float, 6>, Kind<double, 0>,
                             Kind<double, 1>, Kind<double, 2>, Kind<double, 3>, Kind<double, 4>,
                             Kind<double, 5>, Kind<double, 6>>;
struct KindNames {
  template <typename K>
  static std::string GetName(int) {
    return K::name();
  }
};

template <typename K>
class Invariants : public testing::Test {
 protected:
  using T = typename K::T;
  using Case = WindowCase<T>;
  using Group = StateGroup<T>;

  /// Calls `property(lanes)` for every instruction set, encoder and lane count. The weights are
  /// packed by whoever makes a case, so cases are made inside.
  template <typename Property>
  void everywhere(Property property) {
    test::for_each_isa([&] {
      test::for_each_encoder([&](nn::EncoderKind encoder) {
        encoder_ = encoder;
        for (const int count : {16, 32, 48}) {
          SCOPED_TRACE(std::to_string(count) + " lanes");
          property(count);
        }
      });
    });
  }

  /// Data with everything that a window may have.
  Case make_case(int count, std::uint64_t seed = 21) const {
    ArchitectureOptions options = K::options();
    options.encoder = encoder_;
    options.taps = 6;
    return Case(options, {.missing = true, .uneven = true, .carried = true, .centre = true},
                kBatterySteps, count, seed);
  }

  static StateWorkspace<T> make_workspace(const Case& c, int steps, int count,
                                          bool training = true) {
    StateWorkspace<T> workspace;
    workspace.prepare(c.model(), steps, count, training);
    return workspace;
  }

  /// Runs a copy of `group`, whose carry stays as it was.
  static WindowResult run(const Case& c, const Group& group, bool training = true) {
    Group copy = test::copy_of(c.architecture, group);
    StateWorkspace<T> workspace = make_workspace(c, group.steps, group.lanes, training);
    return test::run_window(c.model(), copy, workspace, kScale);
  }

  static std::vector<int> order(int count) {
    std::vector<int> lanes(static_cast<std::size_t>(count));
    std::iota(lanes.begin(), lanes.end(), 0);
    return lanes;
  }

 private:
  nn::EncoderKind encoder_ = nn::EncoderKind::Gru;
};
TYPED_TEST_SUITE(Invariants, Kinds, KindNames);

TYPED_TEST(Invariants, EveryLaneEqualsTheReference) {
  using Scalar = typename TypeParam::T;
  // Relative to the largest number of each result, at least 1.
  constexpr double kTolerance = sizeof(Scalar) == 4 ? 2e-5 : 1e-12;
  this->everywhere([&](int count) {
    const auto c = this->make_case(count);
    const WindowResult result = this->run(c, c.group);
    const reference::Model model = test::reference_of(c);
    double loss = 0;
    for (int lane = 0; lane < count; ++lane) {
      const reference::ModelSequence sequence = test::sequence_of(c.architecture, c.group, lane);
      const reference::ModelRun expected = reference::run(model, sequence);
      for (std::size_t k = 0; k < sequence.y.size(); ++k) {
        SCOPED_TRACE("lane " + std::to_string(lane) + ", step " + std::to_string(k));
        const int step = static_cast<int>(k);
        const auto near = [&](const char* name, const Matrix& wanted) {
          const Matrix got = result.lane.at(name).matrix(
              step, lane, static_cast<int>(wanted.rows()), static_cast<int>(wanted.cols()));
          EXPECT_LE(test::difference(got, wanted), kTolerance) << name;
        };
        near("x_pred", expected.predicted[k].mean);
        near("P_pred", expected.predicted[k].cov);
        near("x_filt", expected.filtered[k].mean);
        near("P_filt", expected.filtered[k].cov);
        near("nll", Matrix::Constant(1, 1, expected.nll[k]));
        loss += expected.nll[k];
      }
      if (sequence.y.empty()) continue;
      const int N = c.architecture.state_dim();
      const Matrix h = expected.end.h, x = expected.end.state.mean, P = expected.end.state.cov;
      EXPECT_LE(test::difference(
                    result.lane.at("carry.h").matrix(0, lane, static_cast<int>(h.rows()), 1), h),
                kTolerance)
          << "lane " << lane;
      EXPECT_LE(test::difference(result.lane.at("carry.x").matrix(0, lane, N, 1), x), kTolerance)
          << "lane " << lane;
      EXPECT_LE(test::difference(result.lane.at("carry.P").matrix(0, lane, N, N), P), kTolerance)
          << "lane " << lane;
    }
    EXPECT_NEAR(result.loss, loss, kTolerance * std::abs(loss));
  });
}

TYPED_TEST(Invariants, PermutingLanesPermutesResultsBitForBit) {
  using Scalar = typename TypeParam::T;
  constexpr double kRounding = sizeof(Scalar) == 4 ? 1e-5 : 1e-13;
  this->everywhere([&](int count) {
    const auto c = this->make_case(count);
    std::vector<int> from = this->order(count);
    RandomStream random(5, "permutation");
    for (std::size_t i = from.size(); i > 1; --i) std::swap(from[i - 1], from[random.below(i)]);
    const WindowResult before = this->run(c, c.group);
    const WindowResult after =
        this->run(c, test::take(c.architecture, c.group, 0, kBatterySteps, from));
    for (int lane = 0; lane < count; ++lane)
      EXPECT_TRUE(same_lane(after, lane, before, from[static_cast<std::size_t>(lane)]));
    // Sums over lanes are taken in another order.
    EXPECT_NEAR(after.loss, before.loss, 1e-13 * std::abs(before.loss));
    EXPECT_LE(test::relative_difference(after.gradient, before.gradient), kRounding);
    EXPECT_LE(test::relative_difference(after.d_R, before.d_R), 1e-13);
  });
}

// Bit for bit, and in any position of a group of any size: the order of a lane's operations does
// not depend on where it lies.
TYPED_TEST(Invariants, ALaneDoesNotDependOnItsNeighbours) {
  this->everywhere([&](int count) {
    const auto c = this->make_case(count);
    const WindowResult full = this->run(c, c.group);
    for (const int kept : {0, 1}) {
      std::vector<int> from = this->order(count);
      for (int lane = 1 - kept; lane < count; lane += 2) from[static_cast<std::size_t>(lane)] = -1;
      const WindowResult half =
          this->run(c, test::take(c.architecture, c.group, 0, kBatterySteps, from));
      for (int lane = kept; lane < count; lane += 2) EXPECT_TRUE(same_lane(half, lane, full, lane));
    }
    for (const auto& [lane, size, position] :
         {std::tuple{2, 16, 0}, {2, 16, 15}, {5, 32, 17}, {7, 48, 40}, {count - 1, 16, 3}}) {
      std::vector<int> from(static_cast<std::size_t>(size), -1);
      from[static_cast<std::size_t>(position)] = lane;
      const WindowResult alone =
          this->run(c, test::take(c.architecture, c.group, 0, kBatterySteps, from));
      EXPECT_TRUE(same_lane(alone, position, full, lane))
          << "position " << position << " of " << size;
    }
  });
}

TYPED_TEST(Invariants, CovariancesAreSymmetricAndPositiveSemidefinite) {
  this->everywhere([&](int count) {
    const auto c = this->make_case(count);
    const WindowResult result = this->run(c, c.group);
    const int N = c.architecture.state_dim();
    for (const char* name : {"P_pred", "P_filt", "carry.P", "d_P"}) {
      const test::ResultPanel& panel = result.lane.at(name);
      for (int k = 0; k < panel.steps; ++k)
        for (int lane = 0; lane < count; ++lane) {
          const Matrix P = panel.matrix(k, lane, N, N);
          EXPECT_EQ(P, P.transpose()) << name << ", step " << k << ", lane " << lane;
          if (name[0] == 'd') continue;  // an adjoint, which has no sign
          const auto values = Eigen::SelfAdjointEigenSolver<Matrix>(P).eigenvalues();
          EXPECT_GE(values.minCoeff(), -1e-12 * values.maxCoeff())
              << name << ", step " << k << ", lane " << lane;
        }
    }
  });
}

// A lane that breaks counts as if it were not there; the others do not notice.
TYPED_TEST(Invariants, ANaNStaysInItsLane) {
  this->everywhere([&](int count) {
    enum class Where { Measurement, CarriedX, CarriedH };
    for (const Where where : {Where::Measurement, Where::CarriedX, Where::CarriedH})
      // Instructions give NaNs of both signs, and those that look at the sign bit must not care.
      for (const double nan : {kNotANumber, std::copysign(kNotANumber, -1.0)}) {
        SCOPED_TRACE(std::string(std::signbit(nan) ? "negative" : "positive") + " NaN in " +
                     (where == Where::Measurement ? "a measurement"
                      : where == Where::CarriedX  ? "the carried x"
                                                  : "the carried h"));
        auto c = this->make_case(count);
        const int bad = 6, step = 4;  // even: a lane that goes on from its carry
        const int N = c.architecture.state_dim(), M = c.architecture.meas_dim();
        // A recurrent model does not look at the x it carries.
        const bool breaks = where != Where::CarriedX || c.architecture.options.recursive();
        c.group.length[bad] = breaks ? 0 : kBatterySteps - 2;
        // What the networks say at the first step counts: a state has a centre, and is measured.
        c.group.centre[test::panel_at(0, N, 0, count, bad)] = 0.5;
        c.group.observed[test::panel_at(0, M, 0, count, bad)] = 1;
        c.group.y[test::panel_at(0, M, 0, count, bad)] = 0.25;
        const WindowResult expected = this->run(c, c.group);
        c.group.length[bad] = kBatterySteps - 2;
        switch (where) {
          case Where::Measurement:
            c.group.y[test::panel_at(step, M, 1, count, bad)] = nan;
            c.group.observed[test::panel_at(step, M, 1, count, bad)] = 1;
            break;
          case Where::CarriedX:
            c.group.carry.x[test::panel_at(0, N, 1, count, bad)] = nan;
            break;
          case Where::CarriedH:
            c.group.carry.h[test::panel_at(0, 1, 2, count, bad)] =
                static_cast<typename TypeParam::T>(nan);
        }
        const WindowResult result = this->run(c, c.group);
        for (int lane = 0; lane < count; ++lane)
          EXPECT_TRUE((lane == bad && breaks) || same_lane(result, lane, expected, lane));
        EXPECT_TRUE(test::same_bits(result.loss, expected.loss));
        EXPECT_TRUE(test::same_numbers(result.gradient, expected.gradient));
        EXPECT_TRUE(test::same_numbers(result.d_R, expected.d_R));
        for (const double g : result.gradient) ASSERT_TRUE(std::isfinite(g));
        if (!breaks) continue;
        EXPECT_TRUE(std::isnan(result.lane.at("lane_nll").at(0, 0, bad)));
        for (const char* name : {"d_h", "d_x", "d_P"}) {
          const test::ResultPanel& panel = result.lane.at(name);
          for (int row = 0; row < panel.rows; ++row)
            EXPECT_EQ(panel.at(0, row, bad), 0) << name << ", row " << row;
        }
      }
  });
}

TYPED_TEST(Invariants, ALaneOfLengthZeroDoesNothing) {
  this->everywhere([&](int count) {
    auto c = this->make_case(count);
    for (int lane = 0; lane < count; lane += 3) c.group.length[static_cast<std::size_t>(lane)] = 0;
    const WindowResult result = this->run(c, c.group);
    for (int lane = 0; lane < count; lane += 3) {
      SCOPED_TRACE("lane " + std::to_string(lane));
      EXPECT_EQ(result.lane.at("lane_nll").at(0, 0, lane), 0);
      for (const char* name : {"d_h", "d_x", "d_P"}) {
        const test::ResultPanel& panel = result.lane.at(name);
        for (int row = 0; row < panel.rows; ++row) EXPECT_EQ(panel.at(0, row, lane), 0) << name;
      }
      if (test::is_fresh(c.group, lane)) continue;  // nothing to keep
      const auto kept = [&](const char* name, const auto& carry) {
        const test::ResultPanel& panel = result.lane.at(name);
        for (int row = 0; row < panel.rows; ++row)
          EXPECT_EQ(panel.at(0, row, lane),
                    static_cast<double>(carry[test::panel_at(0, panel.rows, row, count, lane)]))
              << name << ", row " << row;
      };
      kept("carry.h", c.group.carry.h);
      kept("carry.x", c.group.carry.x);
      kept("carry.P", c.group.carry.P);
    }
    // With all lanes empty nothing is left.
    c.group.length.assign(static_cast<std::size_t>(count), 0);
    const WindowResult none = this->run(c, c.group);
    EXPECT_EQ(none.loss, 0);
    for (const double g : none.gradient) ASSERT_EQ(g, 0);
    for (const double g : none.d_R) ASSERT_EQ(g, 0);
  });
}

TYPED_TEST(Invariants, AWindowOfNoStepsDoesNothing) {
  this->everywhere([&](int count) {
    auto c = this->make_case(count);
    auto workspace = this->make_workspace(c, kBatterySteps, count);
    // Leaves results of another window behind, one lane of it broken.
    auto used = test::copy_of(c.architecture, c.group);
    used.length[3] = kBatterySteps;
    for (double& x : used.y.span()) x = std::isnan(x) ? 0 : x;
    used.y[test::panel_at(2, c.architecture.meas_dim(), 0, count, 3)] = kNotANumber;
    used.observed[test::panel_at(2, c.architecture.meas_dim(), 0, count, 3)] = 1;
    test::run_window(c.model(), used, workspace, kScale);

    auto empty = test::take(c.architecture, c.group, 0, 0, this->order(count));
    const WindowResult result = test::run_window(c.model(), empty, workspace, kScale);
    EXPECT_EQ(result.loss, 0);
    EXPECT_TRUE(result.failures.empty());
    for (const double g : result.gradient) ASSERT_EQ(g, 0);
    for (const char* name : {"lane_nll", "d_h", "d_x", "d_P"})
      for (const double d : result.lane.at(name).values) ASSERT_EQ(d, 0) << name;
    for (const std::uint8_t ok : workspace.lane_ok) ASSERT_EQ(ok, 1);
    const auto same = [](const auto& a, const auto& b) {
      return test::same_numbers(test::in_double(a), test::in_double(b));
    };
    EXPECT_TRUE(same(empty.carry.h, c.group.carry.h));
    EXPECT_TRUE(same(empty.carry.x, c.group.carry.x));
    EXPECT_TRUE(same(empty.carry.P, c.group.carry.P));
  });
}

TYPED_TEST(Invariants, ALaneOfLengthOneEqualsAWindowOfOneStep) {
  this->everywhere([&](int count) {
    auto c = this->make_case(count);
    c.group.length.assign(static_cast<std::size_t>(count), 1);
    const WindowResult cut = this->run(c, c.group);
    c.group.length.clear();
    const WindowResult one =
        this->run(c, test::take(c.architecture, c.group, 0, 1, this->order(count)));
    for (int lane = 0; lane < count; ++lane) {
      for (const char* name : {"lane_nll", "carry.h", "carry.x", "carry.P", "d_h", "d_x", "d_P"})
        for (int row = 0; row < one.lane.at(name).rows; ++row)
          EXPECT_EQ(cut.lane.at(name).at(0, row, lane), one.lane.at(name).at(0, row, lane))
              << name << ", row " << row << ", lane " << lane;
      for (const char* name : {"x_pred", "P_pred", "x_filt", "P_filt", "nll"})
        for (int row = 0; row < one.lane.at(name).rows; ++row)
          EXPECT_EQ(cut.lane.at(name).at(0, row, lane), one.lane.at(name).at(0, row, lane))
              << name << ", row " << row << ", lane " << lane;
    }
    EXPECT_EQ(cut.loss, one.loss);
    EXPECT_EQ(cut.gradient, one.gradient);
    EXPECT_EQ(cut.d_R, one.d_R);
  });
}

TYPED_TEST(Invariants, WithoutMeasurementsTheFilterOnlyPredicts) {
  this->everywhere([&](int count) {
    auto c = this->make_case(count);
    for (double& o : c.group.observed.span()) o = 0;
    for (double& y : c.group.y.span()) y = kNotANumber;
    const WindowResult result = this->run(c, c.group);
    EXPECT_EQ(result.loss, 0);
    EXPECT_EQ(result.lane.at("x_filt").values, result.lane.at("x_pred").values);
    // The alternative posterior adds P up by itself.
    const bool predicted = c.architecture.options.posterior == PosteriorRule::Predicted;
    EXPECT_LE(
        test::relative_difference(result.lane.at("P_filt").values, result.lane.at("P_pred").values),
        predicted ? 0 : 1e-14);
    for (const double x : result.lane.at("x_pred").values) ASSERT_TRUE(std::isfinite(x));
    for (const double g : result.gradient) ASSERT_EQ(g, 0);
    for (const double g : result.d_R) ASSERT_EQ(g, 0);
  });
}

TYPED_TEST(Invariants, AnyNumberOfThreadsGivesTheSameBits) {
  using Scalar = typename TypeParam::T;
  this->everywhere([&](int count) {
    const auto c = this->make_case(count);
    const auto with_threads = [&](int threads) {
      std::vector<StateGroup<Scalar>> groups;
      for (std::uint64_t g = 0; g < 5; ++g) groups.push_back(this->make_case(count, 40 + g).group);
      ThreadTeam team(threads);
      engine::BatchEngine<StateGroup<Scalar>> engine(c.model(), team, kBatterySteps, count, true);
      std::vector<Scalar> gradient(static_cast<std::size_t>(c.architecture.parameters.size()));
      std::vector<double> d_R(4);
      const engine::BatchResult result = engine.gradient(groups, kScale, gradient, d_R);
      std::vector<double> all = {result.nll, static_cast<double>(result.failed_lanes)};
      all.insert(all.end(), gradient.begin(), gradient.end());
      all.insert(all.end(), d_R.begin(), d_R.end());
      for (const StateGroup<Scalar>& group : groups)
        for (const auto& part : {test::in_double(group.carry.h), test::in_double(group.carry.x),
                                 test::in_double(group.carry.P)})
          all.insert(all.end(), part.begin(), part.end());
      return all;
    };
    const std::vector<double> one = with_threads(1);
    EXPECT_TRUE(std::isfinite(one[0]) && one[0] != 0);
    EXPECT_TRUE(test::same_numbers(with_threads(2), one));
    EXPECT_TRUE(test::same_numbers(with_threads(3), one));
  });
}

// Also on a workspace that has seen other data, is larger than needed, or keeps no tape.
TYPED_TEST(Invariants, RepetitionGivesTheSameBits) {
  this->everywhere([&](int count) {
    const auto c = this->make_case(count);
    const auto other = this->make_case(count + 16, 22);
    auto workspace = this->make_workspace(c, kBatterySteps + 3, count + 16);
    const auto again = [&] {
      auto group = test::copy_of(c.architecture, c.group);
      return test::run_window(c.model(), group, workspace, kScale);
    };
    const WindowResult first = again();
    auto group = test::copy_of(c.architecture, other.group);
    test::run_window(other.model(), group, workspace, kScale);
    for (const WindowResult& result : {again(), this->run(c, c.group)}) {
      for (int lane = 0; lane < count; ++lane) EXPECT_TRUE(same_lane(result, lane, first, lane));
      EXPECT_TRUE(test::same_numbers(result.gradient, first.gradient));
      EXPECT_TRUE(test::same_numbers(result.d_R, first.d_R));
      EXPECT_TRUE(test::same_bits(result.loss, first.loss));
    }
    const WindowResult inference = this->run(c, c.group, false);
    for (int lane = 0; lane < count; ++lane) EXPECT_TRUE(same_lane(inference, lane, first, lane));
    EXPECT_TRUE(test::same_bits(inference.loss, first.loss));
  });
}

}  // namespace
}  // namespace kalmia::heads
