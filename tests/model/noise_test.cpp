#include "model/noise.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::model {
namespace {

using Kind = NoiseSpec::Kind;

NoiseSpec parse(const std::string& text, int channels) {
  return noise_of_channels(parse_noise(text), channels);
}

TEST(ParseNoise, LearnedNoiseHasNoNumbers) {
  const NoiseSpec diagonal = parse("learn", 2);
  EXPECT_EQ(diagonal.kind, Kind::LearnDiagonal);
  EXPECT_TRUE(diagonal.learned());
  EXPECT_TRUE(diagonal.R.empty());
  EXPECT_EQ(parse("learn-full", 2).kind, Kind::LearnFull);
}

TEST(ParseNoise, TheTypesSayWhatWasStated) {
  EXPECT_TRUE(std::holds_alternative<NoiseOfData>(parse_noise("auto").value));
  EXPECT_FALSE(std::get<LearnedNoise>(parse_noise("learn").value).full);
  EXPECT_TRUE(std::get<LearnedNoise>(parse_noise("learn-full").value).full);
  EXPECT_EQ(std::get<NoiseDeviations>(parse_noise("0.5, 0.3").value).stds,
            (std::vector<double>{0.5, 0.3}));
  EXPECT_EQ(std::get<NoiseCovariance>(parse_noise("1,0;0,4").value).rows,
            (std::vector<std::vector<double>>{{1, 0}, {0, 4}}));
  EXPECT_EQ(parse_noise(" 0.5 ").text, " 0.5 ");
}

TEST(ParseNoise, EveryFormThatIsListedCanBeRead) {
  const std::vector<Choice> forms = noise_forms();
  EXPECT_EQ(forms.size(), 6u);
  for (const Choice& each : forms) EXPECT_NO_THROW(parse_noise(std::string(each.name)));
}

TEST(ParseNoise, OneDeviationHoldsForAllChannels) {
  const NoiseSpec spec = parse("0.5", 2);
  EXPECT_EQ(spec.kind, Kind::Given);
  EXPECT_FALSE(spec.learned());
  EXPECT_EQ(spec.R, (std::vector<double>{0.25, 0, 0, 0.25}));
  EXPECT_EQ(parse(" 2e-1 ", 1).R, (std::vector<double>{0.2 * 0.2}));
}

TEST(ParseNoise, OneDeviationForEachChannel) {
  EXPECT_EQ(parse("0.5,2", 2).R, (std::vector<double>{0.25, 0, 0, 4}));
  EXPECT_EQ(parse(" 0.5 , 2 ", 2).R, (std::vector<double>{0.25, 0, 0, 4}));
}

TEST(ParseNoise, ACovarianceByRows) {
  const std::vector<double> R = {0.25, 0.1, 0.1, 0.3};
  EXPECT_EQ(parse("0.25,0.1;0.1,0.3", 2).R, R);
  EXPECT_EQ(parse("0.25, 0.1; 0.1, 0.3", 2).R, R);
}

// The message, which must begin with the text the user gave.
std::string noise_refused(const std::string& text, int channels) {
  const std::string message = message_of<ConfigError>([&] { parse(text, channels); });
  EXPECT_EQ(message.rfind("noise = \"" + text + "\"", 0), 0u) << message;
  return message;
}

void expect_has(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST(ParseNoise, WhatIsNoNumberIsNamedAndTheFormsAreShown) {
  for (const char* text : {"abc", "", "0.5x", "inf", "nan", "0.5 0.3", "1 2", "Learn", "0.5,"}) {
    const std::string message =
        noise_refused(text, text[std::string(text).size() - 1] == ',' ? 2 : 1);
    expect_has(message, "is not a number");
    expect_has(message, "learn-full");
  }
  expect_has(noise_refused("0.5,x", 2), "\"x\" is not a number");
  expect_has(noise_refused("lern", 2), "; did you mean learn?");
}

TEST(ParseNoise, DeviationsMustBePositive) {
  for (const char* text : {"0", "-1"})
    expect_has(noise_refused(text, 1), "a standard deviation must be > 0");
  expect_has(noise_refused("1,0", 2), "a standard deviation must be > 0");
}

TEST(ParseNoise, NumbersMustFitTheChannels) {
  expect_has(noise_refused("1,2,3", 2), "has 3 standard deviations, but the data have 2");
  expect_has(noise_refused("1,0;0,1", 3), "is a covariance of 2 rows, but the data have 3");
  expect_has(noise_refused("1,0;0", 2), "row 2 has 1 values, but the covariance has 2 columns");
}

TEST(ParseNoise, ACovarianceMustBeOne) {
  expect_has(noise_refused("1,0.5;0.4,1", 2), "must be symmetric");
  expect_has(noise_refused("1,2;2,1", 2), "positive definite");
  expect_has(noise_refused("1e-200", 1), "must be > 0");
  expect_has(noise_refused("1e200", 1), "must be finite");
}

}  // namespace
}  // namespace kalmia::model
