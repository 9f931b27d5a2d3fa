#include "audio/suppressor.hpp"

#include <gtest/gtest.h>

#include "audio/noise_power.hpp"
#include "audio/sound_cases.hpp"
#include "audio/wiener.hpp"

namespace kalmia::test {
namespace {

using audio::GainModel;
using audio::Spectrogram;
using audio::Stft;
using audio::Suppressor;

constexpr int kWindow = 32;

std::unique_ptr<GainModel> networks() {
  auto model =
      std::make_unique<GainModel>(audio::GainSizes{kWindow, 4, 3, 2, 5, {6}}, std::uint64_t{1});
  RandomStream random(3, "suppressor");
  std::vector<float> parameters(model->parameters().size());
  for (float& p : parameters) p = static_cast<float>(0.3 * random.normal());
  model->set_parameters(parameters);
  return model;
}

struct Case {
  std::vector<Spectrogram> noisy;
  std::vector<std::vector<float>> power;

  explicit Case(int window) {
    Stft stft(window);
    for (std::uint64_t i = 0; i < 3; ++i) {
      noisy.push_back(stft.forward(sum(voice(1000, i), white_noise(1000, 0.3, i))));
      power.push_back(mean_power(noisy.back(), quiet_frames(noisy.back())));
    }
  }
  std::vector<Spectrogram> suppressed(const GainModel* model,
                                      const audio::SuppressorOptions& options = {}) const {
    ThreadTeam team(2);
    std::vector<Spectrogram> result = noisy;
    Suppressor(model, options).apply(result, power, team);
    return result;
  }
};

void expect_near(std::complex<float> a, std::complex<float> b) {
  EXPECT_LT(std::abs(a - b), 1e-5 * (1 + std::abs(b)));
}

TEST(Suppressor, AtTheirOwnRateGainsAreTheNetworks) {
  const auto model = networks();
  const Case sound(kWindow);
  ThreadTeam team(1);
  std::vector<Spectrogram> expected = sound.noisy;
  apply_gains(*model, expected, sound.power, team);
  const auto found = sound.suppressed(model.get());
  for (std::size_t i = 0; i < found.size(); ++i)
    for (std::size_t k = 0; k < found[i].values.size(); ++k)
      expect_near(found[i].values[k], expected[i].values[k]);
}

TEST(Suppressor, BinsAboveAreFiltered) {
  const auto model = networks();
  const Case sound(3 * kWindow);
  // What networks know, alone.
  Case low(3 * kWindow);
  std::vector<Spectrogram> filtered = sound.noisy;
  for (std::size_t i = 0; i < 3; ++i) {
    wiener_filter(sound.power[i], {}, filtered[i]);
    Spectrogram& some = low.noisy[i];
    some = {some.frames, kWindow / 2 + 1, {}};
    for (int t = 0; t < some.frames; ++t)
      for (int f = 0; f < some.bins; ++f)
        some.values.push_back(sound.noisy[i].frame(t)[static_cast<std::size_t>(f)]);
    low.power[i].resize(kWindow / 2 + 1);
  }
  const auto found = sound.suppressed(model.get()), known = low.suppressed(model.get());
  for (std::size_t i = 0; i < 3; ++i)
    for (int t = 0; t < found[i].frames; ++t)
      for (std::size_t f = 0; f < 3 * kWindow / 2 + 1; ++f)
        expect_near(found[i].frame(t)[f],
                    f < kWindow / 2 + 1 ? known[i].frame(t)[f] : filtered[i].frame(t)[f]);
}

TEST(Suppressor, MissingBinsAreNoise) {
  const auto model = networks();
  const Case sound(kWindow / 2);
  // The same with the missing bins made by hand.
  Case wide(kWindow / 2);
  for (std::size_t i = 0; i < 3; ++i) {
    double level = 0;
    for (const float p : wide.power[i]) level += std::log(p) / 9;
    const auto power = static_cast<float>(std::exp(level));
    wide.power[i].resize(17, power);
    Spectrogram made{wide.noisy[i].frames, 17, {}};
    for (int t = 0; t < made.frames; ++t)
      for (std::size_t f = 0; f < 17; ++f)
        made.values.push_back(f < 9 ? wide.noisy[i].frame(t)[f] : std::sqrt(power));
    wide.noisy[i] = made;
  }
  const auto found = sound.suppressed(model.get()), expected = wide.suppressed(model.get());
  for (std::size_t i = 0; i < 3; ++i)
    for (int t = 0; t < found[i].frames; ++t)
      for (std::size_t f = 0; f < 9; ++f)
        expect_near(found[i].frame(t)[f], expected[i].frame(t)[f]);
}

TEST(Suppressor, StrengthAndLeastGain) {
  const Case sound(kWindow);
  const auto full = sound.suppressed(nullptr);
  const auto none = sound.suppressed(nullptr, {0, 0});
  const auto half = sound.suppressed(nullptr, {0, 0.5});
  const auto least = sound.suppressed(nullptr, {0.25, 1});
  int limited = 0;
  for (std::size_t k = 0; k < full[0].values.size(); ++k) {
    const std::complex<float> Y = sound.noisy[0].values[k], X = full[0].values[k];
    EXPECT_EQ(none[0].values[k], Y);
    expect_near(half[0].values[k], 0.5f * (X + Y));
    const bool low = std::abs(X) < 0.25f * std::abs(Y);
    limited += low ? 1 : 0;
    expect_near(least[0].values[k], low ? 0.25f * Y : X);
  }
  EXPECT_GT(limited, 0);
}

}  // namespace
}  // namespace kalmia::test
