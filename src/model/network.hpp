// The weights of a model as the window kernels read them.
#pragma once

#include "base/buffer.hpp"
#include "model/architecture.hpp"

namespace kalmia::model {

/// Packed from a parameter block after each optimiser step, then shared by all threads.
template <typename T>
struct PackedNetwork {
  nn::PackedEncoder<T> encoder_fwd;
  nn::PackedEncoder<T> encoder_bwd;
  nn::PackedMlp<T> decoder;
  Buffer<double> initial_e;        ///< N
  Buffer<double> initial_L;        ///< packed triangle, diagonal after softplus
  Buffer<double> initial_L_slope;  ///< d softplus / d raw for the diagonal, N

  void pack(const Architecture& architecture, const T* parameters);
};

}  // namespace kalmia::model
