// What is asked of JSON that comes from a file: how deep it is nested, before anything is made of
// it, and that its whole numbers are whole. The library that reads it turns 2.7 into 2 and 1e300
// into anything.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace kalmia {

/// Objects and arrays within one another in JSON that this program reads, at most. Values of the
/// JSON library are copied and compared by recursion, which depth of a file's own choosing would
/// take beyond the stack.
inline constexpr int kDeepestJson = 64;

/// The most objects and arrays that lie within one another. Of text that is no JSON: brackets
/// outside of quotes, which is what a parser can have seen of it.
int json_nesting(std::string_view text);

/// The entry `name` of an object. Throws ConfigError that names the entry and its value unless it
/// is a whole number that an int holds, and an exception of the JSON library if there is none.
int whole_number(const nlohmann::ordered_json& object, const char* name);
/// The same of an array.
std::vector<int> whole_numbers(const nlohmann::ordered_json& object, const char* name);

}  // namespace kalmia
