#include "audio/denoise_scores.hpp"

#include <gtest/gtest.h>

#include "audio/sound_cases.hpp"
#include "audio/sound_metrics.hpp"
#include "data/sound_writer.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::test {
namespace {

using audio::score;
using audio::WholeSound;

TEST(DenoiseScores, AreMeansOverChannels) {
  const std::vector<float> a = voice(16000, 1), b = voice(16000, 2);
  const std::vector<float> noisy_a = sum(a, white_noise(16000, 0.1, 1));
  const std::vector<float> noisy_b = sum(b, white_noise(16000, 0.3, 2));
  const SoundScores both = score({16000, {noisy_a, noisy_b}}, {16000, {a, b}});
  const auto heard_a = audio::heard(a, 512), heard_b = audio::heard(b, 512);
  EXPECT_NEAR(both.mse, (0.01 + 0.09) / 2, 0.002);
  EXPECT_DOUBLE_EQ(both.snr_db, (audio::snr_db(noisy_a, a) + audio::snr_db(noisy_b, b)) / 2);
  EXPECT_DOUBLE_EQ(both.si_sdr_db,
                   (audio::si_sdr_db(noisy_a, a) + audio::si_sdr_db(noisy_b, b)) / 2);
  EXPECT_DOUBLE_EQ(both.segmental_snr_db, (audio::segmental_snr_db(noisy_a, a, 512, heard_a) +
                                           audio::segmental_snr_db(noisy_b, b, 512, heard_b)) /
                                              2);
}

TEST(DenoiseScores, TakeWhatBothHave) {
  std::vector<float> clean = voice(8000, 1);
  std::vector<float> longer = sum(clean, white_noise(8000, 0.1, 1));
  const SoundScores same = score({16000, {longer}}, {16000, {clean}});
  longer.resize(9000, 5);
  EXPECT_DOUBLE_EQ(score({16000, {longer}}, {16000, {clean}}).mse, same.mse);
}

TEST(DenoiseScores, ReadsChannelAfterChannel) {
  const ScratchFolder folder;
  data::SoundWriter writer(folder.file("a.wav"), {8000, 2, data::SampleFormat::Int16, 0, {}});
  writer.write(std::vector<float>{0.5f, -0.5f, 0.25f, 0});
  writer.commit();
  const WholeSound sound = audio::read_whole_sound(folder.file("a.wav"));
  EXPECT_EQ(sound.rate, 8000);
  EXPECT_EQ(sound.channels, (std::vector<std::vector<float>>{{0.5f, 0.25f}, {-0.5f, 0}}));
}

}  // namespace
}  // namespace kalmia::test
