// The parts of a transformer's step against their equations written out, and their adjoints against
// central differences. The whole of it is compared in engine/network_pass_test.cpp.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "nn/transformer_test.cpp"
#include <hwy/foreach_target.h>

#include "nn/transformer-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::test::HWY_NAMESPACE {

namespace ng = kalmia::nn::HWY_NAMESPACE;

void norm(const double* x, int rows, int lanes, double* out, double* scale) {
  ng::norm_forward(x, rows, lanes, out, scale);
}
void norm_float(const float* x, int rows, int lanes, float* out, float* scale) {
  ng::norm_forward(x, rows, lanes, out, scale);
}
void norm_adjoint(const double* norm, const double* scale, const double* d_norm, int rows,
                  int lanes, const double* start, double* d_x) {
  ng::norm_backward(norm, scale, d_norm, rows, lanes, start, d_x);
}
void attend(const nn::PackedTransformer<double>& net, const double* q, const double* slot,
            std::ptrdiff_t step, int lanes, double* weights, double* heard) {
  ng::attend_forward(net, q, slot, step, lanes, weights, heard);
}
void attend_adjoint(const nn::PackedTransformer<double>& net, const double* q, const double* slot,
                    std::ptrdiff_t step, const double* heard, const double* d_heard, int lanes,
                    double* weights, double* d_slot, double* d_q) {
  ng::attend_backward(net, q, slot, step, heard, d_heard, lanes, weights, d_slot, d_q);
}

}  // namespace kalmia::test::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/gradient_check.hpp"
#include "support/isas.hpp"

namespace kalmia::test {
namespace {

HWY_EXPORT(norm);
HWY_EXPORT(norm_float);
HWY_EXPORT(norm_adjoint);
HWY_EXPORT(attend);
HWY_EXPORT(attend_adjoint);

constexpr int kLanes = 16;

Buffer<double> drawn(int size, const char* name) {
  RandomStream random(37, name);
  Buffer<double> values(static_cast<std::size_t>(size));
  for (double& v : values.span()) v = random.normal();
  return values;
}

TEST(Transformer, HasHeadsOfFourUnitsOrMore) {
  struct Case {
    int hidden, heads;
  };
  for (const Case& each :
       {Case{64, 8}, {32, 8}, {16, 4}, {12, 2}, {10, 2}, {7, 1}, {4, 1}, {1, 1}}) {
    nn::ParameterLayout parameters;
    const auto layout = nn::TransformerLayout::add_to(parameters, "t", 3, each.hidden, 5);
    EXPECT_EQ(layout.heads, each.heads) << each.hidden;
  }
}

// Head by head half as steep: at 64 units 1/2, 1/4, ..., 1/256 a step.
TEST(Transformer, StartsWithHeadsThatLookBackFartherAndFarther) {
  nn::ParameterLayout parameters;
  const auto layout = nn::TransformerLayout::add_to(parameters, "t", 3, 64, 5);
  RandomStream random(1, "none");
  const nn::ParameterView& position = parameters.at("t.position");
  for (int head = 0; head < 8; ++head)
    for (int lag = 0; lag < 5; ++lag)
      EXPECT_DOUBLE_EQ(layout.first_value(position, head * 5 + lag, random),
                       -lag * std::pow(0.5, head + 1));
}

TEST(Transformer, NormalisesEachLane) {
  for_each_isa([] {
    for (const int rows : {1, 5, 16}) {
      const Buffer<double> x = drawn(rows * kLanes, "x");
      Buffer<double> out(x.size()), scale(kLanes);
      HWY_DYNAMIC_DISPATCH(norm)(x.data(), rows, kLanes, out.data(), scale.data());
      Buffer<float> x_float(x.size()), out_float(x.size()), scale_float(kLanes);
      for (std::size_t i = 0; i < x.size(); ++i) x_float[i] = static_cast<float>(x[i]);
      HWY_DYNAMIC_DISPATCH(norm_float)
      (x_float.data(), rows, kLanes, out_float.data(), scale_float.data());
      for (int lane = 0; lane < kLanes; ++lane) {
        const auto at = [&](int i) { return static_cast<std::size_t>(i * kLanes + lane); };
        double mean = 0, var = 0;
        for (int i = 0; i < rows; ++i) mean += x[at(i)] / rows;
        for (int i = 0; i < rows; ++i) var += (x[at(i)] - mean) * (x[at(i)] - mean) / rows;
        for (int i = 0; i < rows; ++i) {
          const double expected = (x[at(i)] - mean) / std::sqrt(var + nn::kNormFloor);
          ASSERT_NEAR(out[at(i)], expected, 1e-13);
          ASSERT_NEAR(static_cast<double>(out_float[at(i)]), expected, 1e-5);
        }
      }
    }
  });
}

TEST(Transformer, AdjointOfTheNormMatchesCentralDifferences) {
  for_each_isa([] {
    constexpr int kRows = 6;
    Buffer<double> x = drawn(kRows * kLanes, "x");
    const Buffer<double> weights = drawn(kRows * kLanes, "weights");
    const Buffer<double> start = drawn(kRows * kLanes, "start");
    Buffer<double> out(x.size()), scale(kLanes), d_x(x.size());
    const auto loss = [&] {
      HWY_DYNAMIC_DISPATCH(norm)(x.data(), kRows, kLanes, out.data(), scale.data());
      return weighted_sum(weights.span(), out.span()) + weighted_sum(start.span(), x.span());
    };
    loss();
    HWY_DYNAMIC_DISPATCH(norm_adjoint)
    (out.data(), scale.data(), weights.data(), kRows, kLanes, start.data(), d_x.data());
    check_gradient(loss, {{"x", x.span(), d_x.span(), 0}}, 41);
  });
}

// Five lags and two heads; some lags of some lanes do not exist.
struct AttentionCase {
  static constexpr int kHidden = 8, kTaps = 5, kHeads = 2, kSlot = 2 * kHidden + 1;
  nn::PackedTransformer<double> net;
  Buffer<double> q = drawn(kHidden * kLanes, "q");
  Buffer<double> slots = drawn(kTaps * kSlot * kLanes, "slots");  // the oldest first
  Buffer<double> weights{static_cast<std::size_t>(kHeads * kTaps * kLanes)};
  Buffer<double> heard{static_cast<std::size_t>(kHidden * kLanes)};

