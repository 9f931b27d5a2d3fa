#include "simulate/missing.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::simulation {
namespace {

// Rounds up with the probability of the fraction: the mean is `value`.
std::size_t round_at_random(double value, RandomStream& random) {
  return static_cast<std::size_t>(std::floor(value + random.uniform()));
}

// Cuts `total` into `parts` lengths of at least 1, each way equally likely.
std::vector<std::size_t> cut(std::size_t total, std::size_t parts, RandomStream& random) {
  const std::vector<char> ends = choose_places(total - 1, parts - 1, random);
  std::vector<std::size_t> lengths;
  std::size_t length = 1;
  for (const char end : ends) {
    if (end != 0) {
      lengths.push_back(length);
      length = 0;
    }
    ++length;
  }
  lengths.push_back(length);
  return lengths;
}

}  // namespace

std::vector<char> choose_places(std::size_t total, std::size_t count, RandomStream& random) {
  // Floyd's method: one number per chosen place.
  std::vector<char> chosen(total, 0);
  for (std::size_t i = total - count; i < total; ++i) {
    const auto place = static_cast<std::size_t>(random.below(i + 1));
    chosen[chosen[place] != 0 ? i : place] = 1;
  }
  return chosen;
}

std::vector<char> choose_missing(std::size_t total, double share, double mean_run,
                                 RandomStream& random) {
  const std::size_t missing =
      std::min(total, round_at_random(share * static_cast<double>(total), random));
  const std::size_t kept = total - missing;
  if (missing == 0 || kept == 0 || mean_run * (1 - share) <= 1)
    return choose_places(total, missing, random);
  // On the circle there are as many stretches as runs, each of at least one value.
  const std::size_t runs = std::clamp<std::size_t>(
      round_at_random(static_cast<double>(missing) / mean_run, random), 1, std::min(missing, kept));
  const std::vector<std::size_t> run = cut(missing, runs, random);
  const std::vector<std::size_t> stretch = cut(kept, runs, random);
  std::vector<char> flags;
  flags.reserve(total);
  for (std::size_t i = 0; i < runs; ++i) {
    flags.insert(flags.end(), stretch[i], 0);
    flags.insert(flags.end(), run[i], 1);
  }
  std::rotate(flags.begin(), flags.begin() + static_cast<std::ptrdiff_t>(random.below(total)),
              flags.end());
  return flags;
}

}  // namespace kalmia::simulation
