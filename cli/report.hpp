/// \file
/// Results as text and JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace kalmia::cli {

using Json = nlohmann::ordered_json;

/// Prints indented JSON. Numbers that are not finite become null.
void print_json(const Json& json);

/// JSON text with the name of the file that was written in front.
Json with_output(std::string_view json, const std::string& output);

/// JSON as indented `key: value` lines for people; text as `printable` shows it.
std::string json_as_text(const Json& json);

/// The text with a line feed at its end, whether or not it had one.
std::string lines(std::string text);

}  // namespace kalmia::cli
