#include "model/tails.hpp"

#include <fast_float/fast_float.h>

#include <algorithm>

#include "base/option_rules.hpp"
#include "kalman/student.hpp"
#include "kalmia/error.hpp"

namespace kalmia::model {
namespace {

constexpr Range kDegrees{.least = 1, .largest = kalman::kLargestDegreesOfFreedom};

struct TailsWord {
  std::string_view name;
  std::string_view meaning;
  Tails value;
};

constexpr TailsWord kTailsWords[] = {
    {"gaussian", "", GaussianTails{}},
    {"learn", "degrees of freedom that are learned", LearnedTails{}},
};

constexpr Choice kNumber = {"4", "degrees of freedom of Student's t"};

std::vector<Choice> words() { return choices_in(std::span<const TailsWord>(kTailsWords)); }

}  // namespace

std::vector<Choice> tails_forms() {
  std::vector<Choice> forms = words();
  forms.push_back(kNumber);
  return forms;
}

Tails parse_tails(const std::string& text) {
  const auto* word = std::ranges::find(kTailsWords, std::string_view(text), &TailsWord::name);
  if (word != std::end(kTailsWords)) return word->value;
  double value = 0;
  const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && kDegrees.holds(value))
    return StudentTails{value};
  throw ConfigError("tails = \"" + text + "\", but it must be " + alternatives(words()) + ", or " +
                    std::string(kNumber.meaning) + " " + kDegrees.text() +
                    did_you_mean(text, words()));
}

}  // namespace kalmia::model
