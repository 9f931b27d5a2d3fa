// Whole files as bytes.
#pragma once

#include <string>

namespace kalmia::data {

/// The content of a file; "-" is standard input. Throws IoError that names the file and what the
/// system said. The file is read and not mapped: one that shrinks meanwhile would end the program.
std::string read_file_bytes(const std::string& path);

/// How messages call it: the path, or "standard input".
std::string source_name(const std::string& path);

}  // namespace kalmia::data
