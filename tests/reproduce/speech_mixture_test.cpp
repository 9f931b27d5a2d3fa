#include "reproduce/speech_mixture.hpp"

#include <gtest/gtest.h>

#include <set>

#include "kalmia/error.hpp"
#include "reproduce/speech_cases.hpp"

namespace kalmia::test {
namespace {

using namespace reproduction;

// Noise that counts its samples, so that a piece tells where it was cut.
SpeechMixer counting_mixer(int utterances = 40) {
  SpeechData data = speech_data(utterances, utterances, utterances, 400);
  for (Sound& noise : data.noises) {
    noise.resize(10000);
    for (std::size_t n = 0; n < noise.size(); ++n) noise[n] = static_cast<float>(n);
  }
  return SpeechMixer(std::move(data), 1);
}

TEST(SpeechMixture, RangesAreApartWithoutMeanAndOfOneLevel) {
  const SpeechMixer mixer(speech_data(1, 1, 1), 1);
  for (const Part part : kParts)
    for (std::size_t kind = 0; kind < kNoises; ++kind) {
      const Sound& range = mixer.range(kind, part);
      EXPECT_EQ(range.size(), part == Part::Training ? 24000u : 8000u);
      double sum = 0, energy = 0;
      for (const float x : range) sum += x, energy += static_cast<double>(x) * x;
      EXPECT_NEAR(sum / static_cast<double>(range.size()), 0, 1e-4);
      EXPECT_NEAR(energy / static_cast<double>(range.size()), 0.25, 1e-3);
    }
}

// Ranges are scaled one by one: in the whole file's count, 60 % and 80 % are where they end.
TEST(SpeechMixture, PiecesStayWithinTheRangeOfTheirPart) {
  const SpeechMixer mixer = counting_mixer();
  const Mixture mixture = mixer.mixture("bike");
  const auto step = [&](Part part) {
    const Sound& range = mixer.range(0, part);
    return (range.back() - range.front()) / static_cast<float>(range.size() - 1);
  };
  EXPECT_NEAR(step(Part::Test) / step(Part::Training), 3, 1e-3);
  std::set<long> starts;
  for (std::size_t i = 0; i < mixture.noisy.test.size(); ++i) {
    const Sound& noise = mixture.known.test_noise[i];
    const Sound& range = mixer.range(0, Part::Test);
    const float slope = (noise.back() - noise.front()) / static_cast<float>(noise.size() - 1);
    EXPECT_NEAR(slope / step(Part::Test), 1, 1e-2);
    EXPECT_GE(noise.front(), range.front());
    EXPECT_LE(noise.back(), range.back());
    starts.insert(std::lround((noise.front() - range.front()) / step(Part::Test)));
    for (std::size_t n = 0; n < noise.size(); ++n)
      ASSERT_NEAR(mixture.noisy.test[i][n], (*mixture.known.test)[i][n] + noise[n], 1e-6);
  }
  EXPECT_GT(starts.size(), 30u);
  EXPECT_LT(*starts.begin(), 200);
  EXPECT_GT(*starts.rbegin(), 1400);
}

TEST(SpeechMixture, CombinedHasAllNoisesOneForEachUtterance) {
  const Mixture mixture = SpeechMixer(speech_data(1, 1, 60, 400), 1).mixture(kCombined);
  const std::vector<std::size_t>& kinds = mixture.known.test_kind;
  ASSERT_EQ(kinds.size(), 60u);
  EXPECT_EQ(std::set<std::size_t>(kinds.begin(), kinds.end()).size(), kNoises);
  const Mixture tap = SpeechMixer(speech_data(1, 1, 60, 400), 1).mixture("tap");
  for (const std::size_t kind : tap.known.test_kind) EXPECT_EQ(kind, 5u);
}

TEST(SpeechMixture, NoiseDependsOnSeedAndUtteranceAlone) {
  const SpeechMixer few(speech_data(2, 1, 1), 1), more(speech_data(3, 1, 1), 1),
      other(speech_data(2, 1, 1), 2);
  const NoisySpeech a = few.noisy("pink"), b = more.noisy("pink");
  EXPECT_EQ(a.training[0], b.training[0]);
  EXPECT_EQ(a.training[1], b.training[1]);
  EXPECT_NE(a.training[0], other.noisy("pink").training[0]);
}

TEST(SpeechMixture, RefusesUnknownNoisesAndShortRecordings) {
  const SpeechMixer mixer(speech_data(1, 1, 1), 1);
  EXPECT_THROW((void)mixer.mixture("rain"), ConfigError);
  SpeechData data = speech_data(1, 1, 1);
  data.noises[2].resize(5000);
  EXPECT_THROW(SpeechMixer(std::move(data), 1), DataError);
}

TEST(SpeechMixture, NamesAreThePapersColumns) {
  EXPECT_EQ(noise_names(), (std::vector<std::string>{"white", "dishes", "miaow", "bike", "pink",
                                                     "tap", "combined"}));
}

}  // namespace
}  // namespace kalmia::test
