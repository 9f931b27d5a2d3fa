/// \file
/// The table system of a configuration file: a user's own equations.
#pragma once

#include "kalmia/system.hpp"
#include "places.hpp"
#include "toml_reader.hpp"

namespace kalmia::cli {

/// Reads the table `table` of a file into `system`, leaves what is wrong with it to the reader, and
/// adds the lines of all entries to `places`.
void read_system(const toml::table& table, TomlReader& reader, System& system, Places& places);

}  // namespace kalmia::cli
