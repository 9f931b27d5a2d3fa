#include "base/json.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

#include "kalmia/error.hpp"

namespace kalmia {
namespace {

using Json = nlohmann::ordered_json;

int whole(const Json& value, const std::string& place) {
  using Limits = std::numeric_limits<int>;
  // Those above 2^63 have no sign.
  const bool fits = value.is_number_integer() &&
                    (!value.is_number_unsigned() ||
                     value.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max())) &&
                    value.get<std::int64_t>() >= Limits::min() &&
                    value.get<std::int64_t>() <= Limits::max();
  if (fits) return value.get<int>();
  constexpr std::size_t kLongest = 40;
  std::string text = value.is_structured()
                         ? std::string(value.is_array() ? "[...]" : "{...}")
                         : value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  throw ConfigError(place + " = " + text + ", but it must be a whole number within +-2147483647");
}

}  // namespace

int json_nesting(std::string_view text) {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

int whole_number(const Json& object, const char* name) { return whole(object.at(name), name); }

std::vector<int> whole_numbers(const Json& object, const char* name) {
  const Json& array = object.at(name);
  if (!array.is_array())
    throw ConfigError(std::string(name) + " is no array, but it must be one of whole numbers");
  std::vector<int> values;
  for (const Json& each : array)
    values.push_back(whole(each, std::string(name) + "[" + std::to_string(values.size()) + "]"));
  return values;
}

}  // namespace kalmia
