// Whole numbers from JSON. The library that reads it turns 2.7 into 2 and 1e300 into anything.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kalmia::model {

/// The entry `name` of an object. Throws ConfigError that names the entry and its value unless it
/// is a whole number that an int holds, and an exception of the JSON library if there is none.
int whole_number(const nlohmann::ordered_json& object, const char* name);
/// The same of an array.
std::vector<int> whole_numbers(const nlohmann::ordered_json& object, const char* name);

}  // namespace kalmia::model
