#include "base/atomic_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>

#include "base/descriptor.hpp"
#include "kalmia/error.hpp"

namespace kalmia {
namespace {

constexpr std::size_t kBufferBytes = 1 << 18;
constexpr int kMostLinks = 40;  // as many as Linux follows
constexpr std::string_view kTemporaryBegin = ".kalmia-", kTemporaryEnd = ".tmp";

// With its slash; empty for a name in the working directory.
std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

std::string or_here(const std::string& folder) { return folder.empty() ? "." : folder; }

// Where a name leads: links are followed, to a file that need not exist.
struct Place {
  std::string path;
  bool open_file = false;  // of a process: /dev/stdout, /dev/fd/3, /proc/self/fd/3
  int error = 0;
};

Place place_of(std::string path) {
  for (int links = 0; links <= kMostLinks; ++links) {
    if (path.starts_with("/proc/") || path.starts_with("/dev/fd/")) return {path, true, 0};
    char target[PATH_MAX];
    const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
    if (length < 0) return {path, false, 0};  // no link
    if (static_cast<std::size_t>(length) == sizeof target) return {path, false, ENAMETOOLONG};
    const std::string_view next(target, static_cast<std::size_t>(length));
    path = next.starts_with('/') ? std::string(next) : folder_of(path) + std::string(next);
  }
  return {path, false, ELOOP};
}

// The name does not contain that of the target, which may be as long as the file system allows.
std::string temporary_name(const std::string& folder) {
  static std::atomic<unsigned> counter = 0;
  return folder + std::string(kTemporaryBegin) + std::to_string(::getpid()) + "-" +
         std::to_string(counter++) + std::string(kTemporaryEnd);
}

int open_retrying(const std::string& path, int flags, mode_t mode = 0666) {
  int file = -1;
  do file = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  while (file < 0 && errno == EINTR);
  return file;
}

// A temporary file is locked as long as somebody writes it. Without a lock on it, its writer was
// killed: it is removed. A writer that has made its file, but has not locked it yet, notices.
void remove_if_abandoned(const std::string& path) {
  const int file = open_retrying(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return;
  struct stat open_one = {}, named = {};
  if (::fstat(file, &open_one) == 0 && S_ISREG(open_one.st_mode) &&
      ::flock(file, LOCK_EX | LOCK_NB) == 0 && ::lstat(path.c_str(), &named) == 0 &&
      named.st_ino == open_one.st_ino && named.st_dev == open_one.st_dev)
    ::unlink(path.c_str());
  ::close(file);
}

// Once for each folder: a process that writes many files looks for others' remains only once.
void remove_abandoned(const std::string& folder) {
  static std::mutex mutex;
  static std::set<std::string> seen;
  {
    const std::lock_guard lock(mutex);
    if (!seen.insert(folder).second) return;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(or_here(folder).c_str()),
                                                    &::closedir);
  if (!entries) return;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name.starts_with(kTemporaryBegin) && name.ends_with(kTemporaryEnd))
      remove_if_abandoned(folder + std::string(name));
  }
}

// The name under which the kernel lets an open file be linked.
std::string name_of_open(int file) { return "/proc/self/fd/" + std::to_string(file); }

// A file without a name, locked, that can be given one; -1 where the system has no such thing.
int open_nameless(const std::string& folder, mode_t mode) {
#ifdef O_TMPFILE
  const int file = open_retrying(or_here(folder), O_TMPFILE | O_WRONLY, mode);
  if (file < 0) return -1;
  if (::access(name_of_open(file).c_str(), F_OK) == 0 && ::flock(file, LOCK_EX | LOCK_NB) == 0)
    return file;
  ::close(file);
#else
  static_cast<void>(folder), static_cast<void>(mode);
#endif
  return -1;
}

// The file gets the owner of the one that it replaces, as far as this process may give it away, and
// its permissions, without those that run a program as its owner.
bool take_over(int file, const struct stat& replaced) {
  struct stat own = {};
  if (::fstat(file, &own) != 0) return false;
  if ((own.st_uid != replaced.st_uid || own.st_gid != replaced.st_gid) &&
      ::fchown(file, replaced.st_uid, replaced.st_gid) != 0 && own.st_gid != replaced.st_gid) {
    [[maybe_unused]] const int group = ::fchown(file, static_cast<uid_t>(-1), replaced.st_gid);
  }
  return ::fchmod(file, replaced.st_mode & 0777) == 0;
}

// Some file systems cannot sync and say so; that is no failure of the write.
bool sync_failed(int file) {
  return ::fsync(file) != 0 && errno != EINVAL && errno != ENOTSUP && errno != EROFS;
}

// While it lives, signals wait: between two steps there is a name that nobody should find.
class SignalDelay {
 public:
  SignalDelay() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~SignalDelay() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalDelay(const SignalDelay&) = delete;
  SignalDelay& operator=(const SignalDelay&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

AtomicFile::AtomicFile(std::string path, Until until) : path_(std::move(path)) {
  buffer_.reserve(kBufferBytes);
  if (path_ == "-") {
    // What the program printed before comes first.
    std::fflush(stdout);
    file_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    if (file_ < 0) fail(errno);
    return;
  }
  const Place place = place_of(path_);
  if (place.error != 0) fail(place.error);
  struct stat status = {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail(errno);
  if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
  if ((exists && !S_ISREG(status.st_mode)) || place.open_file) {
    file_ = open_retrying(path_, O_WRONLY | O_TRUNC);
    if (file_ < 0) fail(errno);
    return;
  }
  // A rename needs no permission on the file that it replaces, but a file that its owner made
  // read-only is not ours to replace.
  if (exists && ::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) fail(errno);
  target_ = place.path;
  const std::string folder = folder_of(target_);
  remove_abandoned(folder);
  // Nobody reads in advance what only some may read in the end.
  const mode_t mode = exists ? 0600 : 0666;
  if (until == Until::Nameless) file_ = open_nameless(folder, mode);
  if (file_ < 0) open_named(folder, mode);
  if (exists && !take_over(file_, status)) fail(errno);
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::open_named(const std::string& folder, unsigned mode) {
  for (;;) {
    temporary_ = temporary_name(folder);
    file_ = open_retrying(temporary_, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (file_ < 0 && errno == EEXIST) continue;
    if (file_ < 0) {
      temporary_.clear();
      fail(errno);
    }
    // File systems without locks have nobody who could think it abandoned.
    struct stat status = {};
    const bool locked = ::flock(file_, LOCK_EX) == 0;
    if (!locked || (::fstat(file_, &status) == 0 && status.st_nlink > 0)) return;
    ::close(file_);
  }
}

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
      if (try_again(file_, POLLOUT)) continue;
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
  if (!target_.empty()) {
    if (sync_failed(file_)) fail(errno);
    put_in_place();
  }
  const int closed = ::close(file_);
  file_ = -1;
  if (closed != 0 && errno != EINTR) fail(errno);
  if (target_.empty()) return;
  // The new name survives a power cut once the folder is on disk as well. The file is whole either
  // way, so a folder that cannot be synced is no failure.
  const int folder = open_retrying(or_here(folder_of(target_)), O_RDONLY | O_DIRECTORY);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
}

void AtomicFile::put_in_place() {
  const SignalDelay delay;
  // A file without a name cannot replace another: it gets a temporary name first.
  while (temporary_.empty()) {
    std::string name = temporary_name(folder_of(target_));
    if (::linkat(AT_FDCWD, name_of_open(file_).c_str(), AT_FDCWD, name.c_str(),
                 AT_SYMLINK_FOLLOW) == 0)
      temporary_ = std::move(name);
    else if (errno != EEXIST)
      fail(errno);
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
}

void AtomicFile::fail(int error) {
  discard();
  throw IoError("cannot write " + (path_ == "-" ? std::string("standard output") : path_) + ": " +
                std::generic_category().message(error));
}

void AtomicFile::discard() noexcept {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void write_file_atomically(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace kalmia
