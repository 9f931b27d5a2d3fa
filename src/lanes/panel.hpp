// The one data layout: a panel is `rows x lanes`, lanes contiguous, one sequence a lane.
// A small matrix per sequence is a panel whose rows are its entries in row-major order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.hpp"

namespace kalmia::lanes {

/// Lanes in a line: 16 floats or 8 doubles.
template <typename T>
inline constexpr int kLineLanes = static_cast<int>(kLineBytes / sizeof(T));

/// One bit per lane of a line or of a lane group of at most 64 lanes.
using LaneBits = std::uint64_t;

/// Lane counts of panels shared by float and double are multiples of this.
inline constexpr int kLaneQuantum = kLineLanes<float>;

/// The smallest lane count a panel may have for `count` sequences.
constexpr int padded_lanes(int count) {
  return (count + kLaneQuantum - 1) / kLaneQuantum * kLaneQuantum;
}

/// `count` rounded up to whole lines.
template <typename T>
constexpr int padded_to_line(int count) {
  return (count + kLineLanes<T> - 1) / kLineLanes<T> * kLineLanes<T>;
}

/// Entries of the lower triangle of an n x n matrix, packed by rows.
constexpr int triangle_size(int n) { return n * (n + 1) / 2; }
/// Position of entry (i, j), j <= i, in the packed lower triangle.
constexpr int triangle_index(int i, int j) { return i * (i + 1) / 2 + j; }

/// C = X, C += X or C -= X.
enum class Put { Set, Add, Sub };

}  // namespace kalmia::lanes
