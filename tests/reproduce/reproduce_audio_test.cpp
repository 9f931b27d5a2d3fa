#include "kalmia/reproduce_audio.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "reproduce/speech_cases.hpp"

namespace kalmia::test {
namespace {

class ReproduceAudio : public ::testing::Test {
 protected:
  const ScratchFolder folder;
  AudioOptions options;

  ReproduceAudio() {
    write_speech(root(folder), 1);
    options.data = {root(folder).string()};
    options.quick = true;
    options.methods = {"raw", "wiener-quiet", "wiener-oracle"};
    options.noises = {"white", "combined"};
    options.threads = 1;
  }
};

TEST_F(ReproduceAudio, GivesRowsAndFiles) {
  options.out = folder.file("out");
  const AudioReproduction result = reproduce_audio(options);
  EXPECT_TRUE(result.complete);
  ASSERT_EQ(result.rows.size(), 6u);
  EXPECT_EQ(result.rows[5].method, "wiener-oracle");
  EXPECT_LT(*result.rows[5].ratio, *result.rows[3].ratio);
  EXPECT_EQ(result.training, 5);
  const auto json = nlohmann::json::parse(folder.content("out/rows.json"));
  EXPECT_EQ(json["rows"].size(), 6u);
  EXPECT_EQ(json["provenance"]["complete"], true);
  EXPECT_EQ(json["provenance"]["utterances"]["test"], 5);
  EXPECT_EQ(folder.content("out/rows.csv"), result.to_csv());
}

TEST_F(ReproduceAudio, ARunThatIsStoppedAtOnceKeepsEarlierRows) {
  options.out = folder.file("out");
  (void)reproduce_audio(options);
  const std::string rows = folder.content("out/rows.json");
  const AudioReproduction stopped =
      reproduce_audio(options, [](const ReproduceProgress&) { return false; });
  EXPECT_FALSE(stopped.complete);
  EXPECT_EQ(folder.content("out/rows.json"), rows);
}

TEST_F(ReproduceAudio, RowsDoNotDependOnThreadsNorOnWhatElseIsRun) {
  const AudioReproduction whole = reproduce_audio(options);
  options.threads = 2;
  options.noises = {"combined"};
  options.methods = {"wiener-quiet"};
  const AudioReproduction part = reproduce_audio(options);
  ASSERT_EQ(part.rows.size(), 1u);
  EXPECT_EQ(part.rows[0].mse, whole.rows[3].mse);
}

// Methods that share a fit with one that was asked for are not shown.
TEST_F(ReproduceAudio, OnlyTheMethodsThatWereAskedFor) {
  options.methods = {"recursive-linearized"};
  options.noises = {"white"};
  const AudioReproduction result = reproduce_audio(options);
  ASSERT_EQ(result.rows.size(), 1u);
  EXPECT_EQ(result.methods.size(), 1u);
  EXPECT_EQ(result.rows[0].method, "recursive-linearized");
}

TEST_F(ReproduceAudio, FoldersAreThoseOfTheEnvironmentUnlessNamed) {
  ASSERT_EQ(setenv("KALMIA_SPEECH_COMMANDS", "/a:/b c", 1), 0);
  EXPECT_EQ(AudioOptions{}.resolved().data, (std::vector<std::string>{"/a", "/b c"}));
  EXPECT_EQ(options.resolved().data, options.data);
  ASSERT_EQ(unsetenv("KALMIA_SPEECH_COMMANDS"), 0);
  EXPECT_EQ(AudioOptions{}.resolved().data, std::vector<std::string>{"speech_commands"});
}

TEST_F(ReproduceAudio, DefaultsAreFilledIn) {
  const AudioOptions full = AudioOptions{}.resolved();
  EXPECT_EQ(full.noises, audio_noises());
  EXPECT_EQ(full.test, 250);
  EXPECT_EQ(options.resolved().test, 20);
  options.test = 7;
  EXPECT_EQ(options.resolved().test, 7);
}

TEST_F(ReproduceAudio, WrongOptionsAreNamedAllAtOnce) {
  options.test = -1;
  options.threads = 5000;
  const std::string error = message_of<ConfigError>([this] { (void)options.resolved(); });
  EXPECT_NE(error.find("test = -1, but it must be in 1..100000"), std::string::npos) << error;
  EXPECT_NE(error.find("threads = 5000"), std::string::npos) << error;
  options = {};
  options.noises = {"dishs"};
  EXPECT_NE(message_of<ConfigError>([this] { (void)options.resolved(); }).find("dishes"),
            std::string::npos);
}

TEST_F(ReproduceAudio, WithoutDataNothingIsWritten) {
  options.data = {folder.file("nothing")};
  options.out = folder.file("out");
  EXPECT_THROW((void)reproduce_audio(options), IoError);
  EXPECT_FALSE(std::filesystem::exists(options.out));
}

}  // namespace
}  // namespace kalmia::test
