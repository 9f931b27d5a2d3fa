#include "train/segments.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::train {
namespace {

// Series are cut into segments that run side by side, each from the initial state: long enough that
// how they start hardly counts.
constexpr int kSegment = 512;
// And longer than so many periods of a season.
constexpr int kSegmentPeriods = 6;
constexpr int kLongestSegment = 1 << 11;

}  // namespace

int steps_of(const std::vector<StepRange>& stretches) {
  int steps = 0;
  for (const StepRange& each : stretches) steps += each.steps();
  return steps;
}

std::vector<StepRange> thinned(const std::vector<StepRange>& segments, int steps) {
  const auto every = static_cast<std::size_t>((steps_of(segments) + steps - 1) / steps);
  std::vector<StepRange> some;
  for (std::size_t i = 0; i < segments.size(); i += std::max<std::size_t>(every, 1))
    some.push_back(segments[i]);
  return some;
}

std::vector<StepRange> cut_up(const std::vector<StepRange>& stretches, int length) {
  std::vector<StepRange> pieces;
  for (const StepRange& stretch : stretches)
    for (int from = stretch.begin; from < stretch.end; from += length)
      pieces.push_back({stretch.series, from, std::min(stretch.end, from + length)});
  return pieces;
}

std::vector<StepRange> small_part(const std::vector<StepRange>& training) {
  constexpr int kPiece = 256, kSteps = 1 << 11;
  return thinned(cut_up(training, kPiece), kSteps);
}

std::vector<StepRange> segments_of(const std::vector<StepRange>& training, double period,
                                   int most_steps) {
  const int length = static_cast<int>(
      std::clamp(std::ceil(kSegmentPeriods * period), double{kSegment}, double{kLongestSegment}));
  return thinned(cut_up(training, length), most_steps);
}

}  // namespace kalmia::train
