#include "stream_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <string>
#include <system_error>

#include "kalmia/error.hpp"
#include "kalmia/text.hpp"

namespace kalmia::cli {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

// The same bound as in files of data.
constexpr double kLargestValue = 1e100;

bool is_space(char c) { return c == ' ' || c == '\t'; }

std::string_view trimmed_field(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Cuts the first part off. Precondition: `rest` is trimmed_field.
std::string_view cut_part(std::string_view& rest, bool commas) {
  const auto end = commas ? std::find(rest.begin(), rest.end(), ',')
                          : std::find_if(rest.begin(), rest.end(), is_space);
  const auto length = static_cast<std::size_t>(end - rest.begin());
  const std::string_view part = rest.substr(0, length);
  rest.remove_prefix(length);
  if (commas) {
    if (!rest.empty()) rest.remove_prefix(1);
    return trimmed_field(part);
  }
  rest = trimmed_field(rest);
  return part;
}

// Text of a message, cut so that binary input does not fill the terminal.
std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  return '"' + printable(text.substr(0, kLongest)) + (text.size() > kLongest ? "...\"" : "\"");
}

// What else than NaN, and nothing at all, stands for a missing value.
bool names_missing(std::string_view text) {
  constexpr std::string_view kNames[] = {"na", "n/a", "null", "none"};
  const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  return std::any_of(std::begin(kNames), std::end(kNames), [&](std::string_view name) {
    return std::equal(text.begin(), text.end(), name.begin(), name.end(), same);
  });
}

double parse_value(std::string_view text, std::size_t column) {
  if (text.empty()) return kMissing;
  std::string_view digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value);
  if (error == std::errc::invalid_argument || rest != end) {
    if (names_missing(text)) return kMissing;
    throw DataError(fmt::format("value {} is {}, but it must be a number (or empty: missing)",
                                column, quoted(text)));
  }
  // Out of range: too large becomes infinite, too small becomes zero.
  if (error != std::errc{}) value = std::strtod(std::string(digits).c_str(), nullptr);
  if (std::abs(value) > kLargestValue)
    throw DataError(fmt::format("value {} is {}, but values must lie within -1e100 and 1e100",
                                column, quoted(text)));
  return value;
}

}  // namespace

std::string_view parse_stream_line(std::string_view line, bool keyed, std::span<double> values) {
  std::string_view rest = trimmed_field(line);
  const bool commas = rest.find(',') != std::string_view::npos;
  std::string_view key;
  if (keyed) {
    key = cut_part(rest, commas);
    if (key.empty()) throw DataError("no key in front of the values");
    rest = trimmed_field(rest);
  }
  std::fill(values.begin(), values.end(), kMissing);
  // A key alone, or an empty line.
  if (rest.empty()) return key;
  std::size_t count = 0;
  bool more = true;
  while (more) {
    // A comma at the very end stands before one more, missing value.
    more = commas ? rest.find(',') != std::string_view::npos : true;
    const std::string_view part = cut_part(rest, commas);
    if (!commas) more = !rest.empty();
    if (count < values.size()) values[count] = parse_value(part, count + 1);
    ++count;
  }
  if (count != values.size())
    throw DataError(fmt::format("line has {} {}, but the model takes {}", count,
                                count == 1 ? "value" : "values", values.size()));
  return key;
}

}  // namespace kalmia::cli
