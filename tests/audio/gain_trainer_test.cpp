#include "audio/gain_trainer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/noise_power.hpp"
#include "audio/sound_cases.hpp"
#include "audio/sound_metrics.hpp"
#include "audio/wiener.hpp"
#include "kalmia/error.hpp"

namespace kalmia::test {
namespace {

using audio::GainData;
using audio::GainModel;
using audio::GainTraining;
using audio::Spectrogram;
using audio::Stft;

constexpr int kSamples = 4000;
constexpr double kNoise = 0.5;

GainData voices(int count, std::uint64_t seed) {
  GainData data;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t own = seed + static_cast<std::uint64_t>(i);
    data.recordings.push_back(sum(voice(kSamples, own), white_noise(kSamples, kNoise, own)));
  }
  data.noise = [](std::size_t, RandomStream& random, std::span<float> noise) {
    for (float& x : noise) x = static_cast<float>(kNoise * random.normal());
  };
  return data;
}

GainTraining small_training() {
  GainTraining options;
  options.updates = 200;
  options.learning_rate = 6e-3;
  options.frames = 60;
  options.batch = 8;
  return options;
}

struct Errors {
  double gains = 0, wiener = 0;
};

Errors errors(const GainModel& model) {
  ThreadTeam team(1);
  Stft stft(model.sizes().window);
  Errors result;
  for (std::uint64_t seed = 1001; seed <= 1020; ++seed) {
    const std::vector<float> clean = voice(kSamples, seed);
    const std::vector<float> noisy = sum(clean, white_noise(kSamples, kNoise, seed));
    const Spectrogram y = stft.forward(noisy);
    const std::vector<std::vector<float>> power{mean_power(y, quiet_frames(y))};
    std::vector<Spectrogram> gains{y};
    apply_gains(model, gains, power, team);
    Spectrogram wiener = y;
    wiener_filter(power[0], {}, wiener);
    result.gains += audio::mean_square_error(stft.inverse(gains[0], kSamples), clean) / 20;
    result.wiener += audio::mean_square_error(stft.inverse(wiener, kSamples), clean) / 20;
  }
  return result;
}

TEST(GainTrainer, LearnsFromNoiseAloneToBeatTheWienerFilter) {
  ThreadTeam team(2);
  GainModel model({256, 4, 6, 8, 16, {16}}, 1);
  const Errors before = errors(model);
  const train::LoopResult result =
      train_gains(model, voices(100, 1), voices(30, 501), small_training(), team, {});
  EXPECT_GT(result.best_update, 100);
  EXPECT_EQ(result.updates, 200);
  const Errors after = errors(model);
  EXPECT_NEAR(before.gains, before.wiener, 1e-2 * before.wiener);
  EXPECT_LT(after.gains, 0.85 * after.wiener);
}

// A few updates.
std::vector<float> trained(int threads, std::uint64_t seed, const audio::NoiseMaker& disturbance) {
  ThreadTeam team(threads);
  GainModel model({64, 4, 2, 2, 6, {}}, 1);
  GainTraining options = small_training();
  options.updates = 5;
  options.seed = seed;
  GainData data = voices(20, 1);
  data.disturbance = disturbance;
  train_gains(model, data, voices(5, 501), options, team, {});
  return {model.parameters().begin(), model.parameters().end()};
}

TEST(GainTrainer, SameSeedSameNetworksWithOneThreadAndTwo) {
  const std::vector<float> one = trained(1, 3, {});
  EXPECT_EQ(one, trained(2, 3, {}));
  EXPECT_NE(one, trained(1, 4, {}));
}

TEST(GainTrainer, DisturbancesAreAdded) {
  const auto constant = [](float value) {
    return [value](std::size_t, RandomStream&, std::span<float> noise) {
      std::ranges::fill(noise, value);
    };
  };
  const std::vector<float> none = trained(1, 3, {});
  EXPECT_EQ(trained(1, 3, constant(0)), none);
  EXPECT_NE(trained(1, 3, constant(1)), none);
}

// The networks learn to take away a tone that is in their input and not in what they shall find.
TEST(GainTrainer, DisturbancesAreLearnedToBeTakenAway) {
  const audio::NoiseMaker tone = [](std::size_t, RandomStream& random, std::span<float> noise) {
    const double pitch = 1000 + 4000 * random.uniform();
    for (std::size_t n = 0; n < noise.size(); ++n)
      noise[n] = n < noise.size() / 3
                     ? 0.0f
                     : static_cast<float>(2 * std::sin(2 * std::numbers::pi * pitch / 16000 *
                                                       static_cast<double>(n)));
  };
  const auto error = [&tone](bool met) {
    ThreadTeam team(2);
    GainModel model({256, 4, 6, 8, 16, {16}}, 1);
    GainData data = voices(100, 1), held_out = voices(30, 501);
    if (met) data.disturbance = held_out.disturbance = tone;
    GainTraining options = small_training();
    options.updates = 100;
    train_gains(model, data, held_out, options, team, {});
    Stft stft(256);
    double sum_of_errors = 0;
    for (std::uint64_t seed = 1001; seed <= 1010; ++seed) {
      const std::vector<float> clean = voice(kSamples, seed);
      std::vector<float> noisy = sum(clean, white_noise(kSamples, kNoise, seed)), more(kSamples);
      RandomStream random(seed, "tone");
      tone(0, random, more);
      std::vector<Spectrogram> y{stft.forward(sum(noisy, more))};
      apply_gains(model, y, std::vector<std::vector<float>>{audio::noise_power(y[0])}, team);
      sum_of_errors += audio::mean_square_error(stft.inverse(y[0], kSamples), clean);
    }
    return sum_of_errors;
  };
  EXPECT_LT(error(true), 0.5 * error(false));
}

TEST(GainTrainer, WhatItCannotUseIsAnError) {
  ThreadTeam team(1);
  GainModel model({64, 4, 2, 2, 6, {}}, 1);
  EXPECT_THROW(train_gains(model, {}, voices(1, 1), small_training(), team, {}), DataError);
  EXPECT_THROW(train_gains(model, voices(1, 1), {}, small_training(), team, {}), DataError);
  GainTraining options = small_training();
  options.batch = 0;
  EXPECT_THROW(train_gains(model, voices(1, 1), voices(1, 2), options, team, {}), ConfigError);
}

}  // namespace
}  // namespace kalmia::test
