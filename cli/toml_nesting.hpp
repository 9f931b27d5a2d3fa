/// \file
/// How deep a configuration file is nested, before it is read.
#pragma once

#include <string>
#include <string_view>

namespace kalmia::cli {

/// Throws ConfigError with the line unless keys have at most 32 parts (a.b.c has 3) and brackets
/// lie at most 32 deep within one another: tables are made and taken apart by recursion, which
/// depth of a file's own choosing would take beyond the stack. No configuration needs more than 4.
void check_toml_nesting(const std::string& path, std::string_view text);

}  // namespace kalmia::cli
