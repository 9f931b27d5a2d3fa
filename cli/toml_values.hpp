/// \file
/// Values as they stand in a configuration file.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <string>
#include <vector>

namespace kalmia::cli {

/// Set `value` from a TOML value; false if that is of another type.
bool read_toml(const toml::node& node, bool& value);
bool read_toml(const toml::node& node, int& value);
bool read_toml(const toml::node& node, std::uint64_t& value);
/// Whole numbers are numbers too.
bool read_toml(const toml::node& node, double& value);
/// Numbers and arrays become the text that stands for them on the command line: 0.5 -> "0.5",
/// [0.5, 0.3] -> "0.5,0.3", [[0.25, 0.1], [0.1, 0.3]] -> "0.25,0.1;0.1,0.3". One row in brackets of
/// its own is refused: as text it would be no matrix.
bool read_toml(const toml::node& node, std::string& value);
/// An array, or one value alone.
bool read_toml(const toml::node& node, std::vector<int>& value);
/// An array of texts, or one text with commas.
bool read_toml(const toml::node& node, std::vector<std::string>& value);

/// What a field takes, for messages: "a whole number".
const char* toml_rule(const bool&);
const char* toml_rule(const int&);
const char* toml_rule(const std::uint64_t&);
const char* toml_rule(const double&);
const char* toml_rule(const std::string&);
const char* toml_rule(const std::vector<int>&);
const char* toml_rule(const std::vector<std::string>&);

/// The value as it stands in the file, shortened if it is long.
std::string toml_text(const toml::node& node);

}  // namespace kalmia::cli
