// A file: which format it has, by its name, and its content.
#pragma once

#include <string>

namespace kalmia::data {

enum class Format { Csv, Npy, Npz, Wav, Flac, JsonLines };

/// By what follows the last point of the name, in capital letters or not. "-" and names without a
/// point (devices, pipes) are CSV. Throws DataError that lists the formats for any other.
Format format_of(const std::string& path);

/// The content of a file; "-" is standard input. Throws IoError that names the file and what the
/// system said. The file is read and not mapped: one that shrinks meanwhile would end the program.
std::string read_file_bytes(const std::string& path);

/// How messages call it: the path, or "standard input".
std::string source_name(const std::string& path);

}  // namespace kalmia::data
