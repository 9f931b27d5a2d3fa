#include "audio/gain_model.hpp"

#include <gtest/gtest.h>

#include "audio/quiet_frames.hpp"
#include "audio/sound_cases.hpp"
#include "kalmia/error.hpp"

namespace kalmia::test {
namespace {

using audio::GainModel;
using audio::GainSizes;
using audio::Spectrogram;
using audio::Stft;

const GainSizes kSmall{32, 5, {6}};

std::vector<float> random_parameters(const GainModel& model) {
  RandomStream random(61, "gains");
  std::vector<float> parameters(model.parameters().size());
  for (float& p : parameters) p = static_cast<float>(0.3 * random.normal());
  return parameters;
}

struct Recordings {
  std::vector<Spectrogram> noisy;
  std::vector<std::vector<float>> power;

  explicit Recordings(const std::vector<int>& lengths, float loudness = 1) {
    Stft stft(32);
    for (const int samples : lengths) {
      std::vector<float> sound =
          sum(voice(samples, 1), white_noise(samples, 0.3, noisy.size() + 1));
      for (float& x : sound) x *= loudness;
      noisy.push_back(stft.forward(sound));
      power.push_back(mean_power(noisy.back(), quiet_frames(noisy.back())));
    }
  }
};

TEST(GainModel, StartsWithAGainThatKnowsThePowerOfTheNoise) {
  ThreadTeam team(1);
  const GainModel model(kSmall, 1);
  const Recordings before({400});
  Recordings after({400});
  apply_gains(model, after.noisy, after.power, team);
  for (int t = 0; t < before.noisy[0].frames; ++t)
    for (std::size_t f = 0; f < 17; ++f) {
      const std::complex<float> Y = before.noisy[0].frame(t)[f];
      const double q = std::log(std::norm(Y) / before.power[0][f] + 0.1);
      const double gain = 1 / (1 + std::exp(-(q - 1) / 2));
      EXPECT_NEAR(std::abs(after.noisy[0].frame(t)[f] - Y * static_cast<float>(gain)), 0,
                  1e-5 * (1 + std::abs(Y)));
    }
}

TEST(GainModel, RecordingsDoNotMixAndThreadsDoNotMatter) {
  GainModel model(kSmall, 1);
  model.set_parameters(random_parameters(model));
  std::vector<int> lengths;
  for (int i = 0; i < 40; ++i) lengths.push_back(200 + 37 * i % 300);
  ThreadTeam one(1), two(2);
  Recordings together(lengths), again(lengths);
  apply_gains(model, together.noisy, together.power, one);
  apply_gains(model, again.noisy, again.power, two);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    EXPECT_EQ(together.noisy[i].values, again.noisy[i].values) << i;
    if (i % 13 != 0) continue;
    Recordings all(lengths);
    apply_gains(model, std::span(all.noisy).subspan(i, 1), std::span(all.power).subspan(i, 1), one);
    EXPECT_EQ(all.noisy[i].values, together.noisy[i].values) << i;
  }
}

TEST(GainModel, LoudnessDoesNotMatter) {
  ThreadTeam team(1);
  GainModel model(kSmall, 1);
  model.set_parameters(random_parameters(model));
  constexpr float kLoud = 1024;
  Recordings plain({500}), loud({500}, kLoud);
  apply_gains(model, plain.noisy, plain.power, team);
  apply_gains(model, loud.noisy, loud.power, team);
  for (std::size_t i = 0; i < plain.noisy[0].values.size(); ++i)
    EXPECT_NEAR(std::abs(loud.noisy[0].values[i] / kLoud - plain.noisy[0].values[i]), 0, 1e-4);
}

TEST(GainModel, IsMadeOfItsParameters) {
  GainModel model(kSmall, 1);
  const std::vector<float> parameters = random_parameters(model);
  model.set_parameters(parameters);
  const GainModel same(kSmall, parameters);
  EXPECT_EQ(std::vector<float>(same.parameters().begin(), same.parameters().end()), parameters);
  ThreadTeam team(1);
  Recordings a({300}), b({300});
  apply_gains(model, a.noisy, a.power, team);
  apply_gains(same, b.noisy, b.power, team);
  EXPECT_EQ(a.noisy[0].values, b.noisy[0].values);
  EXPECT_THROW(GainModel(kSmall, std::span(parameters).first(10)), ConfigError);
}

}  // namespace
}  // namespace kalmia::test
