// The list, and its honesty: no method marked self-supervised touches clean sound.
#include "reproduce/audio_methods.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <ostream>
#include <set>

#include "kalmia/error.hpp"
#include "reproduce/speech_cases.hpp"

namespace kalmia::reproduction {

void PrintTo(const AudioTask& task, std::ostream* out) { *out << task.methods[0].name; }

}  // namespace kalmia::reproduction

namespace kalmia::test {
namespace {

using namespace reproduction;

class AudioMethods : public ::testing::TestWithParam<AudioTask> {};

Sounds not_numbers(const Sounds& like) {
  Sounds result = like;
  for (Sound& each : result)
    std::fill(each.begin(), each.end(), std::numeric_limits<float>::quiet_NaN());
  return result;
}

std::vector<Sounds> estimates(const AudioTask& task, const NoisySpeech& noisy,
                              const KnownSpeech* known) {
  AudioWork work;
  if (task.prepare) {
    AudioPreparation preparation;
    preparation.noisy = [&noisy](const std::string&) { return noisy; };
    preparation.quick = true;
    preparation.seed = 1;
    work.prepared = task.prepare(preparation);
  }
  work.noisy = &noisy;
  work.known = known;
  work.quick = true;
  work.seed = 1;
  std::vector<Sounds> all;
  for (AudioOutcome& each : task.run(work)) all.push_back(std::move(each.estimates));
  return all;
}

// What the runner hands over (nothing), and clean sound that is not a number everywhere, give the
// same bits.
TEST_P(AudioMethods, SelfSupervisedOnesDoNotTouchCleanSound) {
  const AudioTask& task = GetParam();
  for (const AudioMethod& method : task.methods)
    EXPECT_EQ(method.self_supervised, !task.knows) << method.name;
  const SpeechMixer mixer(speech_data(3, 2, 2, 2000), 1);
  Mixture mixture = mixer.mixture("white");
  const Sounds training = not_numbers(*mixture.known.training),
               test = not_numbers(*mixture.known.test),
               ranges = not_numbers(*mixture.known.noise_ranges);
  KnownSpeech broken = mixture.known;
  broken.training = &training;
  broken.test = &test;
  broken.noise_ranges = &ranges;
  broken.test_noise = not_numbers(broken.test_noise);
  if (task.knows) {
    // It says so, and it is so.
    const std::vector<Sounds> whole = estimates(task, mixture.noisy, &mixture.known);
    try {
      EXPECT_NE(estimates(task, mixture.noisy, &broken), whole);
    } catch (const Error&) {
    }
    return;
  }
  const std::vector<Sounds> alone = estimates(task, mixture.noisy, nullptr);
  EXPECT_EQ(estimates(task, mixture.noisy, &broken), alone);
  for (const Sounds& each : alone) {
    ASSERT_EQ(each.size(), 2u);
    EXPECT_EQ(each[0].size(), 2000u);
  }
}

INSTANTIATE_TEST_SUITE_P(All, AudioMethods, ::testing::ValuesIn(audio_tasks()),
                         [](const auto& each) {
                           std::string name = each.param.methods[0].name;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(AudioMethodsList, HasThePapersMethodsWithItsNumbers) {
  std::set<std::string> names;
  for (const AudioTask& task : audio_tasks())
    for (const AudioMethod& method : task.methods) {
      EXPECT_TRUE(names.insert(method.name).second) << method.name;
      EXPECT_FALSE(method.description.empty());
      if (method.name == "recursive-plain-linearized") {
        ASSERT_EQ(method.paper.size(), 7u);
        EXPECT_EQ(method.paper[0].noise, "white");
        EXPECT_EQ(method.paper[0].mse, 0.100);
        EXPECT_EQ(method.paper[6].mse, 0.176);
      }
    }
  for (const char* name :
       {"raw", "kalman-supervised", "noise2noise", "recurrent-filter", "recursive-filter",
        "recursive-plain-linearized", "recursive-linearized", "recursive-fused", "wiener-quiet",
        "wiener-known", "wiener-frames", "two-part-kalman", "gains", "wiener-oracle"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(AudioMethodsList, TasksOfNamedMethods) {
  EXPECT_EQ(audio_tasks_with({}).size(), audio_tasks().size());
  const std::vector<AudioTask> some = audio_tasks_with({"recursive-fused", "raw"});
  ASSERT_EQ(some.size(), 2u);
  EXPECT_EQ(some[0].methods[0].name, "raw");
  EXPECT_EQ(some[1].methods.size(), 3u);
  const std::string error =
      message_of<ConfigError>([] { (void)audio_tasks_with({"wiener-quite"}); });
  EXPECT_NE(error.find("did you mean wiener-quiet?"), std::string::npos) << error;
}

}  // namespace
}  // namespace kalmia::test
