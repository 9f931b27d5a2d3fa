#include "reproduce/audio_rows.hpp"

#include <gtest/gtest.h>

#include "kalmia/error.hpp"
#include "reproduce/speech_cases.hpp"

namespace kalmia::test {
namespace {

using namespace reproduction;

// Two utterances, heard in their first frame alone.
struct Case {
  Sounds clean{Sound(960), Sound(960)}, noisy, estimate;
  Case() {
    for (std::size_t i = 0; i < 2; ++i) {
      for (std::size_t n = 0; n < 320; ++n) clean[i][n] = n % 2 == 0 ? 1.0f : -1.0f;
      noisy.push_back(clean[i]);
      estimate.push_back(clean[i]);
      for (std::size_t n = 0; n < 960; ++n) {
        const bool heard = n < 320;
        noisy[i][n] += heard ? 0.5f : 9;
        estimate[i][n] += !heard ? 7 : (i == 0 ? 0.1f : 0.3f) * (n / 2 % 2 == 0 ? 1.0f : -1.0f);
      }
    }
  }
};

TEST(AudioRows, ErrorsAreOfWhatIsHeard) {
  const Case c;
  const AudioRow row = audio_row(c.estimate, c.noisy, c.clean);
  EXPECT_NEAR(row.raw_mse, 0.25, 1e-6);
  EXPECT_NEAR(*row.mse, 0.05, 1e-6);
  EXPECT_NEAR(*row.median_mse, 0.05, 1e-6);
  EXPECT_NEAR(*row.ratio, 0.2, 1e-6);
  // 10 log10 of 0.25 / 0.01 and 0.25 / 0.09.
  EXPECT_NEAR(*row.snr_gain_db, (13.9794 + 4.4370) / 2, 1e-3);
  EXPECT_NEAR(*row.segmental_gain_db, (13.9794 + 4.4370) / 2, 1e-3);
}

TEST(AudioRows, TheMedianIsNotTheMean) {
  Case c;
  for (Sounds* each : {&c.clean, &c.noisy, &c.estimate}) each->push_back((*each)[0]);
  const AudioRow row = audio_row(c.estimate, c.noisy, c.clean);
  EXPECT_NEAR(*row.median_mse, 0.01, 1e-6);
  EXPECT_NEAR(*row.mse, 0.11 / 3, 1e-6);
}

TEST(AudioRows, EstimatesThatCannotBeAreRefused) {
  Case c;
  c.estimate[1][3] = std::nanf("");
  EXPECT_THROW((void)audio_row(c.estimate, c.noisy, c.clean), NumericalError);
  c.estimate[1].resize(5);
  EXPECT_THROW((void)audio_row(c.estimate, c.noisy, c.clean), NumericalError);
  c.estimate.pop_back();
  EXPECT_THROW((void)audio_row(c.estimate, c.noisy, c.clean), NumericalError);
}

AudioReproduction small_result() {
  AudioReproduction result;
  result.options.noises = {"white", "tap"};
  result.methods = {{"raw", "", true, true}, {"kalman", "", false, true, {{"white", 0.225}}}};
  const Case c;
  AudioRow row = audio_row(c.estimate, c.noisy, c.clean);
  row.method = "kalman";
  row.noise = "white";
  row.paper_mse = 0.225;
  row.seconds = 2;
  result.rows = {row};
  row = {};
  row.method = "kalman";
  row.noise = "tap";
  row.raw_mse = 0.25;
  row.error = "it broke, \"badly\"";
  result.rows.push_back(row);
  return result;
}

TEST(AudioRows, JsonHasTheFieldsInTheirOrder) {
  const Json json = audio_row_json(small_result().rows[0]);
  std::vector<std::string> names;
  for (const auto& item : json.items()) names.push_back(item.key());
  EXPECT_EQ(names,
            (std::vector<std::string>{"method", "noise", "raw_mse", "mse", "median_mse", "ratio",
                                      "snr_gain_db", "si_sdr_gain_db", "segmental_gain_db",
                                      "seconds", "self_supervised", "paper_mse", "held_out"}));
  EXPECT_EQ(json["paper_mse"], 0.225);
  EXPECT_TRUE(json["held_out"].is_null());
  const Json failed = audio_row_json(small_result().rows[1]);
  EXPECT_TRUE(failed["mse"].is_null());
  EXPECT_EQ(failed["error"], "it broke, \"badly\"");
}

TEST(AudioRows, TheResultHasProvenance) {
  const Json json = audio_json(small_result());
  EXPECT_EQ(json["experiment"], "audio");
  EXPECT_EQ(json["rows"].size(), 2u);
  EXPECT_EQ(json["methods"][1]["paper_mse"]["white"], 0.225);
  for (const char* key : {"version", "compiler", "instruction_set", "options", "utterances"})
    EXPECT_TRUE(json["provenance"].contains(key)) << key;
}

TEST(AudioRows, CsvHasALineForEachRow) {
  const std::string csv = audio_csv(small_result().rows);
  EXPECT_EQ(csv.rfind("method,noise,self_supervised,raw_mse,mse,median_mse,ratio,", 0), 0u);
  EXPECT_NE(csv.find("\nkalman,tap,false,0.25,,,,,,,0,,,,\"it broke, \"\"badly\"\"\"\n"),
            std::string::npos)
      << csv;
}

TEST(AudioRows, TextHasTablesThePapersNumbersAndErrors) {
  const std::string text = audio_text(small_result());
  EXPECT_NE(text.find(" *kalman      0.200         -\n"), std::string::npos) << text;
  EXPECT_NE(text.find(" *kalman      0.225         -\n"), std::string::npos) << text;
  EXPECT_NE(text.find("kalman, tap: it broke"), std::string::npos);
}

}  // namespace
}  // namespace kalmia::test
