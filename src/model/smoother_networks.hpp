// The networks of a trained smoother: of their own, trained after the filter's.
#pragma once

#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "heads/architecture.hpp"
#include "model/smoothers.hpp"

namespace kalmia::model {

/// Sizes of the networks; hidden 0: there are none.
struct SmootherSizes {
  int hidden = 0;
  std::vector<int> decoder;
  SmootherKind kind = SmootherKind::Fused;
};

/// The networks of a smoother; its kind says what they compute.
class SmootherNetworks {
 public:
  /// Throws ConfigError if sizes or numbers do not fit.
  SmootherNetworks(const heads::ArchitectureOptions& options, std::span<const float> parameters);

  const heads::Architecture& architecture() const { return architecture_; }
  const heads::PackedModel<float>& network() const { return network_; }
  std::span<const float> parameters() const { return parameters_.span(); }
  void set_parameters(std::span<const float> parameters);
  /// Whether they read both sides of a step in one run, instead of adding to the filter's.
  bool two_sided() const { return architecture_.options.two_sided; }

 private:
  heads::Architecture architecture_;
  Buffer<float> parameters_;
  heads::PackedModel<float> network_;
};

}  // namespace kalmia::model
