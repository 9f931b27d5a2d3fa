#include <gtest/gtest.h>

#include "reproduce/audio_methods.hpp"
#include "reproduce/audio_rows.hpp"
#include "reproduce/speech_cases.hpp"

namespace kalmia::test {
namespace {

using namespace reproduction;

FitOptions static_options() {
  FitOptions options;
  options.model.effort = "quick";
  options.model.prior = "mean-reverting";
  options.model.noise = std::string("1");
  options.model.hidden = 0;
  return options;
}

std::vector<FittedSound> three() {
  return {{{"p", "", true}, Heard::Predicted},
          {{"f", "", true}, Heard::Filtered},
          {{"l", "", true}, Heard::Linearized}};
}

std::vector<AudioOutcome> run(const AudioTask& task, const NoisySpeech& noisy) {
  AudioWork work;
  work.noisy = &noisy;
  work.seed = 1;
  return task.run(work);
}

// The filter is x = F x[k-1] + K (y - F x[k-1]): between prediction and recording, with one gain
// once it has settled.
TEST(AudioFitted, PredictionFilterAndSmootherAreOfOneModel) {
  const SpeechMixer mixer(speech_data(4, 2, 2), 1);
  const NoisySpeech noisy = mixer.noisy("white");
  const auto outcomes = run(fitted_audio(static_options(), Levelled::Scaled, three(), 1), noisy);
  ASSERT_EQ(outcomes.size(), 3u);
  const Sound &p = outcomes[0].estimates[1], &f = outcomes[1].estimates[1], &y = noisy.test[1];
  const double gain = (f[2000] - p[2000]) / (y[2000] - p[2000]);
  EXPECT_GT(gain, 0.02);
  EXPECT_LT(gain, 0.98);
  for (std::size_t k = 1000; k < 3000; k += 100)
    EXPECT_NEAR(f[k], p[k] + gain * (y[k] - p[k]), 1e-4) << k;
  EXPECT_NE(outcomes[2].estimates[1], f);
  EXPECT_EQ(outcomes[1].networks_kept, false);
}

// Ratio of errors of each of the three.
std::vector<double> ratios(const SpeechMixer& mixer, const char* noise, Levelled levelled) {
  const Mixture mixture = mixer.mixture(noise);
  std::vector<double> result;
  for (const AudioOutcome& each :
       run(fitted_audio(static_options(), levelled, three(), 1), mixture.noisy))
    result.push_back(
        audio_row(each.estimates, mixture.noisy.test, *mixture.known.test).ratio.value());
  return result;
}

TEST(AudioFitted, SmoothingBeatsFilteringBeatsTheRecording) {
  const SpeechMixer mixer(speech_data(4, 2, 4), 1);
  const std::vector<double> white = ratios(mixer, "white", Levelled::Whitened);
  EXPECT_LT(white[1], 0.9);
  EXPECT_LT(white[2], white[1]);
}

// Noise that lasts is taken for speech, unless it is made white.
TEST(AudioFitted, WhiteningHelpsAgainstNoiseThatLasts) {
  const SpeechMixer mixer(speech_data(4, 2, 4), 1);
  EXPECT_LT(ratios(mixer, "dishes", Levelled::Whitened)[1], 0.9);
  EXPECT_GT(ratios(mixer, "dishes", Levelled::Scaled)[1], 0.95);
}

// A recording that is louder as a whole gives the same, louder.
TEST(AudioFitted, LoudnessOfARecordingDoesNotMatter) {
  const SpeechMixer mixer(speech_data(3, 2, 1), 1);
  NoisySpeech noisy = mixer.noisy("dishes");
  for (const Levelled levelled : {Levelled::Scaled, Levelled::Whitened}) {
    const AudioTask task = fitted_audio(static_options(), levelled, three(), 1);
    const Sound soft = run(task, noisy)[1].estimates[0];
    NoisySpeech louder = noisy;
    for (float& x : louder.test[0]) x *= 4;
    const Sound loud = run(task, louder)[1].estimates[0];
    for (std::size_t k = 0; k < soft.size(); ++k) ASSERT_NEAR(loud[k], 4 * soft[k], 1e-3) << k;
  }
}

TEST(AudioFitted, SettingsNameWhatItIsFittedWith) {
  const AudioTask task = fitted_audio(static_options(), Levelled::Whitened, three(), 1);
  EXPECT_NE(task.methods[0].settings.find("whitened"), std::string::npos);
  EXPECT_NE(task.methods[0].settings.find("prior=mean-reverting"), std::string::npos);
  EXPECT_FALSE(task.knows);
}

}  // namespace
}  // namespace kalmia::test
