#include "reproduce/speech_data.hpp"

#include <gtest/gtest.h>

#include "audio/sound_metrics.hpp"
#include "kalmia/error.hpp"
#include "reproduce/speech_cases.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::test {
namespace {

using namespace reproduction;

std::string error_of(const std::vector<std::string>& folders) {
  try {
    (void)read_speech(folders, {}, 1);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(SpeechData, ReadsTheWordsOfEachPartAndAllNoises) {
  const ScratchFolder folder;
  write_speech(root(folder), 2);
  const SpeechData data = read_speech({root(folder).string()}, {}, 1);
  for (const Part part : kParts) EXPECT_EQ(data.of(part).size(), 10u);  // no dog
  ASSERT_EQ(data.noises.size(), kNoises);
  for (const Sound& noise : data.noises) EXPECT_EQ(noise.size(), 30000u);
}

TEST(SpeechData, UtterancesHaveNoMeanAndUnitVarianceWhereHeard) {
  const ScratchFolder folder;
  write_speech(root(folder), 1);
  const SpeechData data = read_speech({root(folder).string()}, {}, 1);
  for (const Sound& sound : data.of(Part::Test)) {
    double sum = 0, energy = 0, count = 0;
    const auto where = audio::heard(sound, kHeardFrame);
    for (std::size_t n = 0; n < sound.size(); ++n) {
      sum += sound[n];
      if (where[n] == 0) continue;
      energy += static_cast<double>(sound[n]) * sound[n];
      count += 1;
    }
    EXPECT_NEAR(sum / static_cast<double>(sound.size()), 0, 1e-4);
    EXPECT_LT(count, 0.7 * static_cast<double>(sound.size()));
    EXPECT_NEAR(energy / count, 1, 1e-4);
  }
}

TEST(SpeechData, FewerAreTheFirstOfMoreAndFollowTheSeed) {
  const ScratchFolder folder;
  write_speech(root(folder), 3);
  const std::vector<std::string> folders{root(folder).string()};
  const SpeechData all = read_speech(folders, {}, 1), some = read_speech(folders, {4, 2, 3}, 1),
                   other = read_speech(folders, {4, 2, 3}, 2);
  ASSERT_EQ(some.of(Part::Training).size(), 4u);
  ASSERT_EQ(some.of(Part::Validation).size(), 2u);
  ASSERT_EQ(some.of(Part::Test).size(), 3u);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(some.of(Part::Training)[i], all.of(Part::Training)[i]);
  EXPECT_NE(some.of(Part::Training), other.of(Part::Training));
}

TEST(SpeechData, ASecondFolderAddsUtterances) {
  const ScratchFolder folder;
  write_speech(root(folder) / "a", 1);
  write_speech(root(folder) / "b", 2, false);
  const SpeechData data =
      read_speech({(root(folder) / "b").string(), (root(folder) / "a").string()}, {}, 1);
  EXPECT_EQ(data.of(Part::Training).size(), 15u);
}

TEST(SpeechData, SilentUtterancesAreLeftOut) {
  const ScratchFolder folder;
  write_speech(root(folder), 1);
  write_wav(root(folder) / "cat/testing_nohash_0.wav", std::vector<float>(4000, 0.1f));
  EXPECT_EQ(read_speech({root(folder).string()}, {}, 1).of(Part::Test).size(), 4u);
}

TEST(SpeechData, WhereThereIsNoDataItSaysWhatToDo) {
  const ScratchFolder folder;
  std::filesystem::create_directories(root(folder));
  for (const std::string& where : {folder.file("none"), root(folder).string()}) {
    const std::string error = error_of({where});
    EXPECT_NE(error.find(where), std::string::npos) << error;
    EXPECT_NE(error.find("tools/fetch_speech_commands.py FOLDER"), std::string::npos) << error;
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
  write_speech(root(folder), 1, false);
  EXPECT_NE(error_of({root(folder).string()}).find("_background_noise_"), std::string::npos);
}

TEST(SpeechData, AWrongIndexOrRecordingIsNamed) {
  const ScratchFolder folder;
  write_speech(root(folder), 1);
  std::ofstream(root(folder) / "index.csv") << "file,class,split\ncat/a.wav,cat,trial\n";
  EXPECT_NE(error_of({root(folder).string()}).find("index.csv:2: split is \"trial\""),
            std::string::npos)
      << error_of({root(folder).string()});
  std::ofstream(root(folder) / "index.csv") << "file,split\n";
  EXPECT_NE(error_of({root(folder).string()}).find("no column class"), std::string::npos);
  write_speech(root(folder), 1);
  write_wav(root(folder) / "cat/training_nohash_0.wav", white_noise(100, 0.1, 1), 8000);
  EXPECT_NE(error_of({root(folder).string()}).find("8000"), std::string::npos);
}

}  // namespace
}  // namespace kalmia::test
