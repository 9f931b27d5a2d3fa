/// \file
/// Values as they stand on the command line: text to value, value to text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kalmia::cli {

/// What was given for one option, once for each time it was given.
using Texts = std::vector<std::string>;

/// Read the last text, or for lists all of them, each separated by commas. Throw ConfigError
/// `<name> = <text>, but it must be ...`.
void read_value(const std::string& name, const Texts& texts, int& value);
void read_value(const std::string& name, const Texts& texts, std::uint64_t& value);
void read_value(const std::string& name, const Texts& texts, double& value);
void read_value(const std::string& name, const Texts& texts, std::string& value);
void read_value(const std::string& name, const Texts& texts, std::vector<int>& value);
void read_value(const std::string& name, const Texts& texts, std::vector<std::string>& value);

/// A value as it would be given; empty for empty texts and lists.
std::string value_text(int value);
std::string value_text(std::uint64_t value);
std::string value_text(double value);
std::string value_text(const std::string& value);
std::string value_text(const std::vector<int>& value);
std::string value_text(const std::vector<std::string>& value);

/// What stands for the value in a help text.
constexpr std::string_view value_name(const int&) { return "N"; }
constexpr std::string_view value_name(const std::uint64_t&) { return "N"; }
constexpr std::string_view value_name(const double&) { return "X"; }
constexpr std::string_view value_name(const std::string&) { return "TEXT"; }
constexpr std::string_view value_name(const std::vector<int>&) { return "N,..."; }
constexpr std::string_view value_name(const std::vector<std::string>&) { return "NAME,..."; }

/// "learning_rate" -> "--learning-rate".
std::string option_name(std::string_view field);

/// The parts of a text between commas, without the spaces around them; none for an empty text. A
/// part with commas or spaces of its own stands in quotes, as in CSV: "a, b",c.
std::vector<std::string> split_at_commas(std::string_view text);

}  // namespace kalmia::cli
