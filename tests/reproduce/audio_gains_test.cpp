#include <gtest/gtest.h>

#include "audio/gain_file.hpp"
#include "data/file.hpp"
#include "reproduce/audio_methods.hpp"
#include "reproduce/audio_rows.hpp"
#include "reproduce/speech_cases.hpp"

namespace kalmia::test {
namespace {

using namespace reproduction;

std::vector<double> ratios(const AudioTask& task, const SpeechMixer& mixer, const char* noise) {
  const Mixture mixture = mixer.mixture(noise);
  AudioWork work;
  work.noisy = &mixture.noisy;
  if (task.prepare) {
    AudioPreparation preparation;
    preparation.noisy = [&mixer](const std::string& name) { return mixer.noisy(name); };
    preparation.quick = true;
    preparation.seed = 1;
    preparation.threads = 2;
    work.prepared = task.prepare(preparation);
  }
  std::vector<double> result;
  for (const AudioOutcome& each : task.run(work))
    result.push_back(
        audio_row(each.estimates, mixture.noisy.test, *mixture.known.test).ratio.value());
  return result;
}

TEST(AudioGains, AModelOfTheNoiseTakesItAway) {
  const SpeechMixer mixer(speech_data(1, 1, 4, 8000), 1);
  for (const char* noise : {"white", "dishes"}) {
    const std::vector<double> found = ratios(noise_model_audio(), mixer, noise);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_LT(found[0], 0.5) << noise;
    EXPECT_LT(found[1], 0.6) << noise;
  }
}

TEST(AudioGains, NetworksBeatTheWienerFilterTheyStartFrom) {
  const SpeechMixer mixer(speech_data(24, 4, 4, 8000), 1);
  const double gains = ratios(gains_audio(), mixer, "white").at(0);
  EXPECT_LT(gains, 0.95 * ratios(noise_model_audio(), mixer, "white").at(0));
}

TEST(AudioGains, StopsWhenItIsToldTo) {
  const SpeechMixer mixer(speech_data(4, 2, 1), 1);
  AudioPreparation preparation;
  preparation.noisy = [&mixer](const std::string& name) { return mixer.noisy(name); };
  preparation.seed = 1;
  const ScratchFolder folder;
  preparation.out = folder.file(".");
  int asked = 0;
  preparation.go_on = [&asked] { return ++asked < 3; };
  (void)gains_audio().prepare(preparation);
  EXPECT_LT(asked, 20);
  EXPECT_EQ(folder.files(), 0u);  // half-trained networks are not kept
}

TEST(AudioGains, KeepsItsNetworksForOtherUses) {
  const SpeechMixer mixer(speech_data(4, 2, 1), 1);
  const ScratchFolder folder;
  AudioPreparation preparation;
  preparation.noisy = [&mixer](const std::string& name) { return mixer.noisy(name); };
  preparation.seed = 1;
  preparation.quick = true;
  preparation.out = folder.file(".");
  (void)gains_audio().prepare(preparation);
  const std::string path = folder.file("speech.kalmia-gains");
  const auto model = audio::parse_gain_file(data::read_file_bytes(path), path);
  EXPECT_EQ(model->sizes().window, 512);
}

}  // namespace
}  // namespace kalmia::test
