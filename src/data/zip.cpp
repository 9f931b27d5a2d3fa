#include "data/zip.hpp"

#include <zlib.h>

#include <algorithm>

#include "data/text_number.hpp"
#include "kalmia/error.hpp"

namespace kalmia::data {
namespace {

constexpr std::uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50;
constexpr std::uint64_t kEndSize = 22, kCentralSize = 46, kLocalSize = 30;
constexpr std::uint64_t kLargest = 0xFFFFFFFF;

void append(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFF);
}

// zlib counts in 32 bits.
std::uint32_t checksum(std::string_view bytes) {
  uLong crc = crc32(0, nullptr, 0);
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, 1U << 30);
    crc = crc32(crc, reinterpret_cast<const Bytef*>(part.data()), static_cast<uInt>(part.size()));
    bytes.remove_prefix(part.size());
  }
  return static_cast<std::uint32_t>(crc);
}

// Ends a decompression however it goes.
struct Inflation {
  z_stream stream = {};
  bool ready = inflateInit2(&stream, -MAX_WBITS) == Z_OK;
  Inflation() = default;
  ~Inflation() {
    if (ready) inflateEnd(&stream);
  }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
};

}  // namespace

ZipReader::ZipReader(std::string source, std::string_view bytes)
    : source_(std::move(source)), bytes_(bytes) {
  read_directory();
}

void ZipReader::fail(const std::string& what) const { throw DataError(source_ + ": " + what); }

std::string_view ZipReader::at(std::uint64_t offset, std::uint64_t size, const char* what) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset)
    fail(std::string(what) + " lies beyond the end of the file; it is cut off or damaged");
  return bytes_.substr(offset, size);
}

std::uint64_t ZipReader::number(std::uint64_t offset, int bytes) const {
  const std::string_view text = at(offset, static_cast<std::uint64_t>(bytes), "the archive");
  std::uint64_t value = 0;
  for (std::size_t i = text.size(); i-- > 0;)
    value = (value << 8) | static_cast<unsigned char>(text[i]);
  return value;
}

// The end record lies before a comment of up to 65535 bytes.
std::uint64_t ZipReader::find_end() const {
  if (bytes_.size() < kEndSize) fail("not a zip archive, as .npz files are; it is cut off perhaps");
  const std::uint64_t last = bytes_.size() - kEndSize;
  const std::uint64_t first = last > 0xFFFF ? last - 0xFFFF : 0;
  for (std::uint64_t offset = last + 1; offset-- > first;)
    if (number(offset, 4) == kEnd) return offset;
  fail("not a zip archive, as .npz files are; it is cut off perhaps");
}

void ZipReader::read_directory() {
  const std::uint64_t end = find_end();
  const std::uint64_t count = number(end + 10, 2);
  std::uint64_t offset = number(end + 16, 4);
  if (offset == kLargest) fail("archives beyond 4 GiB cannot be read; use .npy");
  for (std::uint64_t i = 0; i < count; ++i) {
    at(offset, kCentralSize, "the directory");
    if (number(offset, 4) != kCentral) fail("the directory of the archive is damaged");
    if (number(offset + 8, 2) & 1) fail("the archive is encrypted");
    Entry entry;
    entry.method = static_cast<unsigned>(number(offset + 10, 2));
    entry.crc = static_cast<std::uint32_t>(number(offset + 16, 4));
    entry.packed_size = number(offset + 20, 4);
    entry.size = number(offset + 24, 4);
    const std::uint64_t name_size = number(offset + 28, 2);
    const std::uint64_t extra_size = number(offset + 30, 2);
    const std::uint64_t comment_size = number(offset + 32, 2);
    entry.offset = number(offset + 42, 4);
    const std::string name(at(offset + kCentralSize, name_size, "a name"));
    widen(entry, offset + kCentralSize + name_size, extra_size);
    if (entries_.emplace(name, entry).second) names_.push_back(name);
    offset += kCentralSize + name_size + extra_size + comment_size;
  }
}

// Sizes that do not fit 32 bits stand in an extra field, in a fixed order.
void ZipReader::widen(Entry& entry, std::uint64_t begin, std::uint64_t length) const {
  const std::uint64_t end = begin + length;
  at(begin, length, "an extra field");
  while (begin + 4 <= end) {
    const std::uint64_t id = number(begin, 2), size = number(begin + 2, 2);
    std::uint64_t at = begin + 4;
    begin = at + size;
    if (id != 1) continue;
    for (std::uint64_t* value : {&entry.size, &entry.packed_size, &entry.offset})
      if (*value == kLargest && at + 8 <= begin) {
        *value = number(at, 8);
        at += 8;
      }
  }
}

