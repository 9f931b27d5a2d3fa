#include "model/noise.hpp"

#include <fast_float/fast_float.h>

#include <algorithm>
#include <cmath>

#include "base/option_rules.hpp"
#include "kalman/emission.hpp"
#include "kalman/student.hpp"
#include "kalmia/error.hpp"

namespace kalmia::model {
namespace {

struct NoiseWord {
  std::string_view name;
  std::string_view meaning;
  decltype(StatedNoise::value) value;
};

const NoiseWord kNoiseWords[] = {
    {"auto", "as noise_columns say, else learn", NoiseOfData{}},
    {"learn", "one variance for each channel", LearnedNoise{.full = false}},
    {"learn-full", "a covariance", LearnedNoise{.full = true}},
};

constexpr Choice kNoiseNumbers[] = {
    {"0.5", "a standard deviation"},
    {"0.5,0.3", "one for each channel"},
    {"0.25,0.1;0.1,0.3", "a covariance by rows"},
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// The parts without the spaces around them; a space within a part stays.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t from = 0;
  for (;;) {
    const std::size_t to = text.find(separator, from);
    parts.push_back(trimmed(text.substr(from, to - from)));
    if (to == std::string::npos) return parts;
    from = to + 1;
  }
}

std::string place(const std::string& text) { return "noise = \"" + text + "\""; }

std::string channels(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " measured channel" : " measured channels");
}

// "give a standard deviation (0.5), ..., learn or learn-full", and what may have been meant.
std::string what_to_give(const std::string& wrong) {
  std::string text = "give ";
  for (const Choice& each : kNoiseNumbers)
    text += std::string(each.meaning) + " (" + std::string(each.name) + "), ";
  const std::vector<Choice> words = choices_in(std::span<const NoiseWord>(kNoiseWords));
  return text + name_rule(wrong, words);
}

double parse_number(const std::string& noise, const std::string& part) {
  double value = 0;
  const auto [end, error] = fast_float::from_chars(part.data(), part.data() + part.size(), value);
  if (error != std::errc() || end != part.data() + part.size() || !std::isfinite(value))
    throw ConfigError(place(noise) + ": \"" + part + "\" is not a number; " + what_to_give(part));
  return value;
}

std::vector<double> parse_numbers(const std::string& noise, const std::string& row) {
  std::vector<double> values;
  for (const std::string& part : split(row, ',')) values.push_back(parse_number(noise, part));
  return values;
}

// By rows.
std::vector<double> covariance(const NoiseDeviations& deviations, std::size_t M) {
  std::vector<double> R(M * M, 0.0);
  for (std::size_t m = 0; m < M; ++m) {
    const double std = deviations.stds[deviations.stds.size() == 1 ? 0 : m];
    R[m * M + m] = std * std;
  }
  return R;
}

std::vector<double> covariance(const NoiseCovariance& given) {
  std::vector<double> R;
  for (const std::vector<double>& row : given.rows) R.insert(R.end(), row.begin(), row.end());
  return R;
}

void check(const std::string& text, const std::vector<double>& R, std::size_t M) {
  try {
    kalman::check_measurement_noise(R, static_cast<int>(M));
  } catch (const ConfigError& error) {
    throw ConfigError(place(text) + ": " + error.what());
  }
}

NoiseDeviations deviations_of(const std::string& text) {
  NoiseDeviations given{parse_numbers(text, text)};
  if (std::ranges::any_of(given.stds, [](double std) { return !(std > 0); }))
    throw ConfigError(place(text) + ", but a standard deviation must be > 0");
  check(text, covariance(given, given.stds.size()), given.stds.size());
  return given;
}

NoiseCovariance covariance_of(const std::string& text, const std::vector<std::string>& rows) {
  NoiseCovariance given;
  for (const std::string& row : rows) {
    given.rows.push_back(parse_numbers(text, row));
    if (given.rows.back().size() != rows.size())
      throw ConfigError(place(text) + ": row " + std::to_string(given.rows.size()) + " has " +
                        std::to_string(given.rows.back().size()) +
                        " values, but the covariance has " + std::to_string(rows.size()) +
                        " columns");
  }
  check(text, covariance(given), rows.size());
  return given;
}

}  // namespace

std::vector<Choice> noise_forms() {
  std::vector<Choice> forms = choices_in(std::span<const NoiseWord>(kNoiseWords));
  forms.insert(forms.end(), std::begin(kNoiseNumbers), std::end(kNoiseNumbers));
  return forms;
}

StatedNoise parse_noise(const std::string& text) {
  const auto* word = std::ranges::find(kNoiseWords, std::string_view(text), &NoiseWord::name);
  if (word != std::end(kNoiseWords)) return {text, word->value};
  const std::vector<std::string> rows = split(text, ';');
  if (rows.size() == 1) return {text, deviations_of(text)};
  return {text, covariance_of(text, rows)};
}

NoiseSpec noise_of_channels(const StatedNoise& stated, int meas_dim) {
  const auto M = static_cast<std::size_t>(meas_dim);
  if (const auto* learned = std::get_if<LearnedNoise>(&stated.value))
    return {learned->full ? NoiseSpec::Kind::LearnFull : NoiseSpec::Kind::LearnDiagonal, {}};
  if (const auto* given = std::get_if<NoiseDeviations>(&stated.value)) {
    if (given->stds.size() != 1 && given->stds.size() != M)
      throw ConfigError(place(stated.text) + " has " + std::to_string(given->stds.size()) +
                        " standard deviations, but the data have " + channels(M));
    return {NoiseSpec::Kind::Given, covariance(*given, M)};
  }
  if (const auto* given = std::get_if<NoiseCovariance>(&stated.value)) {
    if (given->rows.size() != M)
      throw ConfigError(place(stated.text) + " is a covariance of " +
                        std::to_string(given->rows.size()) + " rows, but the data have " +
                        channels(M));
    return {NoiseSpec::Kind::Given, covariance(*given)};
  }
  return {NoiseSpec::Kind::LearnDiagonal, {}};
}

namespace {

constexpr Range kDegrees{.least = 1, .largest = kalman::kLargestDegreesOfFreedom};

struct TailsWord {
  std::string_view name;
  std::string_view meaning;
  Tails value;
};

constexpr TailsWord kTailsWords[] = {
    {"auto", "learned where the data have outliers", AutomaticTails{}},
    {"gaussian", "", GaussianTails{}},
    {"learn", "degrees of freedom that are learned", LearnedTails{}},
};

constexpr Choice kTailsNumber = {"4", "degrees of freedom of Student's t"};

std::vector<Choice> tails_words() { return choices_in(std::span<const TailsWord>(kTailsWords)); }

}  // namespace

std::vector<Choice> tails_forms() {
  std::vector<Choice> forms = tails_words();
  forms.push_back(kTailsNumber);
  return forms;
}

Tails parse_tails(const std::string& text) {
  const auto* word = std::ranges::find(kTailsWords, std::string_view(text), &TailsWord::name);
  if (word != std::end(kTailsWords)) return word->value;
  double value = 0;
  const auto [end, error] = fast_float::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && kDegrees.holds(value))
    return StudentTails{value};
  throw ConfigError("tails = \"" + text + "\", but it must be " + alternatives(tails_words()) +
                    ", or " + std::string(kTailsNumber.meaning) + " " + kDegrees.text() +
                    did_you_mean(text, tails_words()));
}

}  // namespace kalmia::model
