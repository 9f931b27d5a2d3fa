#include "audio/denoiser.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "audio/noise_power.hpp"
#include "audio/sound_cases.hpp"
#include "audio/sound_metrics.hpp"
#include "kalmia/error.hpp"

namespace kalmia::test {
namespace {

using audio::Denoiser;
using audio::DenoiserOptions;
using audio::GainModel;

// Networks with weights as large as those of trained ones.
const GainModel& networks() {
  static const auto model = [] {
    auto made =
        std::make_unique<GainModel>(audio::GainSizes{512, 4, 8, 16, 12, {12}}, std::uint64_t{1});
    RandomStream random(5, "denoiser");
    std::vector<float> parameters(made->parameters().begin(), made->parameters().end());
    for (float& p : parameters) p += static_cast<float>(0.05 * random.normal());
    made->set_parameters(parameters);
    return made;
  }();
  return *model;
}

struct Noisy {
  std::vector<float> clean, sound;
};

// Words with pauses in white noise.
Noisy words(int count, double deviation = 0.1) {
  Noisy made;
  for (int i = 0; i < count; ++i)
    for (const float x : voice(16000, static_cast<std::uint64_t>(i + 1)))
      made.clean.push_back(0.3f * x);
  made.sound = sum(made.clean, white_noise(static_cast<int>(made.clean.size()), deviation, 9));
  return made;
}

std::vector<float> run(const std::vector<float>& sound, const DenoiserOptions& options,
                       const GainModel* model, std::size_t portion, int threads = 1) {
  ThreadTeam team(threads);
  Denoiser denoiser(options, model, team);
  std::vector<float> result;
  const auto add = [&](const std::vector<float>& some) {
    result.insert(result.end(), some.begin(), some.end());
  };
  for (std::size_t n = 0; n < sound.size(); n += portion)
    add(denoiser.push(std::span(sound).subspan(n, std::min(portion, sound.size() - n))));
  add(denoiser.finish());
  return result;
}

double error_db(std::span<const float> a, std::span<const float> b) { return -audio::snr_db(a, b); }

TEST(Denoiser, PortionsThreadsAndGroupsDoNotMatter) {
  const Noisy noisy = words(6);
  for (const GainModel* model : {static_cast<const GainModel*>(nullptr), &networks()}) {
    DenoiserOptions options;
    const std::vector<float> whole = run(noisy.sound, options, model, noisy.sound.size());
    ASSERT_EQ(whole.size(), noisy.sound.size());
    EXPECT_EQ(run(noisy.sound, options, model, 997), whole);
    EXPECT_EQ(run(noisy.sound, options, model, 40000, 2), whole);
    options.together = 1;
    EXPECT_EQ(run(noisy.sound, options, model, 16000), whole);
  }
}

// With the noise known, blocks give what the whole recording at once gives: borders are not heard.
TEST(Denoiser, BlocksAreAsGoodAsTheWhole) {
  const Noisy noisy = words(8);
  audio::Stft stft(512);
  std::vector<audio::Spectrogram> frames{stft.forward(noisy.sound)};
  DenoiserOptions options;
  options.noise_power = mean_power(frames[0], quiet_frames(frames[0]));
  for (const GainModel* model : {static_cast<const GainModel*>(nullptr), &networks()}) {
    std::vector<audio::Spectrogram> at_once = frames;
    ThreadTeam team(1);
    audio::Suppressor(model, {}).apply(at_once, std::span(&options.noise_power, 1), team);
    const std::vector<float> whole = stft.inverse(at_once[0], noisy.sound.size());
    const std::vector<float> blocks = run(noisy.sound, options, model, 5000);
    EXPECT_LT(error_db(blocks, whole), -60);
    EXPECT_GT(error_db(noisy.sound, whole), -20);  // while much was done to it
    // Nowhere is the difference larger than what 12 bits would round away.
    float most = 0;
    for (std::size_t n = 0; n < whole.size(); ++n)
      most = std::max(most, std::abs(blocks[n] - whole[n]));
    EXPECT_LT(most, 1.0f / 4096);
  }
}

TEST(Denoiser, TakesNoiseAwayAtAnyRate) {
  const Noisy noisy = words(4);
  const GainModel start({512, 4, 8, 16, 16, {16}}, std::uint64_t{1});
  for (const int rate : {8000, 11025, 16000, 22050, 44100, 48000}) {
    for (const GainModel* model : {static_cast<const GainModel*>(nullptr), &start}) {
      DenoiserOptions options;
      options.rate = rate;
      const std::vector<float> clean = run(noisy.sound, options, model, 10000);
      ASSERT_EQ(clean.size(), noisy.sound.size());
      EXPECT_GT(audio::si_sdr_db(clean, noisy.clean),
                audio::si_sdr_db(noisy.sound, noisy.clean) + 3)
          << rate;
    }
  }
}

// However far it looks ahead, a block's noise is also that of the block itself.
TEST(Denoiser, LooksAtMoreThanWhatIsAhead) {
  Noisy noisy = words(24, 0);
  const std::vector<float> noise = white_noise(static_cast<int>(noisy.clean.size()), 0.02, 3);
  for (std::size_t n = 0; n < noise.size(); ++n)
    noisy.sound[n] += noise[n] * (n < 9 * 16000 ? 1.0f : 10.0f);
  DenoiserOptions options;
  options.look_ahead = 10;
  const std::vector<float> clean = run(noisy.sound, options, nullptr, 16000);
  const auto part = [](const std::vector<float>& x) {
    return std::span(x).subspan(5 * 16000, 3 * 16000);
  };
  EXPECT_GT(audio::snr_db(part(clean), part(noisy.clean)),
            audio::snr_db(part(noisy.sound), part(noisy.clean)) + 3);
}

TEST(Denoiser, FollowsNoiseThatGrows) {
  Noisy noisy = words(20, 0);
  const std::vector<float> noise = white_noise(static_cast<int>(noisy.clean.size()), 0.02, 3);
  for (std::size_t n = 0; n < noise.size(); ++n)
    noisy.sound[n] += noise[n] * (n < noise.size() / 2 ? 1.0f : 6.0f);
  const std::vector<float> clean = run(noisy.sound, {}, nullptr, 16000);
  // Long after the change there is as much less noise as long before it.
  const auto better = [&](std::size_t first) {
    const auto part = [&](const std::vector<float>& x) {
      return std::span(x).subspan(first, 64000);
    };
    return audio::snr_db(part(clean), part(noisy.clean)) -
           audio::snr_db(part(noisy.sound), part(noisy.clean));
  };
  EXPECT_GT(better(32000), 3);
  EXPECT_GT(better(256000), 3);
}

TEST(Denoiser, ChannelsDoNotMix) {
  const Noisy a = words(3), b = words(3, 0.05);
  std::vector<float> both;
  for (std::size_t n = 0; n < a.sound.size(); ++n) {
    both.push_back(a.sound[n]);
    both.push_back(b.sound[n]);
  }
  DenoiserOptions options;
  const std::vector<float> left = run(a.sound, options, &networks(), 9000);
  const std::vector<float> right = run(b.sound, options, &networks(), 9000);
  options.channels = 2;
  const std::vector<float> found = run(both, options, &networks(), 9000);
  for (std::size_t n = 0; n < left.size(); ++n) {
    EXPECT_EQ(found[2 * n], left[n]);
    EXPECT_EQ(found[2 * n + 1], right[n]);
  }
}

TEST(Denoiser, StrengthZeroChangesNothing) {
  const Noisy noisy = words(2);
  DenoiserOptions options;
  options.suppress.strength = 0;
  const std::vector<float> same = run(noisy.sound, options, &networks(), 5000);
  for (std::size_t n = 0; n < same.size(); ++n) EXPECT_NEAR(same[n], noisy.sound[n], 2e-6);
}

TEST(Denoiser, ASampleWaitsNoLongerThanItSays) {
  ThreadTeam team(1);
  DenoiserOptions options;
  options.together = 1;
  options.look_ahead = 0.7;
  Denoiser denoiser(options, nullptr, team);
  const std::vector<float> sound = white_noise(80000, 0.1, 1);
  std::size_t out = 0;
  for (std::size_t n = 0; n < sound.size(); n += 100) {
    out += denoiser.push(std::span(sound).subspan(n, 100)).size();
    EXPECT_GE(out + static_cast<std::size_t>(denoiser.delay()), n + 100) << n;
  }
  EXPECT_LT(denoiser.delay(), 3 * 16000);
}

TEST(Denoiser, OddSounds) {
  for (const int samples : {0, 1, 2, 100, 511, 3000})
    for (const GainModel* model : {static_cast<const GainModel*>(nullptr), &networks()})
      for (const float constant : {0.0f, 0.5f, 1e-30f, 1e9f}) {
        const std::vector<float> sound(static_cast<std::size_t>(samples), constant);
        const std::vector<float> found = run(sound, {}, model, 1000);
        ASSERT_EQ(found.size(), sound.size());
        for (const float x : found) EXPECT_TRUE(std::isfinite(x) && std::abs(x) <= 2 * constant);
      }
}

TEST(Denoiser, RefusesWhatCannotBeWorkedOn) {
  ThreadTeam team(1);
  const auto make = [&](int rate, int channels, const GainModel* model) {
    DenoiserOptions options;
    options.rate = rate;
    options.channels = channels;
    Denoiser denoiser(options, model, team);
  };
  EXPECT_THROW(make(0, 1, nullptr), ConfigError);
  EXPECT_THROW(make(768001, 1, nullptr), ConfigError);
  EXPECT_THROW(make(1, 1, &networks()), ConfigError);
  EXPECT_THROW(make(16000, 0, nullptr), ConfigError);
  EXPECT_THROW(make(16000, 65, nullptr), ConfigError);
  EXPECT_NO_THROW(make(1, 64, nullptr));
  EXPECT_NO_THROW(make(384000, 8, &networks()));
  DenoiserOptions stereo;
  stereo.channels = 2;
  Denoiser denoiser(stereo, nullptr, team);
  EXPECT_THROW(denoiser.push(std::vector<float>(3)), DataError);
  for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity(), 1.1e9f})
    EXPECT_THROW(denoiser.push(std::vector<float>{0, bad}), DataError);
}

}  // namespace
}  // namespace kalmia::test