std::string ZipReader::read(const std::string& name) const {
  const Entry& entry = entries_.at(name);
  at(entry.offset, kLocalSize, "an entry");
  if (number(entry.offset, 4) != kLocal) fail("entry " + in_quotes(name) + " is damaged");
  // Name and extra field may differ from those of the directory in length.
  const std::uint64_t begin =
      entry.offset + kLocalSize + number(entry.offset + 26, 2) + number(entry.offset + 28, 2);
  const std::string_view packed = at(begin, entry.packed_size, "an entry");
  std::string content;
  if (entry.method == 0) {
    if (entry.size != entry.packed_size) fail("entry " + in_quotes(name) + " is damaged");
    content = packed;
  } else if (entry.method == 8) {
    content = inflated(name, packed, entry.size);
  } else {
    fail("entry " + in_quotes(name) + " is compressed by method " + std::to_string(entry.method) +
         ", but only 0 (stored) and 8 (deflate) can be read");
  }
  if (checksum(content) != entry.crc)
    fail("entry " + in_quotes(name) + " is damaged: its checksum does not match");
  return content;
}

std::string ZipReader::inflated(const std::string& name, std::string_view packed,
                                std::uint64_t size) const {
  // Deflate makes nothing smaller than 1/1032; what claims to be is a lie, not to be allocated for.
  constexpr std::uint64_t kMostRatio = 1032;
  if (size > (packed.size() + 64) * kMostRatio)
    fail("entry " + in_quotes(name) + " claims " + std::to_string(size) + " bytes, but its " +
         std::to_string(packed.size()) + " cannot hold as many");
  // Grown as the bytes come, since the size may still be one.
  std::string content(std::min<std::uint64_t>(size, 4 * packed.size() + 4096), '\0');
  Inflation inflation;
  if (!inflation.ready) throw std::bad_alloc();
  z_stream& stream = inflation.stream;
  std::uint64_t used = 0, made = 0;
  int state = Z_OK;
  while (state == Z_OK) {
    constexpr std::uint64_t kPart = 1U << 30;
    const std::uint64_t in = std::min(kPart, packed.size() - used);
    if (made == content.size()) content.resize(std::min(size, 2 * made));
    const std::uint64_t out = std::min(kPart, content.size() - made);
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(packed.data() + used));
    stream.avail_in = static_cast<uInt>(in);
    stream.next_out = reinterpret_cast<Bytef*>(content.data() + made);
    stream.avail_out = static_cast<uInt>(out);
    state = inflate(&stream, Z_NO_FLUSH);
    used += in - stream.avail_in;
    made += out - stream.avail_out;
  }
  if (state != Z_STREAM_END || made != size)
    fail("entry " + in_quotes(name) + " is damaged: it does not unpack to the size it claims");
  return content;
}

void ZipWriter::put(const std::string& bytes) {
  file_.write(bytes);
  written_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::string_view content) {
  if (written_ + content.size() + directory_.size() + 4096 > kLargest || entries_ >= 0xFFFF)
    throw DataError(path_ + ": more than 4 GiB, which an .npz file cannot hold; use .csv or .npy");
  const std::uint64_t offset = written_;
  // Common to both places: version, flags, method, time and date (1980-01-01, so that equal data
  // give equal files), checksum, sizes, length of the name, no extra field.
  std::string common;
  append(common, 20, 2);
  append(common, 0, 2);
  append(common, 0, 2);
  append(common, 0, 2);
  append(common, 33, 2);
  append(common, checksum(content), 4);
  append(common, content.size(), 4);
  append(common, content.size(), 4);
  append(common, name.size(), 2);
  append(common, 0, 2);

  std::string local;
  append(local, kLocal, 4);
  put(local + common + name);
  file_.write(content);
  written_ += content.size();

  append(directory_, kCentral, 4);
  append(directory_, 20, 2);
  directory_ += common;
  append(directory_, 0, 2);  // comment
  append(directory_, 0, 2);  // disk
  append(directory_, 0, 2);  // attributes
  append(directory_, 0, 4);
  append(directory_, offset, 4);
  directory_ += name;
  ++entries_;
}

void ZipWriter::finish() {
  const std::uint64_t offset = written_;
  put(directory_);
  std::string end;
  append(end, kEnd, 4);
  append(end, 0, 4);
  append(end, entries_, 2);
  append(end, entries_, 2);
  append(end, directory_.size(), 4);
  append(end, offset, 4);
  append(end, 0, 2);
  put(end);
}

}  // namespace kalmia::data