  AttentionCase() {
    net.hidden = kHidden;
    net.taps = kTaps;
    net.heads = kHeads;
    net.position = drawn(kHeads * kTaps, "position");
    for (int lag = 0; lag < kTaps; ++lag)
      for (int lane = 0; lane < kLanes; ++lane)
        slots[at(lag, 2 * kHidden, lane)] = exists(lag, lane) ? 1 : 0;
  }
  static bool exists(int lag, int lane) { return lag == 0 || lag < lane; }
  static std::size_t at(int lag, int row, int lane) {
    return static_cast<std::size_t>(((kTaps - 1 - lag) * kSlot + row) * kLanes + lane);
  }
  static std::size_t row_at(int row, int lane) {
    return static_cast<std::size_t>(row * kLanes + lane);
  }
  static std::ptrdiff_t own() { return static_cast<std::ptrdiff_t>(at(0, 0, 0)); }
  void run() {
    HWY_DYNAMIC_DISPATCH(attend)
    (net, q.data(), slots.data() + own(), kSlot * kLanes, kLanes, weights.data(), heard.data());
  }
};

TEST(Transformer, AttendsAsItsEquationSays) {
  for_each_isa([] {
    AttentionCase c;
    c.run();
    constexpr int d = AttentionCase::kHidden / AttentionCase::kHeads;
    for (int head = 0; head < AttentionCase::kHeads; ++head)
      for (int lane = 0; lane < kLanes; ++lane) {
        std::vector<double> weight(AttentionCase::kTaps, 0);
        double sum = 0;
        for (int lag = 0; lag < AttentionCase::kTaps; ++lag) {
          if (!AttentionCase::exists(lag, lane)) continue;
          double score =
              c.net.position[static_cast<std::size_t>(head * AttentionCase::kTaps + lag)];
          for (int i = head * d; i < (head + 1) * d; ++i)
            score += c.q[c.row_at(i, lane)] * c.slots[c.at(lag, i, lane)] / std::sqrt(d);
          sum += weight[static_cast<std::size_t>(lag)] = std::exp(score);
        }
        for (int lag = 0; lag < AttentionCase::kTaps; ++lag)
          ASSERT_NEAR(c.weights[c.row_at(head * AttentionCase::kTaps + lag, lane)],
                      weight[static_cast<std::size_t>(lag)] / sum, 1e-9);
        for (int i = head * d; i < (head + 1) * d; ++i) {
          double value = 0;
          for (int lag = 0; lag < AttentionCase::kTaps; ++lag)
            value += weight[static_cast<std::size_t>(lag)] / sum *
                     c.slots[c.at(lag, AttentionCase::kHidden + i, lane)];
          ASSERT_NEAR(c.heard[c.row_at(i, lane)], value, 1e-9);
        }
      }
  });
}

TEST(Transformer, AdjointOfAttentionMatchesCentralDifferences) {
  for_each_isa([] {
    AttentionCase c;
    const Buffer<double> d_heard = drawn(static_cast<int>(c.heard.size()), "d_heard");
    const auto loss = [&] {
      c.run();
      return weighted_sum(d_heard.span(), c.heard.span());
    };
    loss();
    // The slots' adjoints are added to: what was there must still be in them.
    Buffer<double> d_slots(c.slots.size()), d_q(c.q.size());
    for (double& d : d_slots.span()) d = 1;
    HWY_DYNAMIC_DISPATCH(attend_adjoint)
    (c.net, c.q.data(), c.slots.data() + c.own(), AttentionCase::kSlot * kLanes, c.heard.data(),
     d_heard.data(), kLanes, c.weights.data(), d_slots.data() + c.own(), d_q.data());
    for (double& d : d_slots.span()) d -= 1;
    std::vector<double> d_position(c.net.position.size(), 0);
    for (std::size_t i = 0; i < d_position.size(); ++i)
      for (int lane = 0; lane < kLanes; ++lane)
        d_position[i] += c.weights[c.row_at(static_cast<int>(i), lane)];
    check_gradient(
        loss,
        {{"q", c.q.span(), d_q.span(), 0}, {"position", c.net.position.span(), d_position, 0}}, 43);
    // Keys and values alone: a mark is or is not there.
    Buffer<double> marks(c.slots.size());
    for (std::size_t i = 0; i < marks.size(); ++i) marks[i] = c.slots[i];
    const auto with_marks = [&] {
      for (int lag = 0; lag < AttentionCase::kTaps; ++lag)
        for (int lane = 0; lane < kLanes; ++lane) {
          const std::size_t mark = c.at(lag, 2 * AttentionCase::kHidden, lane);
          c.slots[mark] = marks[mark];
        }
      return loss();
    };
    check_gradient(with_marks, {{"keys and values", c.slots.span(), d_slots.span(), 0}}, 44);
  });
}

}  // namespace
}  // namespace kalmia::test
#endif
