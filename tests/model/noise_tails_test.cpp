#include <gtest/gtest.h>

#include "kalmia/error.hpp"
#include "model/noise.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::model {
namespace {

TEST(Tails, WordsAndDegreesOfFreedomAreRead) {
  EXPECT_TRUE(is_gaussian(parse_tails("gaussian")));
  EXPECT_TRUE(std::holds_alternative<LearnedTails>(parse_tails("learn")));
  for (const auto& [text, degrees] : {std::pair{"4", 4.0}, {"2.5", 2.5}, {"1", 1.0}, {"1e6", 1e6}})
    EXPECT_EQ(std::get<StudentTails>(parse_tails(text)).degrees_of_freedom, degrees) << text;
}

TEST(Tails, WhatIsNoneOfTheseIsToldTheRule) {
  for (const char* text : {"", "0.5", "-3", "four", "4 5", "1e100", "inf", "nan", "Learn"}) {
    const std::string message = message_of<ConfigError>([&] { parse_tails(text); });
    EXPECT_EQ(message.find("tails = \"" + std::string(text) +
                           "\", but it must be auto, gaussian or learn, or degrees of freedom of "
                           "Student's t in 1..1000000"),
              0u)
        << message;
  }
  EXPECT_TRUE(message_of<ConfigError>([] {
                parse_tails("gausian");
              }).ends_with("; did you mean gaussian?"));
}

TEST(Tails, EveryFormThatIsListedCanBeRead) {
  const std::vector<Choice> forms = tails_forms();
  EXPECT_EQ(forms.size(), 4u);
  for (const Choice& each : forms) EXPECT_NO_THROW(parse_tails(std::string(each.name)));
}

}  // namespace
}  // namespace kalmia::model
