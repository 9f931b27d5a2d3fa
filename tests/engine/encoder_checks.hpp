// What the sweeps of all encoders are checked for, beside their numbers (network_pass_test.cpp).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/row_case.hpp"
#include "support/isas.hpp"
#include "support/lane_groups.hpp"

namespace kalmia::test {

inline constexpr int kCheckedSteps = 23;
inline constexpr int kCheckedRows = 7;

/// A case whose lanes all have every step.
template <typename T>
RowCase<T> whole_lanes(nn::EncoderKind encoder, bool two_sided, int taps) {
  engine::NetworkOptions options = RowCase<T>::options(encoder, two_sided);
  options.taps = taps;
  options.hidden = 8;
  RowCase<T> c(options, kCheckedSteps, 91);
  std::fill(c.length.begin(), c.length.end(), kCheckedSteps);
  return c;
}

/// The rows of the steps begin..end-1; moves the carry on.
template <typename T>
std::vector<T> rows_of(const RowCase<T>& c, int begin, int end, RowCarry<T>& carry) {
  RowWorkspace<T> workspace = c.workspace(false);
  RowInput<T> in = c.input();
  const std::vector<int> length(RowCase<T>::kLanes, end - begin);
  const std::vector<std::uint8_t> goes_on(RowCase<T>::kLanes, 0);
  in.steps = end - begin;
  in.length = length.data();
  if (begin > 0) in.fresh = goes_on.data();
  const int inputs = c.layout.networks.input_dim * RowCase<T>::kLanes;
  in.input_fwd += begin * inputs;
  if (in.input_bwd != nullptr) in.input_bwd += begin * inputs;
  in.weight += begin * kCheckedRows * RowCase<T>::kLanes;
  std::vector<T> rows(static_cast<std::size_t>(in.steps * kCheckedRows * RowCase<T>::kLanes));
  engine::window_forward(c.model(), in, carry, {rows.data()}, workspace);
  return rows;
}

/// A series that is cut anywhere, or into single steps, gives the bits of the whole.
template <typename T>
void expect_bits_of_the_whole(nn::EncoderKind encoder, int taps) {
  for_each_isa([&] {
    RowCase<T> c = whole_lanes<T>(encoder, false, taps);
    c.pack();
    RowCarry<T> whole_carry = c.carry();
    const std::vector<T> whole = rows_of(c, 0, kCheckedSteps, whole_carry);
    for (const int cut : {1, 2, 5, 16, 22}) {
      SCOPED_TRACE("windows of " + std::to_string(cut) + " steps, " + std::to_string(taps) +
                   " taps");
      RowCarry<T> carry = c.carry();
      std::vector<T> rows;
      for (int begin = 0; begin < kCheckedSteps; begin += cut) {
        const std::vector<T> more = rows_of(c, begin, std::min(kCheckedSteps, begin + cut), carry);
        rows.insert(rows.end(), more.begin(), more.end());
      }
      EXPECT_TRUE(rows == whole);
      EXPECT_TRUE(
          std::equal(carry.h.span().begin(), carry.h.span().end(), whole_carry.h.span().begin()));
    }
  });
}

/// Step `first` is the first whose rows change with the input of step `changed`, `last` the last;
/// of two-sided networks with that of the backward direction.
inline void expect_reach(nn::EncoderKind encoder, bool two_sided, int taps, int changed, int first,
                         int last) {
  RowCase<double> c = whole_lanes<double>(encoder, two_sided, taps);
  RowCarry<double> carry = c.carry();
  const std::vector<double> before = rows_of(c, 0, kCheckedSteps, carry);
  Buffer<double>& input = two_sided ? c.input_bwd : c.input_fwd;
  for (int i = 0; i < c.layout.networks.input_dim; ++i)
    for (int lane = 0; lane < RowCase<double>::kLanes; ++lane)
      input[panel_at(changed, c.layout.networks.input_dim, i, RowCase<double>::kLanes, lane)] +=
          0.5;
  carry = c.carry();
  const std::vector<double> after = rows_of(c, 0, kCheckedSteps, carry);
  const std::size_t step = before.size() / kCheckedSteps;
  int seen_first = -1, seen_last = -1;
  for (int k = 0; k < kCheckedSteps; ++k) {
    const auto at = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(k) * step);
    if (std::equal(before.begin() + at, before.begin() + at + static_cast<std::ptrdiff_t>(step),
                   after.begin() + at))
      continue;
    if (seen_first < 0) seen_first = k;
    seen_last = k;
  }
  EXPECT_EQ(seen_first, first);
  EXPECT_EQ(seen_last, last);
}

}  // namespace kalmia::test
