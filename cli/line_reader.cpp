#include "line_reader.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/descriptor.hpp"
#include "kalmia/error.hpp"

namespace kalmia::cli {
namespace {

constexpr std::size_t kFirstBuffer = 1 << 16;
constexpr std::size_t kLongestLine = 1 << 20;

}  // namespace

LineReader::LineReader(int descriptor, std::function<void()> before_read)
    : descriptor_(descriptor), before_read_(std::move(before_read)), buffer_(kFirstBuffer) {}

bool LineReader::next(std::string_view& line) {
  const auto give = [&](std::size_t end, std::size_t next_begin) {
    line = {buffer_.data() + begin_, end - begin_};
    if (line.ends_with('\r')) line.remove_suffix(1);
    begin_ = scanned_ = next_begin;
    ++line_number_;
  };
  for (;;) {
    const char* const start = buffer_.data();
    if (too_long_) {
      // What is left of that line is read and forgotten.
      const void* const feed = std::memchr(start + begin_, '\n', end_ - begin_);
      begin_ = feed ? static_cast<std::size_t>(static_cast<const char*>(feed) - start) + 1 : end_;
      scanned_ = begin_;
      too_long_ = feed == nullptr;
      if (too_long_ && !fill()) return false;
      continue;
    }
    if (const void* feed = std::memchr(start + scanned_, '\n', end_ - scanned_)) {
      const auto at = static_cast<std::size_t>(static_cast<const char*>(feed) - start);
      give(at, at + 1);
      return true;
    }
    scanned_ = end_;
    if (!fill()) break;
  }
  // The last line may lack its end.
  if (begin_ == end_) return false;
  give(end_, end_);
  return true;
}

bool LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    scanned_ -= begin_;
    begin_ = 0;
  }
  if (end_ >= kLongestLine) {
    begin_ = scanned_ = end_;
    too_long_ = true;
    throw DataError(fmt::format(
        "<stdin>:{}: the line is longer than {} characters, but a line holds the values "
        "of one step",
        ++line_number_, kLongestLine));
  }
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  before_read_();
  for (;;) {
    const ssize_t count = read(descriptor_, buffer_.data() + end_, buffer_.size() - end_);
    if (count >= 0) {
      end_ += static_cast<std::size_t>(count);
      return count > 0;
    }
    if (!try_again(descriptor_, POLLIN))
      throw IoError(fmt::format("standard input: {}", std::strerror(errno)));
  }
}

}  // namespace kalmia::cli
