// The plainest head there is, to test networks by: its loss is a weighted sum of the rows.
#pragma once

#include "engine/window.hpp"

namespace kalmia::test {

template <typename T>
struct RowHead;

template <typename T>
struct RowModel {
  using Head = RowHead<T>;
  const engine::NetworkLayout* architecture = nullptr;
  const engine::PackedNetwork<T>* network = nullptr;
};

template <typename T>
struct RowInput : engine::NetworkInput<T> {
  /// Weights, a panel of as many rows as the decoder puts out and those that are positive.
  const T* weight = nullptr;
};

template <typename T>
struct RowCarry : engine::NetworkCarry<T> {};

/// Where the rows of each step go, the positive ones behind the others; a panel, or null.
template <typename T>
struct RowResults {
  T* rows = nullptr;
};

template <typename T>
struct RowWorkspace : engine::NetworkWorkspace<T> {};

template <typename T>
struct RowHead {
  using Scalar = T;
  using Model = RowModel<T>;
  using Input = RowInput<T>;
  using Carry = RowCarry<T>;
  using Moments = RowResults<T>;
  using Workspace = RowWorkspace<T>;

  static void check(const Model&, const Input&) {}
  static const engine::WindowKernels<RowHead>& kernels(const Model&);
  static void end_backward(const Model&, Workspace&) {}
};

}  // namespace kalmia::test
