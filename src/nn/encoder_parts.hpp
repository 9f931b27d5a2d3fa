// What every kind of encoder has.
//
// A kind is described by its layout: a type that says where its parameters lie in the block and how
// much room it needs, and that names the types of its weights:
//
//   kName                          what users write, and what its parameters are named after
//   kMeaning                       what it is, for those who choose
//   kReadsTaps                     whether it looks back on a fixed number of inputs
//   Packed<T>                      weights as the kernels of many sequences read them
//   Streamed<T>                    weights and scratch of the kernel of one sequence
//   add_to(parameters, prefix, input, hidden[, taps])
//   rows()                         EncoderRows
//   scratch_rows(window)           rows of scratch of a window, beside the records
//   flops()                        of one step
//   first_value(parameter, index, random)
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <string_view>

#include "base/random.hpp"
#include "nn/parameters.hpp"

namespace kalmia::nn {

/// Rows of panels that an encoder needs.
struct EncoderRows {
  /// What a sequence remembers between steps; zero before its first.
  int state = 0;
  /// Recorded at each step, h first.
  int step = 0;
  /// Recorded at each step of training: gates and the like, replaced by the adjoints that the
  /// weight gradients are made of.
  int tape = 0;
  /// Features that its weight gradients transpose, beside h.
  int transposed = 0;
};

/// What the scratch of a window is sized by.
struct WindowShape {
  int steps = 0;
  int chunk = 0;  ///< steps whose weight gradients are taken together
  int directions = 1;
  bool training = false;
};

/// A first value as PyTorch draws it: uniform within 1/sqrt(fan_in).
inline double within_fan_in(double fan_in, RandomStream& random) {
  const double bound = 1 / std::sqrt(fan_in);
  return random.uniform(-bound, bound);
}

template <typename L>
concept EncoderKindLayout = requires(const L& layout, const ParameterView& parameter,
                                     RandomStream& random) {
  { L::kName } -> std::convertible_to<std::string_view>;
  { L::kMeaning } -> std::convertible_to<std::string_view>;
  { L::kReadsTaps } -> std::convertible_to<bool>;
  typename L::template Packed<float>;
  typename L::template Streamed<float>;
  { layout.rows() } -> std::same_as<EncoderRows>;
  { layout.scratch_rows(WindowShape()) } -> std::same_as<std::ptrdiff_t>;
  { layout.flops() } -> std::same_as<double>;
  // Entry `index` of a parameter before training.
  { layout.first_value(parameter, std::ptrdiff_t(0), random) } -> std::same_as<double>;
};

}  // namespace kalmia::nn
