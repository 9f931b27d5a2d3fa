#include "places.hpp"

#include <cctype>

namespace kalmia::cli {
namespace {

bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool begins_with(const std::string& message, const std::string& place) {
  return message.starts_with(place) &&
         (message.size() == place.size() || !continues_name(message[place.size()]));
}

}  // namespace

std::string with_place(const std::string& message, const Places& places,
                       const std::string& otherwise) {
  const std::pair<const std::string, std::string>* longest = nullptr;
  for (const auto& entry : places)
    if (begins_with(message, entry.first) &&
        (!longest || entry.first.size() > longest->first.size()))
      longest = &entry;
  if (!longest) return otherwise + message;
  std::string rest = message.substr(longest->first.size());
  // An entry of a table that options give: --measure-as y2.
  if (longest->second.starts_with("--") && rest.starts_with(".")) rest[0] = ' ';
  return longest->second + rest;
}

}  // namespace kalmia::cli
