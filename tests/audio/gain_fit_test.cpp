#include "audio/gain_fit.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "audio/denoiser.hpp"
#include "audio/sound_cases.hpp"
#include "audio/sound_metrics.hpp"
#include "data/sound_writer.hpp"
#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::test {
namespace {

using audio::GainModel;

std::vector<float> clean_words(int count) {
  std::vector<float> clean;
  for (int i = 0; i < count; ++i)
    for (const float x : voice(16000, static_cast<std::uint64_t>(i + 1))) clean.push_back(0.2f * x);
  return clean;
}

std::string write_sound(const ScratchFolder& folder, const std::vector<float>& sound, int rate) {
  data::SoundWriter writer(folder.file("a.wav"), {rate, 1, data::SampleFormat::Float32, 0, {}});
  writer.write(sound);
  writer.commit();
  return folder.file("a.wav");
}

DenoiseFit fit(GainModel& model, const std::string& path, int window, double seconds) {
  data::SoundReader reader(path);
  ThreadTeam team(1);
  return fit_gains(model, path, reader, window, {seconds, 1}, team, [](double) { return true; });
}

TEST(GainFit, AToneIsTheSameAtALowerRate) {
  audio::Stft to(512), from(1536);
  const auto tone = [](int rate, int samples) {
    std::vector<float> x;
    for (int n = 0; n < samples; ++n)
      x.push_back(static_cast<float>(std::sin(2 * std::numbers::pi * 1000 * n / rate)));
    return x;
  };
  const std::vector<float> found = at_rate_of(to, from, tone(48000, 30000));
  const std::vector<float> expected = tone(16000, 10000);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t n = 1000; n < 9000; ++n) EXPECT_NEAR(found[n], expected[n], 0.01) << n;
}

// Signal-to-noise ratio of what the networks make of it.
double quality(const GainModel& model, int rate, const std::vector<float>& noisy,
               const std::vector<float>& clean) {
  ThreadTeam team(1);
  audio::DenoiserOptions options;
  options.rate = rate;
  audio::Denoiser denoiser(options, &model, team);
  std::vector<float> result = denoiser.push(noisy);
  for (const float x : denoiser.finish()) result.push_back(x);
  return audio::snr_db(result, clean);
}

// At another rate pieces get that of the networks first.
TEST(GainFit, LearnsFromTheRecordingItself) {
  const ScratchFolder folder;
  const std::vector<float> clean = clean_words(15);
  const std::vector<float> noisy = sum(clean, white_noise(static_cast<int>(clean.size()), 0.1, 1));
  for (const auto& [rate, window] : {std::pair{16000, 512}, {48000, 1536}}) {
    GainModel model({512, 4, 8, 16, 16, {16}}, std::uint64_t{1});
    const double before = quality(model, rate, noisy, clean);
    const DenoiseFit done = fit(model, write_sound(folder, noisy, rate), window, 3);
    EXPECT_TRUE(done.kept) << rate;
    EXPECT_GE(done.updates, 20);
    EXPECT_GT(done.seconds, 0);
    EXPECT_GT(quality(model, rate, noisy, clean), before) << rate;
  }
}

TEST(GainFit, RefusesWhatNothingCanBeLearnedFrom) {
  const ScratchFolder folder;
  GainModel model({512, 4, 8, 16, 8, {8}}, std::uint64_t{1});
  const auto refusal = [&](const std::vector<float>& sound, int rate, int window) {
    return message_of<DataError>([&] { fit(model, write_sound(folder, sound, rate), window, 1); });
  };
  EXPECT_NE(refusal(white_noise(60000, 0.1, 1), 16000, 512).find("3 pieces"), std::string::npos);
  EXPECT_NE(refusal(std::vector<float>(320000), 16000, 512).find("0 pieces"), std::string::npos);
  std::vector<float> broken = white_noise(160000, 0.1, 1);
  broken[100001] = std::numeric_limits<float>::infinity();
  EXPECT_NE(refusal(broken, 16000, 512).find("sample 100001, channel 1"), std::string::npos);
  EXPECT_NE(refusal(white_noise(160000, 0.1, 1), 8000, 256).find("8000 samples a second"),
            std::string::npos);
}

}  // namespace
}  // namespace kalmia::test
