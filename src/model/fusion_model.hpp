// What the future adds to a fitted filter: networks of their own, trained after it.
#pragma once

#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "model/network.hpp"

namespace kalmia::model {

/// Sizes of the networks; hidden 0: there are none.
struct FusionSizes {
  int hidden = 0;
  std::vector<int> decoder;
};

/// The networks of the leak-free smoother; see window_fusion-inl.h for what they compute.
class FusionNetworks {
 public:
  /// Throws ConfigError if sizes or numbers do not fit.
  FusionNetworks(const ArchitectureOptions& options, std::span<const float> parameters);

  const Architecture& architecture() const { return architecture_; }
  const PackedNetwork<float>& network() const { return network_; }
  std::span<const float> parameters() const { return parameters_.span(); }
  void set_parameters(std::span<const float> parameters);

 private:
  Architecture architecture_;
  Buffer<float> parameters_;
  PackedNetwork<float> network_;
};

}  // namespace kalmia::model
