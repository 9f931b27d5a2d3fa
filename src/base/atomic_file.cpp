#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <system_error>

#include "kalmia/error.hpp"

namespace kalmia {
namespace {

constexpr std::size_t kBufferBytes = 1 << 18;

// The path with all links resolved, or the path itself where there is no such file yet.
std::string resolved(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return real ? std::string(real.get()) : path;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string(".") : path.substr(0, slash + 1);
}

// The name does not contain that of the target, which may be as long as the file system allows.
std::string temporary_name(const std::string& target) {
  static std::atomic<unsigned> counter = 0;
  const std::string name =
      ".kalmia-" + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".tmp";
  const std::string folder = folder_of(target);
  return folder.ends_with('/') ? folder + name : folder + "/" + name;
}

int open_retrying(const std::string& path, int flags) {
  int file = -1;
  do file = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  while (file < 0 && errno == EINTR);
  return file;
}

// Some file systems cannot sync and say so; that is no failure of the write.
bool sync_failed(int file) {
  return ::fsync(file) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS;
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  buffer_.reserve(kBufferBytes);
  if (path_ == "-") {
    // What the program printed before comes first.
    std::fflush(stdout);
    file_ = ::dup(STDOUT_FILENO);
    if (file_ < 0) fail(errno);
    return;
  }
  struct stat status = {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail(errno);
  if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
  if ((exists && !S_ISREG(status.st_mode)) || path_.starts_with("/dev/") ||
      path_.starts_with("/proc/")) {
    file_ = open_retrying(path_, O_WRONLY | O_TRUNC);
    if (file_ < 0) fail(errno);
    return;
  }
  // A rename needs no permission on the file that it replaces, but a file that its owner made
  // read-only is not ours to replace.
  if (exists && ::access(path_.c_str(), W_OK) != 0) fail(errno);
  target_ = resolved(path_);
  do {
    temporary_ = temporary_name(target_);
    file_ = open_retrying(temporary_, O_WRONLY | O_CREAT | O_EXCL);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ < 0) {
    temporary_.clear();
    fail(errno);
  }
  if (exists && ::fchmod(file_, status.st_mode & 07777) != 0) fail(errno);
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) flush();
  if (bytes.size() >= kBufferBytes)
    write_through(bytes);
  else
    buffer_.append(bytes);
}

void AtomicFile::flush() {
  write_through(buffer_);
  buffer_.clear();
}

void AtomicFile::write_through(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail(errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::overwrite(std::uint64_t offset, std::string_view bytes) {
  flush();
  if (!can_overwrite()) fail(ESPIPE);
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0) {
      if (errno == EINTR) continue;
      fail(errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
}

void AtomicFile::commit() {
  flush();
  if (!temporary_.empty() && sync_failed(file_)) fail(errno);
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0 && errno != EINTR) fail(errno);
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
  // The new name survives a power cut once the folder is on disk as well. The file is whole either
  // way, so a folder that cannot be synced is no failure.
  const int folder = open_retrying(folder_of(target_), O_RDONLY | O_DIRECTORY);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

void AtomicFile::fail(int error) {
  discard();
  throw IoError("cannot write " + (path_ == "-" ? std::string("standard output") : path_) + ": " +
                std::generic_category().message(error));
}

void AtomicFile::discard() noexcept {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void write_file_atomically(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace kalmia
