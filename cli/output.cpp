#include "output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/descriptor.hpp"
#include "kalmia/error.hpp"

namespace kalmia::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void output_failed() {
  throw IoError(fmt::format("standard output: {}", std::strerror(errno)));
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written >= 0)
      text.remove_prefix(static_cast<std::size_t>(written));
    else if (!try_again(descriptor, POLLOUT))
      return false;
  }
  return true;
}

// Whether an input, "-" for standard input, is this file, through links as well.
bool is_input(const std::string& file, const std::string& input) {
  struct stat of_file = {}, of_input = {};
  if (stat(file.c_str(), &of_file) != 0) return false;
  const int found = input == "-" ? fstat(STDIN_FILENO, &of_input) : stat(input.c_str(), &of_input);
  return found == 0 && of_file.st_dev == of_input.st_dev && of_file.st_ino == of_input.st_ino;
}

}  // namespace

void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free: this one. The wrong way round, so that its use is an error.
    [[maybe_unused]] const int opened =
        open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void print(std::string_view text) {
  if (!write_all(STDOUT_FILENO, text)) output_failed();
}

void print_error(std::string_view text) { write_all(STDERR_FILENO, text); }

void check_output(const std::string& path, const std::vector<std::string>& inputs) {
  if (path == "-") return;
  if (path.empty()) throw ConfigError("the name of the output file is empty");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) throw IoError("cannot write " + path + ": it is a directory");
  for (const std::string& input : inputs) {
    if (!fs::is_character_file(status) && is_input(path, input))
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
