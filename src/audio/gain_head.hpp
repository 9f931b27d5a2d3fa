// The head of networks whose rows are gains.
//
//   g = sigmoid(out + offset),   scored by   square g^2 - 2 product g
//
// Of all numbers that a gain may multiply, and all that the product should be near, the score is
// the squared distance, less what does not depend on the gain.
#pragma once

#include <vector>

#include "engine/window.hpp"

namespace kalmia::audio {

template <typename T>
struct GainHead;

template <typename T>
struct GainWindow {
  using Head = GainHead<T>;

  const engine::NetworkLayout* architecture = nullptr;
  const engine::PackedNetwork<T>* network = nullptr;
};

/// Panels have a row for each gain.
template <typename T>
struct GainInput : engine::NetworkInput<T> {
  const T* offset = nullptr;  ///< what is added to the decoder's output
  const T* square = nullptr;
  const T* product = nullptr;
};

/// Where the gains of each step go, a panel in double, or null.
struct GainResults {
  double* gain = nullptr;
};

template <typename T>
struct GainCarry : engine::NetworkCarry<T> {};

template <typename T>
struct GainWorkspace : engine::NetworkWorkspace<T> {
  void prepare(const GainWindow<T>& model, int steps, int lanes, bool for_training) {
    engine::NetworkWorkspace<T>::prepare(*model.architecture, steps, lanes, for_training);
  }
};

template <typename T>
struct GainHead {
  using Scalar = T;
  using Model = GainWindow<T>;
  using Input = GainInput<T>;
  using Carry = GainCarry<T>;
  using Moments = GainResults;
  using Workspace = GainWorkspace<T>;

  static void check(const Model& model, const Input& input);
  static const engine::WindowKernels<GainHead>& kernels(const Model& model);
  static void end_backward(const Model&, Workspace&) {}
};

/// One lane group's window with its data and its carried state.
template <typename T>
struct GainGroup {
  using Head = GainHead<T>;

  int steps = 0;
  int lanes = 0;
  Buffer<T> input_fwd, input_bwd;     ///< [step][input_dim][lane]
  Buffer<T> offset, square, product;  ///< [step][gain][lane]
  std::vector<int> length;            ///< [lane], or empty: all lanes have `steps`
  GainCarry<T> carry;

  void resize(const engine::NetworkLayout& layout, int num_steps, int num_lanes);
  GainInput<T> view() const;
};

}  // namespace kalmia::audio
