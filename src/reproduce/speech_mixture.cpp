#include "reproduce/speech_mixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "kalmia/error.hpp"

namespace kalmia::reproduction {
namespace {

// Where the ranges of the parts begin and end, as shares of a noise recording.
constexpr double kEnds[] = {0, 0.6, 0.8, 1};

std::size_t place(Part part) { return static_cast<std::size_t>(part); }

Sound scaled_range(const Sound& noise, Part part) {
  const auto at = [&noise](double share) {
    return noise.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(noise.size()));
  };
  Sound range(at(kEnds[place(part)]), at(kEnds[place(part) + 1]));
  double sum = 0, energy = 0;
  for (const float x : range) sum += x;
  const double mean = sum / static_cast<double>(range.size());
  for (const float x : range) energy += (x - mean) * (x - mean);
  if (!(energy > 0))
    throw DataError(
        "a noise is silent in one of its ranges, but it must be heard to be scaled; "
        "fetch the data set again");
  const double factor = kNoiseLevel / std::sqrt(energy / static_cast<double>(range.size()));
  for (float& x : range) x = static_cast<float>((x - mean) * factor);
  return range;
}

}  // namespace

std::vector<std::string> noise_names() {
  std::vector<std::string> names;
  for (const NoiseFile& noise : kNoiseFiles) names.emplace_back(noise.name);
  names.emplace_back(kCombined);
  return names;
}

SpeechMixer::SpeechMixer(SpeechData data, std::uint64_t seed)
    : data_(std::move(data)), seed_(seed) {
  std::size_t longest = 0;
  for (const Part part : kParts)
    for (const Sound& each : data_.of(part)) longest = std::max(longest, each.size());
  for (std::size_t kind = 0; kind < data_.noises.size(); ++kind)
    for (const Part part : kParts) {
      Sound range = scaled_range(data_.noises[kind], part);
      if (range.size() < longest)
        throw DataError(fmt::format(
            "{}: a fifth of it is {} samples, but the longest utterance has {}; it must be longer",
            kNoiseFiles[kind].file, range.size(), longest));
      ranges_[place(part)].push_back(std::move(range));
    }
  data_.noises.clear();
}

const Sound& SpeechMixer::range(std::size_t kind, Part part) const {
  return ranges_[place(part)][kind];
}

Mixture SpeechMixer::mixture(const std::string& noise) const {
  const std::vector<std::string> names = noise_names();
  const auto found = std::find(names.begin(), names.end(), noise);
  if (found == names.end())
    throw ConfigError(
        fmt::format("noise {}: there is none of that name, but {}", noise, fmt::join(names, ", ")));
  const auto column = static_cast<std::size_t>(found - names.begin());
  const bool combined = noise == kCombined;
  Mixture mixture;
  mixture.noisy.noise = noise;
  mixture.known.training = &data_.of(Part::Training);
  mixture.known.test = &data_.of(Part::Test);
  mixture.known.noise_ranges = &ranges_[place(Part::Training)];
  Sounds* const parts[] = {&mixture.noisy.training, &mixture.noisy.validation, &mixture.noisy.test};
  for (const Part part : kParts) {
    const Sounds& utterances = data_.of(part);
    Sounds& noisy = *parts[place(part)];
    for (std::size_t i = 0; i < utterances.size(); ++i) {
      RandomStream random(seed_, fmt::format("speech noise {} {}", noise, place(part)), i);
      const std::size_t kind = combined ? random.below(kNoises) : column;
      const Sound& from = range(kind, part);
      const auto begin = from.begin() + static_cast<std::ptrdiff_t>(
                                            random.below(from.size() - utterances[i].size() + 1));
      Sound sum = utterances[i];
      for (std::size_t n = 0; n < sum.size(); ++n) sum[n] += begin[static_cast<std::ptrdiff_t>(n)];
      noisy.push_back(std::move(sum));
      if (part != Part::Test) continue;
      mixture.known.test_noise.emplace_back(
          begin, begin + static_cast<std::ptrdiff_t>(utterances[i].size()));
      mixture.known.test_kind.push_back(kind);
    }
  }
  return mixture;
}

}  // namespace kalmia::reproduction
