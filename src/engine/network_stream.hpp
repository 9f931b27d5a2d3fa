// The networks for a single sequence, one step at a time: all hidden units as one vector.
#pragma once

#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "engine/network.hpp"
#include "lanes/matvec.hpp"

namespace kalmia::engine {

/// Steps one-sided networks. Holds the weights in the layout of a single vector, and scratch: one
/// per thread. `step` does not allocate.
template <typename T>
class NetworkStream {
 public:
  /// `parameters` is a block of the layout. Change the weights and it must be made anew. Throws
  /// ConfigError for two-sided networks, which would need the future.
  NetworkStream(const NetworkLayout& layout, std::span<const T> parameters);

  /// Moves an encoder's state (see nn::EncoderRows) on by the features of a step, and puts the
  /// decoder's output on `record`, that of a window of one step (RecordRows, without training) and
  /// lanes::kLaneQuantum lanes, which all get the same numbers.
  void step(const T* features, std::vector<T>& state, T* record);

  /// The weights as the kernel reads them.
  struct Weights {
    nn::StreamedEncoder<T> encoder;             ///< with scratch of its own
    std::vector<lanes::ColumnMatrix<T>> layer;  ///< decoder
    std::vector<Buffer<T>> bias;
  };
  struct Scratch {
    Buffer<T> h, a, b;
  };

 private:
  const NetworkLayout& layout_;
  Weights weights_;
  Scratch scratch_;
};

}  // namespace kalmia::engine
