/// \file
/// Lines of standard input as they arrive.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <vector>

namespace kalmia::cli {

/// Reads lines from a file descriptor without waiting for more than there is.
class LineReader {
 public:
  /// `before_read` is called before every read, which may have to wait: the place to send answers.
  LineReader(int descriptor, std::function<void()> before_read);

  /// The next line without its end; false at the end of the input. The text is valid until the next
  /// call. Throws IoError, and DataError for a line of more than a megabyte: as soon as it is that
  /// long, wherever it ends. The call after that goes on behind its end.
  bool next(std::string_view& line);

  /// Number of the line that `next` gave or refused last, from 1.
  std::size_t line_number() const { return line_number_; }

 private:
  /// Makes room and reads once; false at the end of the input.
  bool fill();

  int descriptor_;
  std::function<void()> before_read_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;    ///< of what was not given out
  std::size_t scanned_ = 0;  ///< up to here there is no line feed
  std::size_t end_ = 0;      ///< of what was read
  std::size_t line_number_ = 0;
  bool too_long_ = false;  ///< inside a line that was refused
};

}  // namespace kalmia::cli
