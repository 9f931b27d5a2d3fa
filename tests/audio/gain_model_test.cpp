#include "audio/gain_model.hpp"

#include <gtest/gtest.h>

#include "audio/noise_power.hpp"
#include "audio/sound_cases.hpp"
#include "audio/wiener.hpp"
#include "engine/batch.hpp"
#include "kalmia/error.hpp"

namespace kalmia::test {
namespace {

using audio::GainModel;
using audio::GainSizes;
using audio::Spectrogram;
using audio::Stft;

// 17 bins: four bands, and one bin that is left over.
const GainSizes kSmall{32, 4, 3, 2, 5, {6}};

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

TEST(GainModel, StartsAsTheWienerFilter) {
  ThreadTeam team(1);
  const GainModel model(kSmall, 1);
  const Recordings before({400});
  Recordings after({400});
  apply_gains(model, after.noisy, after.power, team);
  const std::vector<float> ratios = audio::signal_ratios(before.noisy[0], before.power[0]);
  for (int t = 0; t < before.noisy[0].frames; ++t)
    for (std::size_t f = 0; f < 17; ++f) {
      const std::complex<float> Y = before.noisy[0].frame(t)[f];
      // The bin that is left over takes the gain of the one below.
      const float r = ratios[static_cast<std::size_t>(t) * 17 + std::min<std::size_t>(f, 15)];
      EXPECT_NEAR(std::abs(after.noisy[0].frame(t)[f] - Y * r / (1 + r)), 0,
                  1e-5 * (1 + std::abs(Y)));
    }
}

TEST(GainModel, BelowVoicesTheWienerFilterStays) {
  ThreadTeam team(1);
  GainModel model(kSmall, 1);
  model.set_parameters(random_parameters(model));
  const Recordings before({400});
  Recordings after({400});
  apply_gains(model, after.noisy, after.power, team);
  Spectrogram filtered = before.noisy[0];
  wiener_filter(before.power[0], {}, filtered);
  int others = 0;
  for (int t = 0; t < filtered.frames; ++t)
    for (std::size_t f = 0; f < 4; ++f) {
      const float apart = std::abs(after.noisy[0].frame(t)[f] - filtered.frame(t)[f]);
      const float size = 1e-5f * (1 + std::abs(filtered.frame(t)[f]));
      if (f < GainModel::kVoiceless)
        EXPECT_LE(apart, size);
      else
        others += apart > size;
    }
  EXPECT_GT(others, filtered.frames);
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

// The same networks look at each band: what they see moved by a band, gains move by a band, but for
// their place.
TEST(GainModel, BandsShareTheirNetworks) {
  GainSizes sizes{512, 4, 8, 1, 6, {6}};
  GainModel model(sizes, 1);
  std::vector<float> parameters = random_parameters(model);
  model.set_parameters(parameters);
  audio::GainGroup<float> group, other;
  for (audio::GainGroup<float>* each : {&group, &other})
    each->resize(model.architecture(), 3, engine::kGroupLanes);
  RandomStream random(1, "bands");
  Spectrogram noisy{3, 257, {}}, moved = noisy;
  noisy.values.resize(3 * 257), moved.values.resize(3 * 257);
  for (std::size_t i = 0; i < noisy.values.size(); ++i) {
    noisy.values[i] = static_cast<float>(random.normal());
    if (i % 257 >= 4) moved.values[i] = noisy.values[i - 4];
  }
  const std::vector<float> power(257, 1);
  const audio::GainFeatures a(noisy, power, 1), b(moved, power, 1);
  model.fill_lanes(a, std::vector{10, 3}, 1, 2, group);
  model.fill_lanes(b, std::vector{5, 11}, 1, 2, other);
  EXPECT_EQ(group.length[1], 2);
  EXPECT_EQ(group.length[2], 0);
  const std::size_t inputs = 4 + 16 + 1 + 1 + 4;
  for (std::size_t t = 0; t < 2; ++t) {
    for (std::size_t i = 0; i < 20; ++i) {
      const std::size_t at = (t * inputs + i) * engine::kGroupLanes;
      EXPECT_EQ(group.input_fwd[at], other.input_fwd[at + 1]);
      EXPECT_EQ(group.input_fwd[at], group.input_bwd[at]);
      EXPECT_EQ(group.input_fwd[at], a.ratio(static_cast<int>(t) + 1, static_cast<int>(i) + 32));
    }
    const std::size_t place = (t * inputs + 21) * engine::kGroupLanes;
    EXPECT_FLOAT_EQ(group.input_fwd[place], -44.0f / 64);
    EXPECT_FLOAT_EQ(other.input_fwd[place + 1], -42.0f / 64);
    for (std::size_t f = 0; f < 4; ++f) {
      const float odds = group.offset[(t * 4 + f) * engine::kGroupLanes];
      EXPECT_EQ(odds, a.wiener(static_cast<int>(t) + 1, static_cast<int>(f) + 40));
      EXPECT_EQ(odds, other.offset[(t * 4 + f) * engine::kGroupLanes + 1]);
      EXPECT_EQ(0.5f * odds, group.input_bwd[(t * inputs + 22 + f) * engine::kGroupLanes]);
    }
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
