#include "data/text_number.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "kalmia/text.hpp"

namespace kalmia::data {
namespace {

bool blank(char c) { return c == ' ' || c == '\t'; }

bool equal_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c =
        text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i];
    if (c != lower[i]) return false;
  }
  return true;
}

bool is_missing_word(std::string_view text) {
  constexpr std::array<std::string_view, 7> kWords = {"nan",  "na",   "n/a", "#n/a",
                                                      "<na>", "null", "none"};
  for (const std::string_view word : kWords)
    if (equal_ignoring_case(text, word)) return true;
  return false;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

NumberText parse_number(std::string_view text, double& value) {
  text = trimmed(text);
  if (text.empty()) {
    value = std::numeric_limits<double>::quiet_NaN();
    return NumberText::Missing;
  }
  // fast_float, like std::from_chars, does not take a plus sign.
  std::string_view digits = text;
  if (digits.front() == '+' && digits.size() > 1 && digits[1] != '-') digits.remove_prefix(1);
  const char* const end = digits.data() + digits.size();
  const fast_float::from_chars_result result = fast_float::from_chars(digits.data(), end, value);
  if (result.ptr == end && !std::isnan(value)) {
    // Versions of fast_float differ in whether they call an overflow an error.
    if (result.ec == std::errc() || result.ec == std::errc::result_out_of_range)
      return NumberText::Number;
  }
  value = std::numeric_limits<double>::quiet_NaN();
  const bool is_nan = result.ec == std::errc() && result.ptr == end;
  return is_nan || is_missing_word(text) ? NumberText::Missing : NumberText::Other;
}

std::string number_text(double value) { return fmt::format("{}", value); }

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  if (text.size() <= kLongest) return '"' + printable(text) + '"';
  // Not in the middle of a character.
  std::size_t end = kLongest;
  while (end > kLongest - 3 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  return '"' + printable(text.substr(0, end)) + "...\"";
}

}  // namespace kalmia::data
