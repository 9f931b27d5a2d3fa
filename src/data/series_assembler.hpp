// Makes a data set out of rows.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/columns.hpp"
#include "kalmia/data.hpp"

namespace kalmia::data {

/// Takes rows of cells in the order of the file. Rows of a key need not be adjacent: they keep
/// their order within its series, and the series come in the order of their first rows.
class SeriesAssembler {
 public:
  /// `source` names the file in messages.
  SeriesAssembler(std::string source, std::vector<std::string> names, Columns columns);

  /// Throws DataError with file, line and column for a cell that cannot be used.
  void add_row(std::size_t line, std::span<const Cell> row);
  /// The data set. Throws DataError if there was no row.
  Dataset finish();

 private:
  std::string where(std::size_t line, int column) const;
  Series& series_of(std::size_t line, std::span<const Cell> row);
  double value(std::size_t line, int column, const Cell& cell) const;
  void add_time(std::size_t line, const Cell& cell, std::vector<double>& t);

  struct Hash {
    using is_transparent = void;  // NOLINT: the standard's name
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  Dataset data_;
  std::vector<std::string> names_;
  Columns columns_;
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> places_;
  std::size_t last_place_ = 0;
  bool any_row_ = false;
  bool all_digits_ = true;  // every time so far was a date of eight digits
};

}  // namespace kalmia::data
