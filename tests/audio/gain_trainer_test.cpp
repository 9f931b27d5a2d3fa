#include "audio/gain_trainer.hpp"

#include <gtest/gtest.h>

#include "audio/quiet_frames.hpp"
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
  options.frames = 40;
  options.batch = 32;
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
  GainModel model({256, 24, {24}}, 1);
  const Errors before = errors(model);
  const train::LoopResult result =
      train_gains(model, voices(100, 1), voices(30, 501), small_training(), team, {});
  EXPECT_GT(result.best_update, 100);
  EXPECT_EQ(result.updates, 200);
  const Errors after = errors(model);
  EXPECT_LT(after.gains, 0.7 * before.gains);
  EXPECT_LT(after.gains, 0.9 * after.wiener);
}

TEST(GainTrainer, SameSeedSameNetworksWithOneThreadAndTwo) {
  const auto trained = [](int threads, std::uint64_t seed) {
    ThreadTeam team(threads);
    GainModel model({64, 6, {}}, 1);
    GainTraining options = small_training();
    options.updates = 5;
    options.batch = 64;
    options.seed = seed;
    train_gains(model, voices(20, 1), voices(5, 501), options, team, {});
    return std::vector<float>(model.parameters().begin(), model.parameters().end());
  };
  const std::vector<float> one = trained(1, 3);
  EXPECT_EQ(one, trained(2, 3));
  EXPECT_NE(one, trained(1, 4));
}

TEST(GainTrainer, WhatItCannotUseIsAnError) {
  ThreadTeam team(1);
  GainModel model({64, 6, {}}, 1);
  EXPECT_THROW(train_gains(model, {}, voices(1, 1), small_training(), team, {}), DataError);
  EXPECT_THROW(train_gains(model, voices(1, 1), {}, small_training(), team, {}), DataError);
  for (const int batch : {0, 16, 40}) {
    GainTraining options = small_training();
    options.batch = batch;
    EXPECT_THROW(train_gains(model, voices(1, 1), voices(1, 2), options, team, {}), ConfigError);
  }
}

}  // namespace
}  // namespace kalmia::test
