/// \file
/// Standard output, standard error, and the checks of output files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kalmia::cli {

/// Where a standard stream is closed, the next file that the program opens would take its number,
/// and what is printed would end up in that file. So closed streams are opened here: reading from
/// and writing to them fails as before.
void open_standard_streams();

/// Writes to standard output. Throws IoError, for example when the disk is full.
void print(std::string_view text);

/// Writes to standard error. Never fails.
void print_error(std::string_view text);

/// Checks, before long work, that a file can be written: its folder exists and is writable, it is
/// no directory, and it is none of `inputs` (ConfigError; else IoError). "-" is a standard stream:
/// as output it always passes, as input it is the file that standard input comes from.
void check_output(const std::string& path, const std::vector<std::string>& inputs);

}  // namespace kalmia::cli
