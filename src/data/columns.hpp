// Which column of a file is what.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kalmia/data.hpp"

namespace kalmia::data {

/// One value of a row as the file has it: text (empty: none), or a number where the format knows
/// numbers (the text is then what a person would write).
struct Cell {
  std::string_view text;
  bool is_number = false;
  double number = std::numeric_limits<double>::quiet_NaN();
};

/// The places of the columns that a data set is made of; -1: there is none.
struct Columns {
  std::vector<int> y;
  std::vector<int> x;
  std::vector<int> u;
  int time = -1;
  int key = -1;
  std::vector<int> y_std;  ///< one for each of y, or none
};

/// Finds out which columns hold numbers, from the first rows of a file.
class NumberColumns {
 public:
  /// Rows may grow longer from one to the next.
  void add_row(std::span<const Cell> row);
  /// Whether further rows are of no use: each column has shown text or enough numbers.
  bool settled() const;
  /// Numbers were seen and no text. A column that shows text later on is a column of numbers with
  /// an error in it, which its reader names.
  bool is_number(std::size_t column) const {
    return column < seen_.size() && seen_[column] > 0 && !text_[column];
  }

 private:
  std::vector<int> seen_;
  std::vector<bool> text_;
};

/// Throws DataError if two columns have the same name.
void check_names(const std::string& where, std::span<const std::string> names);

/// Chooses the columns as DataOptions describes it; `numbers` tells which hold numbers. Words such
/// as Time or unique_ID are recognised in capital letters as well, single letters are not: T may be
/// a temperature. A column that the options name is no default for anything else. `where` is the
/// place of the names (file and line). Throws DataError.
Columns choose_columns(const std::string& where, std::span<const std::string> names,
                       const DataOptions& options, const NumberColumns& numbers);

/// The place of a column that the user named. Throws DataError with the names there are and the one
/// that was perhaps meant.
int find_column(const std::string& where, std::span<const std::string> names,
                const std::string& wanted, std::string_view option);

/// For messages: "a, b, c", cut off where there are very many.
std::string name_list(std::span<const std::string> names);

/// Applies options to data whose format says itself what is measured, truth and input (arrays,
/// audio): an option that is set picks among all columns by name, one that is not leaves things as
/// they are. Throws DataError for names that do not exist.
void select_columns(Dataset& data, const DataOptions& options);

}  // namespace kalmia::data
