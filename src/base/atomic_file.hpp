// Files that appear whole or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kalmia {

/// A file in the making. What is written goes to a temporary file in the same folder; `commit`
/// brings it to disk and renames it over the target. Without `commit` (an exception on the way) the
/// temporary file is removed and an earlier file of that name stays as it was.
///
/// What cannot be renamed over is written directly: "-" is standard output, and so are devices and
/// pipes, and whatever lies below /dev or /proc (/dev/stdout may be a link to a regular file that
/// the shell holds open). A symbolic link is followed: the file it points to is replaced.
///
/// Every failure is an IoError that names the file and what the system said.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends. Small pieces are collected, so it may be called for each of them.
  void write(std::string_view bytes);
  /// Sends what was collected on its way, for those who read a pipe while it is written.
  void flush();
  /// Whether what was written can still be changed: not where it is written directly.
  bool can_overwrite() const { return !temporary_.empty(); }
  /// Writes over bytes that were written before, from `offset` on.
  void overwrite(std::uint64_t offset, std::string_view bytes);
  /// Flushes, makes the content durable and puts the file in its place. Nothing may be written
  /// afterwards.
  void commit();

 private:
  [[noreturn]] void fail(int error);
  void write_through(std::string_view bytes);
  void discard() noexcept;

  std::string path_;       // as the user wrote it, for messages
  std::string target_;     // where the file shall be, links resolved
  std::string temporary_;  // empty: written directly
  std::string buffer_;
  int file_ = -1;
};

/// The whole file at once.
void write_file_atomically(const std::string& path, std::string_view content);

}  // namespace kalmia
