#include <gtest/gtest.h>

#include <set>

#include "audio/noise_power.hpp"
#include "audio/wiener.hpp"
#include "reproduce/audio_methods.hpp"
#include "reproduce/audio_rows.hpp"
#include "reproduce/speech_cases.hpp"

namespace kalmia::test {
namespace {

using namespace reproduction;

class AudioClassical : public ::testing::Test {
 protected:
  const SpeechMixer mixer{speech_data(3, 1, 3, 8000), 1};

  Sounds estimates(const AudioTask& task, const Mixture& mixture) const {
    AudioWork work;
    work.noisy = &mixture.noisy;
    work.known = task.knows ? &mixture.known : nullptr;
    return task.run(work).at(0).estimates;
  }
  double ratio(const AudioTask& task, const std::string& noise) const {
    const Mixture mixture = mixer.mixture(noise);
    return audio_row(estimates(task, mixture), mixture.noisy.test, *mixture.known.test)
        .ratio.value();
  }
};

TEST_F(AudioClassical, RawIsTheRecording) {
  const Mixture mixture = mixer.mixture("white");
  EXPECT_EQ(estimates(raw_audio(), mixture), mixture.noisy.test);
  EXPECT_DOUBLE_EQ(ratio(raw_audio(), "white"), 1);
}

// The more a filter knows, the less is left.
TEST_F(AudioClassical, WienerFiltersTakeNoiseAwayTheOracleMost) {
  for (const char* noise : {"white", "dishes", "combined"}) {
    const double known = ratio(wiener_known_audio(), noise),
                 oracle = ratio(wiener_oracle_audio(), noise);
    EXPECT_LT(oracle, 0.25) << noise;
    EXPECT_LT(oracle, known) << noise;
    EXPECT_LT(known, 0.6) << noise;
  }
  EXPECT_LT(ratio(wiener_quiet_audio(), "white"), 0.4);
}

TEST_F(AudioClassical, QuietUsesTheQuietestFifthOfTheRecording) {
  const Mixture mixture = mixer.mixture("tap");
  audio::Stft stft(512);
  audio::Spectrogram expected = stft.forward(mixture.noisy.test[1]);
  audio::wiener_filter(
      audio::mean_power(expected, audio::quiet_frames(expected, {audio::Quiet::Energy, 0.2, 2})),
      {}, expected);
  EXPECT_EQ(estimates(wiener_quiet_audio(), mixture)[1], stft.inverse(expected, 8000));
}

TEST_F(AudioClassical, CombinedKnowsWhichNoiseItIs) {
  const SpeechMixer many(speech_data(1, 1, 6, 2000), 1);
  const Mixture mixture = many.mixture(kCombined);
  const std::vector<std::size_t> kinds = mixture.known.test_kind;
  ASSERT_GT(std::set<std::size_t>(kinds.begin(), kinds.end()).size(), 2u);
  const Sounds combined = estimates(wiener_known_audio(), mixture);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    Mixture same = mixture;
    std::fill(same.known.test_kind.begin(), same.known.test_kind.end(), kinds[i]);
    EXPECT_EQ(estimates(wiener_known_audio(), same)[i], combined[i]) << i;
  }
}

TEST_F(AudioClassical, TheKalmanFilterIsTunedOnCleanSpeech) {
  EXPECT_LT(ratio(supervised_kalman_audio(), "white"), 0.42);
  Mixture mixture = mixer.mixture("white");
  const Sounds tuned = estimates(supervised_kalman_audio(), mixture);
  const Sounds other(3, white_noise(8000, 1, 9));
  mixture.known.training = &other;
  EXPECT_NE(estimates(supervised_kalman_audio(), mixture), tuned);
}

TEST(Autoregression, IsACompanionMatrix) {
  const LinearModel model = autoregression({0.5, 0.25, 0.125}, 2, 3);
  EXPECT_EQ(model.F, (std::vector<double>{0.5, 0.25, 0.125, 1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(model.H, (std::vector<double>{1, 0, 0}));
  EXPECT_EQ(model.Q[0], 2);
  EXPECT_EQ(model.R[0], 3);
}

}  // namespace
}  // namespace kalmia::test
