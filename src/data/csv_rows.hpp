// Text of comma-separated values, cut into rows and fields.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "data/columns.hpp"

namespace kalmia::data {

/// The separator of a header line: whichever of comma, semicolon and tab it has most of outside
/// quotes; a comma if it has none.
char detect_separator(std::string_view text);

/// Walks through the rows of a text. Fields may be quoted (RFC 4180: "a ""b"", c"), blanks around
/// unquoted ones do not count, lines end with LF, CRLF or CR. Fields point into the text, which
/// must outlive them, or into this object until the next row.
class CsvRows {
 public:
  /// `source` names the file in messages.
  CsvRows(std::string source, std::string_view text, char separator)
      : source_(std::move(source)), text_(text), separator_(separator) {}

  /// Goes to the next row; false at the end of the text. Throws DataError for quotes that do not
  /// close, or that something follows.
  bool next();
  const std::vector<Cell>& fields() const { return fields_; }
  /// The line on which the row begins, from 1.
  std::size_t line() const { return line_; }
  /// Whether the line is empty but for blanks.
  bool blank() const { return fields_.size() == 1 && !quoted_ && fields_[0].text.empty(); }

 private:
  bool ends_field(char c) const { return c == separator_ || c == '\n' || c == '\r'; }
  std::string_view plain_field();
  std::string_view quoted_field();

  std::string source_;
  std::string_view text_;
  char separator_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::size_t next_line_ = 1;
  bool quoted_ = false;  // the last field was
  std::vector<Cell> fields_;
  std::deque<std::string> unescaped_;  // fields of this row that had quotes inside
};

}  // namespace kalmia::data
