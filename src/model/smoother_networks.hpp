// The networks of a trained smoother: of their own, trained after the filter's.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "model/network.hpp"

namespace kalmia::model {

/// What the networks of a smoother put out.
enum class SmootherKind {
  Fused,                ///< what the future adds to the filter's prediction (window_fusion-inl.h)
  Recurrent,            ///< p(x[k] | y[!=k]) directly
  Recursive,            ///< p(x[k] | x[k-1], y[!=k]); paper: Algorithm 3
  RecursiveAlternative  ///< the same with the posterior of the paper's last appendix
};

/// As users write it: fused, recurrent, recursive, recursive-alternative.
const char* smoother_name(SmootherKind kind);
/// Throws ConfigError for any other name.
SmootherKind smoother_of_name(const std::string& name);

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
  SmootherNetworks(const ArchitectureOptions& options, std::span<const float> parameters);

  const Architecture& architecture() const { return architecture_; }
  const PackedNetwork<float>& network() const { return network_; }
  std::span<const float> parameters() const { return parameters_.span(); }
  void set_parameters(std::span<const float> parameters);
  /// Whether they read both sides of a step in one run, instead of adding to the filter's.
  bool two_sided() const { return architecture_.options.two_sided; }

 private:
  Architecture architecture_;
  Buffer<float> parameters_;
  PackedNetwork<float> network_;
};

}  // namespace kalmia::model
