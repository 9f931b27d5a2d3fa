#include "data/file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/descriptor.hpp"
#include "kalmia/error.hpp"

namespace kalmia::data {

Format format_of(const std::string& path) {
  constexpr std::array<std::pair<std::string_view, Format>, 9> kEndings = {{
      {"csv", Format::Csv},
      {"tsv", Format::Csv},
      {"txt", Format::Csv},
      {"npy", Format::Npy},
      {"npz", Format::Npz},
      {"wav", Format::Wav},
      {"flac", Format::Flac},
      {"jsonl", Format::JsonLines},
      {"ndjson", Format::JsonLines},
  }};
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  const std::size_t point = name.rfind('.');
  if (point == std::string::npos) return Format::Csv;
  std::string ending = name.substr(point + 1);
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const auto& [known, format] : kEndings)
    if (ending == known) return format;
  throw DataError(path + ": no format ends in ." + ending +
                  "; known are .csv (.tsv, .txt), .npy, .npz, .wav, .flac, .jsonl (.ndjson)");
}

namespace {

// Closes what it opened, whatever happens.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path) : owned_(path != "-") {
    if (!owned_) {
      file_ = STDIN_FILENO;
      return;
    }
    do file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    while (file_ < 0 && errno == EINTR);
  }
  ~Descriptor() {
    if (owned_ && file_ >= 0) ::close(file_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return file_; }

 private:
  int file_ = -1;
  bool owned_;
};

[[noreturn]] void fail(const std::string& path, int error) {
  throw IoError("cannot read " + source_name(path) + ": " + std::generic_category().message(error));
}

}  // namespace

std::string source_name(const std::string& path) {
  return path == "-" ? std::string("standard input") : path;
}

std::string read_file_bytes(const std::string& path) {
  const Descriptor file(path);
  if (file.get() < 0) fail(path, errno);
  // The size is a first guess: pipes have none, and files grow.
  struct stat status = {};
  if (::fstat(file.get(), &status) != 0) fail(path, errno);
  if (S_ISDIR(status.st_mode)) fail(path, EISDIR);
  std::string bytes;
  constexpr std::size_t kChunk = 1 << 16;
  const std::size_t guess =
      S_ISREG(status.st_mode) && status.st_size > 0 ? static_cast<std::size_t>(status.st_size) : 0;
  std::size_t used = 0;
  while (true) {
    // One byte more than the guess, so that the end of a file is met without growing once more.
    if (used == bytes.size()) bytes.resize(used == 0 ? std::max(guess + 1, kChunk) : 2 * used);
    const ssize_t got = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0) {
      if (try_again(file.get(), POLLIN)) continue;
      fail(path, errno);
    }
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace kalmia::data
