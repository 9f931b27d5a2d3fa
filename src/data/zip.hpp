// Zip archives, as far as .npz files need them: entries stored or deflated, up to 4 GiB.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/atomic_file.hpp"

namespace kalmia::data {

/// The entries of an archive that lies in memory and outlives this object. Nothing the archive says
/// of sizes and places is believed before it is held against the bytes there are. Throws DataError.
class ZipReader {
 public:
  /// `source` names the file in messages.
  ZipReader(std::string source, std::string_view bytes);

  /// In the order of the archive.
  const std::vector<std::string>& names() const { return names_; }
  bool has(const std::string& name) const { return entries_.contains(name); }
  /// The content of an entry that exists, its checksum compared.
  std::string read(const std::string& name) const;

 private:
  struct Entry {
    unsigned method = 0;
    std::uint32_t crc = 0;
    std::uint64_t packed_size = 0;
    std::uint64_t size = 0;
    std::uint64_t offset = 0;
  };

  [[noreturn]] void fail(const std::string& what) const;
  std::string_view at(std::uint64_t offset, std::uint64_t size, const char* what) const;
  std::uint64_t number(std::uint64_t offset, int bytes) const;
  std::uint64_t find_end() const;
  void read_directory();
  void widen(Entry& entry, std::uint64_t begin, std::uint64_t length) const;
  std::string inflated(const std::string& name, std::string_view packed, std::uint64_t size) const;

  std::string source_;
  std::string_view bytes_;
  std::vector<std::string> names_;
  std::map<std::string, Entry> entries_;
};

/// Writes an archive of stored entries, which every reader can map or copy.
class ZipWriter {
 public:
  ZipWriter(std::string path, AtomicFile& file) : path_(std::move(path)), file_(file) {}

  /// Throws DataError if the archive would grow beyond what the format counts in 32 bits.
  void add(const std::string& name, std::string_view content);
  /// Writes the directory; the archive is then whole.
  void finish();

 private:
  void put(const std::string& bytes);

  std::string path_;
  AtomicFile& file_;
  std::string directory_;
  unsigned entries_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace kalmia::data
