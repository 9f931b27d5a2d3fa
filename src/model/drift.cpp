#include "model/drift.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::model {
namespace {

// Parts of a series; shorter series have fewer.
constexpr std::size_t kParts = 8;
constexpr std::size_t kShortestPart = 4;
// What is stationary has nearly all its variance within each part; a random walk about a fifth.
constexpr double kWanders = 0.5;

}  // namespace

void DriftTest::add_series(std::size_t steps,
                           const std::function<double(std::size_t step)>& value) {
  RunningMoments parts[kParts];
  const std::size_t part_count = std::clamp<std::size_t>(steps / kShortestPart, 1, kParts);
  for (std::size_t k = 0; k < steps; ++k) {
    const double each = value(k);
    if (std::isnan(each)) continue;
    all_.add(each);
    parts[k * part_count / steps].add(each);
  }
  for (const RunningMoments& part : parts) {
    within_ += part.squares;
    within_freedom_ += part.count > 0 ? part.count - 1 : 0;
  }
}

bool DriftTest::wanders() const {
  return within_ / static_cast<double>(std::max<std::size_t>(within_freedom_, 1)) <
         kWanders * all_.variance();
}

}  // namespace kalmia::model
