#include "reproduce/audio_runner.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "kalmia/error.hpp"
#include "reproduce/audio_methods.hpp"
#include "reproduce/speech_cases.hpp"

namespace kalmia::test {
namespace {

using namespace reproduction;

class AudioRunner : public ::testing::Test {
 protected:
  const SpeechMixer mixer{speech_data(2, 1, 2, 2000), 1};
  AudioOptions options = [] {
    AudioOptions some;
    some.noises = {"tap", "white"};
    some.threads = 2;
    return some;
  }();

  AudioRun run(const std::vector<AudioTask>& tasks) const {
    return run_audio(tasks, mixer, options, {}, {});
  }
};

// A task that multiplies recordings by what was prepared.
AudioTask scaling(bool knows = false) {
  AudioTask task;
  task.methods = {{"scaled", "", !knows, false, {{"tap", 0.5}}}, {"zero", "", !knows}};
  task.knows = knows;
  task.cost = [](const AudioOptions&) { return 1.0; };
  task.run = [](const AudioWork& work) {
    std::vector<AudioOutcome> outcomes{{work.noisy->test}, {work.noisy->test}};
    const float factor = work.prepared.has_value() ? std::any_cast<float>(work.prepared) : 0.5f;
    for (Sound& each : outcomes[0].estimates)
      for (float& x : each) x *= factor;
    for (Sound& each : outcomes[1].estimates) std::fill(each.begin(), each.end(), 0.0f);
    outcomes[0].held_out = 3;
    return outcomes;
  };
  return task;
}

TEST_F(AudioRunner, RowsAreByMethodAndNoise) {
  const AudioRun result = run({raw_audio(), scaling()});
  EXPECT_TRUE(result.complete);
  ASSERT_EQ(result.rows.size(), 6u);
  std::string order;
  for (const AudioRow& row : result.rows) order += row.method + " " + row.noise + ",";
  EXPECT_EQ(order, "raw tap,raw white,scaled tap,scaled white,zero tap,zero white,");
  EXPECT_EQ(result.rows[0].ratio, 1);
  EXPECT_NEAR(*result.rows[4].mse, 1, 1e-4);  // silence: the variance of the utterances
  EXPECT_EQ(result.rows[2].paper_mse, 0.5);
  EXPECT_FALSE(result.rows[3].paper_mse.has_value());
  EXPECT_EQ(result.rows[2].held_out, 3);
  EXPECT_TRUE(result.rows[2].self_supervised);
}

TEST_F(AudioRunner, CleanSoundIsHandedToThoseAloneThatSaySo) {
  for (const bool knows : {false, true}) {
    AudioTask task = scaling(knows);
    std::atomic<int> with = 0, without = 0;
    task.run = [&, whole = task.run](const AudioWork& work) {
      ++(work.known == nullptr ? without : with);
      return whole(work);
    };
    (void)run({task});
    EXPECT_EQ(with, knows ? 2 : 0);
    EXPECT_EQ(without, knows ? 0 : 2);
  }
}

TEST_F(AudioRunner, WhatIsPreparedOnceServesAllNoises) {
  AudioTask task = scaling();
  int prepared = 0;
  task.prepare = [&prepared, this](const AudioPreparation& given) {
    ++prepared;
    EXPECT_EQ(given.noisy("combined").training, mixer.noisy("combined").training);
    EXPECT_EQ(given.threads, 2);
    return std::any(1.0f);
  };
  std::set<std::string> said;
  const AudioRun result = run_audio({task}, mixer, options,
                                    [&said](const ReproduceProgress& now) {
                                      said.insert(now.last);
                                      return true;
                                    },
                                    {});
  EXPECT_TRUE(said.contains("scaled, for all noises"));
  EXPECT_EQ(prepared, 1);
  EXPECT_EQ(result.rows[0].ratio, 1);
  EXPECT_EQ(result.rows[1].ratio, 1);
}

TEST_F(AudioRunner, FailuresBecomeRows) {
  AudioTask in_run = scaling(), in_prepare = scaling(), wrong = scaling();
  in_run.run = [](const AudioWork&) -> std::vector<AudioOutcome> { throw NumericalError("lost"); };
  in_prepare.prepare = [](const AudioPreparation&) -> std::any { throw NumericalError("lost"); };
  wrong.run = [whole = wrong.run](const AudioWork& work) {
    std::vector<AudioOutcome> outcomes = whole(work);
    outcomes[1].estimates[0][5] = std::nanf("");
    return outcomes;
  };
  for (const AudioTask& task : {in_run, in_prepare, wrong}) {
    const AudioRun result = run({task});
    ASSERT_EQ(result.rows.size(), 4u);
    EXPECT_TRUE(result.complete);
    EXPECT_FALSE(result.rows[3].mse.has_value());
    EXPECT_FALSE(result.rows[3].error.empty());
    EXPECT_NEAR(result.rows[3].raw_mse, 0.25, 0.1);
  }
}

TEST_F(AudioRunner, StoppedRunsKeepWhatIsFinished) {
  options.threads = 1;
  int finished = 0;
  std::size_t seen = 0;
  const AudioRun result = run_audio(
      {raw_audio(), scaling()}, mixer, options,
      [&finished](const ReproduceProgress& progress) {
        EXPECT_EQ(progress.cells, 4);
        finished = progress.finished;
        return progress.finished < 2;
      },
      [&seen](const std::vector<AudioRow>& rows) { seen = rows.size(); });
  EXPECT_FALSE(result.complete);
  EXPECT_EQ(finished, 2);
  EXPECT_EQ(result.rows.size(), 4u);  // the longest two, of two methods each
  EXPECT_EQ(seen, 4u);
}

TEST_F(AudioRunner, OtherErrorsEndTheRun) {
  AudioTask task = scaling();
  task.run = [](const AudioWork&) -> std::vector<AudioOutcome> { return {}; };
  EXPECT_THROW((void)run({task}), ConfigError);
}

}  // namespace
}  // namespace kalmia::test
