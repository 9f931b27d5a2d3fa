#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "kalmia/denoise.hpp"

namespace kalmia {
namespace {

DenoiseReport report() {
  DenoiseReport made;
  made.input = "noisy.wav";
  made.output = "clean.wav";
  made.method = "gains";
  made.rate = 16000;
  made.channels = 1;
  made.samples = 32000;
  made.seconds = 2;
  made.times_real_time = 123.456;
  made.level_before_db = -20;
  made.level_after_db = -21.25;
  made.complete = true;
  return made;
}

TEST(DenoiseReport, SaysInTwoLinesWhatWasDone) {
  DenoiseReport made = report();
  EXPECT_EQ(made.to_text(),
            "clean.wav: 2.00 s, 1 channel at 16000 Hz, 123 times faster than real time\n"
            "method: gains; level -21.2 dB, was -20.0 dB\n");
  made.model = "shipped";
  made.channels = 2;
  EXPECT_NE(made.to_text().find("2 channels at"), std::string::npos);
  EXPECT_NE(made.to_text().find("method: gains (shipped); "), std::string::npos);
}

TEST(DenoiseReport, SaysWhatWentWrong) {
  DenoiseReport made = report();
  made.clipped = 7;
  made.cut_off = true;
  const std::string text = made.to_text();
  EXPECT_NE(text.find("\nclipped: 7 samples were beyond full scale"), std::string::npos) << text;
  EXPECT_NE(text.find("\ncut off: the input ended before"), std::string::npos) << text;
  made.complete = false;
  EXPECT_EQ(made.to_text(), "noisy.wav: stopped; clean.wav is not written\n");
}

TEST(DenoiseReport, ShowsFitAndScoresWhereThereAreAny) {
  DenoiseReport made = report();
  nlohmann::json json = nlohmann::json::parse(made.to_json());
  EXPECT_TRUE(json["fit"].is_null());
  EXPECT_TRUE(json["before"].is_null());
  EXPECT_EQ(json["samples"], 32000);
  made.fit = DenoiseFit();
  made.fit->updates = 12;
  made.fit->kept = true;
  made.before = SoundScores();
  made.after = SoundScores();
  made.after->snr_db = 7.5;
  json = nlohmann::json::parse(made.to_json());
  EXPECT_EQ(json["fit"]["updates"], 12);
  EXPECT_EQ(json["fit"]["kept"], true);
  EXPECT_EQ(json["after"]["snr_db"], 7.5);
  const std::string text = made.to_text();
  EXPECT_NE(text.find("fit: 12 updates in 0.0 s, kept\n"), std::string::npos) << text;
  EXPECT_NE(text.find("after"), std::string::npos) << text;
}

}  // namespace
}  // namespace kalmia
