#include "base/random.hpp"

#include <cmath>
#include <numbers>

namespace kalmia {
namespace {

// The finaliser of SplitMix64 (Steele, Lea & Flood 2014): a bijection of 64 bits in which
// every input bit reaches every output bit. Applied to a key plus a Weyl sequence it is the
// generator of the same paper.
constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

constexpr std::uint64_t kWeyl = 0x9e3779b97f4a7c15ULL;

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::string_view name, std::uint64_t index) {
  std::uint64_t key = mix(seed + kWeyl);
  for (const char c : name) key = mix(key + kWeyl + static_cast<unsigned char>(c));
  key_ = mix(mix(key + kWeyl) + kWeyl * (index + 1));
}

std::uint64_t RandomStream::bits() { return mix(key_ + kWeyl * ++counter_); }

double RandomStream::uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }

double RandomStream::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  // Box & Muller. 1 - uniform() is in (0, 1], so the logarithm is finite.
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  const double angle = 2.0 * std::numbers::pi * uniform();
  spare_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  // Rejects the incomplete last interval: no modulo bias.
  const std::uint64_t limit = -bound % bound;
  std::uint64_t value = bits();
  while (value < limit) value = bits();
  return value % bound;
}

}  // namespace kalmia
