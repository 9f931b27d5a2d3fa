// Random numbers keyed by (seed, stream name, index), never by the order of calls, so that
// a result does not depend on threads or on what else was drawn.
#pragma once

#include <cstdint>
#include <string_view>

namespace kalmia {

/// One stream of random numbers. Two streams with the same key give the same numbers.
class RandomStream {
 public:
  RandomStream(std::uint64_t seed, std::string_view name, std::uint64_t index = 0);

  /// 64 random bits.
  std::uint64_t bits();
  /// Uniform in [0, 1), with 53 bits.
  double uniform();
  /// Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Standard normal.
  double normal();
  /// Uniform in {0, ..., bound - 1}; `bound` must be positive.
  std::uint64_t below(std::uint64_t bound);

 private:
  std::uint64_t key_;
  std::uint64_t counter_ = 0;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace kalmia
