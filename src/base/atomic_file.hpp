// Files that appear whole or not at all.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kalmia {

/// A file in the making. What is written goes to a file without a name in the same folder; `commit`
/// brings it to disk and puts it in the target's place. Without `commit` (an exception on the way,
/// a signal that ends the process) nothing is left of it, and an earlier file of that name stays as
/// it was. Where a file system has no files without names, a temporary one is written
/// (.kalmia-*.tmp), locked while its writer lives; the next process that writes to that folder
/// removes those that nobody has locked.
///
/// A file that is replaced keeps its permissions (but for the set-user-id and set-group-id bits),
/// and its owner and group as far as this process may set them.
///
/// What cannot be replaced is written directly: "-" is standard output, and so are devices and
/// pipes, and whatever a name leads to through /proc or /dev/fd (/dev/stdout may be a regular file
/// that the shell holds open). A symbolic link is followed: the file it points to is replaced, or
/// made.
///
/// Every failure is an IoError that names the file and what the system said.
class AtomicFile {
 public:
  /// How the file is kept until `commit`: Named is for file systems without nameless files, and for
  /// tests of what happens there.
  enum class Until { Nameless, Named };
  explicit AtomicFile(std::string path, Until until = Until::Nameless);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Appends. Small pieces are collected, so it may be called for each of them.
  void write(std::string_view bytes);
  /// Sends what was collected on its way, for those who read a pipe while it is written.
  void flush();
  /// Whether what was written can still be changed: not where it is written directly.
  bool can_overwrite() const { return !target_.empty(); }
  /// Writes over bytes that were written before, from `offset` on.
  void overwrite(std::uint64_t offset, std::string_view bytes);
  /// Flushes, makes the content durable and puts the file in its place. Nothing may be written
  /// afterwards.
  void commit();

 private:
  [[noreturn]] void fail(int error);
  void open_named(const std::string& folder, unsigned mode);
  void write_through(std::string_view bytes);
  void put_in_place();
  void discard() noexcept;

  std::string path_;       // as the user wrote it, for messages
  std::string target_;     // where the file shall be, links followed; empty: written directly
  std::string temporary_;  // the name it has until then; empty: none
  std::string buffer_;
  int file_ = -1;
};

/// The whole file at once.
void write_file_atomically(const std::string& path, std::string_view content);

}  // namespace kalmia
