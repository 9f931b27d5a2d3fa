// Series as one table of columns: what row-wise formats write.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "data/iso_time.hpp"
#include "kalmia/data.hpp"
#include "kalmia/estimates.hpp"

namespace kalmia::data {

struct Table {
  /// The rows of one series.
  struct Block {
    std::string key;
    std::size_t steps = 0;
    std::vector<double> t;       ///< empty where there is no time
    std::vector<double> values;  ///< steps x names, row-major
  };

  std::string key_name;   ///< empty: no key column
  std::string time_name;  ///< empty: no time column
  TimeKind time_kind = TimeKind::None;
  DateStyle date_style = DateStyle::Second;  ///< of a time column with dates
  std::vector<std::string> names;            ///< of the values
  std::vector<Block> blocks;
};

/// Columns: key (if the data have a name for it or several series), time, measurements, inputs,
/// truth, deviations of the noise. Truth gets names that begin with `true_`, by which it is
/// recognised when read. Throws DataError if arrays do not have the sizes that the names ask for,
/// or names occur twice.
Table table_of(const Dataset& data);

/// Columns: key, time, then each state and, where there are covariances, its standard deviation
/// `<state>_std`. Throws DataError as above.
Table table_of(const Estimates& estimates);

/// The name of a truth column: begins with `true_`.
std::string truth_name(const std::string& name);

/// Throws DataError unless all arrays have the sizes that the names ask for.
void check_sizes(const Dataset& data);
void check_sizes(const Estimates& estimates);

}  // namespace kalmia::data
