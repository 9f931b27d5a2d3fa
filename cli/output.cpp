#include "output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "kalmia/error.hpp"

namespace kalmia::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void output_failed() {
  throw IoError(fmt::format("standard output: {}", std::strerror(errno)));
}

// Whether both names lead to one file, through links as well.
bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

}  // namespace

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) output_failed();
}

void finish_output() {
  if (std::fflush(stdout) != 0) output_failed();
}

void print_error(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void check_output(const std::string& path, const std::vector<std::string>& inputs) {
  if (path == "-") return;
  if (path.empty()) throw ConfigError("the name of the output file is empty");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) throw IoError("cannot write " + path + ": it is a directory");
  for (const std::string& input : inputs) {
    if (input != "-" && !fs::is_character_file(status) && same_file(path, input))
      throw ConfigError(path + ": is both input and output; give the output another name");
  }
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, error))
    throw IoError(fmt::format("cannot write {}: there is no folder {}", path, folder.string()));
  const bool exists = fs::exists(status);
  if (exists && access(path.c_str(), W_OK) != 0)
    throw IoError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  // A new file is put together beside its final place.
  if ((!exists || fs::is_regular_file(status)) && access(folder.c_str(), W_OK | X_OK) != 0) {
    throw IoError(
        fmt::format("cannot write {}: folder {}: {}", path, folder.string(), std::strerror(errno)));
  }
}

}  // namespace kalmia::cli
