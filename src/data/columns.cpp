#include "data/columns.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/shell_word.hpp"
#include "base/suggest.hpp"
#include "data/text_number.hpp"
#include "kalmia/text.hpp"

namespace kalmia::data {
namespace {

// Numbers after which a column counts as one of numbers.
constexpr int kEnough = 20;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// The number in y0, y12; -1 for anything else.
int index_of(std::string_view name, char letter) {
  if (name.size() < 2 || name.size() > 7 || name[0] != letter) return -1;
  int index = 0;
  for (const char c : name.substr(1)) {
    if (c < '0' || c > '9') return -1;
    index = 10 * index + (c - '0');
  }
  const bool leading_zero = name[1] == '0' && name.size() > 2;
  return leading_zero ? -1 : index;
}

// The columns named <letter>, or <letter>0, <letter>1, ... (also from 1), in the order of the
// numbers; empty where there are none or numbers are left out.
std::vector<int> lettered(std::span<const std::string> names, const std::vector<bool>& taken,
                          char letter) {
  std::vector<std::pair<int, int>> found;  // number, column
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (taken[i]) continue;
    if (names[i].size() == 1 && names[i][0] == letter) return {static_cast<int>(i)};
    if (const int index = index_of(names[i], letter); index >= 0)
      found.emplace_back(index, static_cast<int>(i));
  }
  std::sort(found.begin(), found.end());
  std::vector<int> columns;
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (found[k].first != found[0].first + static_cast<int>(k) || found[0].first > 1) return {};
    columns.push_back(found[k].second);
  }
  return columns;
}

// The first of `words` that names a free column. Words of one letter must match exactly.
int worded(std::span<const std::string> names, const std::vector<bool>& taken,
           std::span<const std::string_view> words) {
  for (const std::string_view word : words)
    for (const bool exact : {true, false}) {
      if (!exact && word.size() == 1) continue;
      for (std::size_t i = 0; i < names.size(); ++i)
        if (!taken[i] && (exact ? names[i] == word : lower(names[i]) == word))
          return static_cast<int>(i);
    }
  return -1;
}

std::vector<int> find_columns(const std::string& where, std::span<const std::string> names,
                              const std::vector<std::string>& wanted, std::string_view option) {
  std::vector<int> columns;
  for (const std::string& name : wanted) {
    const int column = find_column(where, names, name, option);
    if (std::find(columns.begin(), columns.end(), column) != columns.end())
      throw ConfigError("--" + std::string(option) + " names the column " + printable(name) +
                        " twice, but once is enough");
    columns.push_back(column);
  }
  return columns;
}

// The columns of --noise-columns for `measured` columns: one for each, or one for all.
std::vector<int> find_noise(const std::string& where, std::span<const std::string> names,
                            const std::vector<std::string>& wanted, std::size_t measured) {
  std::vector<int> columns = find_columns(where, names, wanted, "noise-columns");
  if (columns.size() == 1) columns.resize(measured, columns[0]);
  if (!columns.empty() && columns.size() != measured)
    throw DataError(where + ": --noise-columns names " + std::to_string(columns.size()) +
                    " columns, but " + std::to_string(measured) +
                    " are measured; name one for each, in their order, or one for all");
  return columns;
}

// Data frames write their row numbers as a column without a name: no measurement.
bool unnamed(const std::string& name) { return name.starts_with("Unnamed: "); }

std::vector<int> default_measured(const std::string& where, std::span<const std::string> names,
                                  const std::vector<bool>& taken, const NumberColumns& numbers) {
  if (std::vector<int> columns = lettered(names, taken, 'y'); !columns.empty()) return columns;
  std::vector<int> columns;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!taken[i] && !unnamed(names[i]) && numbers.is_number(i))
      columns.push_back(static_cast<int>(i));
  if (columns.size() == 1) return columns;
  if (columns.empty())
    throw DataError(where + ": no column of numbers to take as measured; the columns are " +
                    name_list(names) + "; name the measured ones: --measure a,b");
  // Row numbers and times come first as a rule, so the last one is the better example.
  throw DataError(
      where + ": which columns are measured? None is called y or y1, y2, ..., and " +
      std::to_string(columns.size()) + " hold numbers; name them, such as " +
      shell_option("measure", names.subspan(static_cast<std::size_t>(columns.back()), 1)) +
      " (several: --measure a,b); the columns are " + name_list(names));
}

}  // namespace

void NumberColumns::add_row(std::span<const Cell> row) {
  if (row.size() > seen_.size()) {
    seen_.resize(row.size());
    text_.resize(row.size());
  }
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (text_[i] || seen_[i] >= kEnough) continue;
    if (row[i].is_number) {
      ++seen_[i];
      continue;
    }
    double value = 0;
    const NumberText kind = parse_number(row[i].text, value);
    if (kind == NumberText::Number) ++seen_[i];
    if (kind == NumberText::Other) text_[i] = true;
  }
}

bool NumberColumns::settled() const {
  for (std::size_t i = 0; i < seen_.size(); ++i)
    if (!text_[i] && seen_[i] < kEnough) return false;
  return true;
}

std::string name_list(std::span<const std::string> names) {
  constexpr std::size_t kMost = 30;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i)
    list += (i > 0 ? ", " : "") + shell_word(list_part(names[i]));
  if (names.size() > kMost) list += ", ... (" + std::to_string(names.size()) + " in all)";
  return list;
}

void check_names(const std::string& where, std::span<const std::string> names) {
  std::unordered_set<std::string_view> seen;
  for (const std::string& name : names)
    if (!seen.insert(name).second)
      throw DataError(where + ": two columns are called " + in_quotes(name) +
                      ", but names must differ");
}

int find_column(const std::string& where, std::span<const std::string> names,
                const std::string& wanted, std::string_view option) {
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  std::string near = suggestion(wanted, names);
  if (!near.empty() && option != "time" && option != "key") near = list_part(near);
  throw DataError(where + ": no column " + in_quotes(wanted) + " for --" + std::string(option) +
                  (near.empty() ? "; the" : "; did you mean " + shell_word(near) + "? The") +
                  " columns are " + name_list(names));
}

Columns choose_columns(const std::string& where, std::span<const std::string> names,
                       const DataOptions& options, const NumberColumns& numbers) {
  Columns columns;
  std::vector<bool> taken(names.size());
  const auto take = [&](int column) {
    if (column >= 0) taken[static_cast<std::size_t>(column)] = true;
  };
  const auto take_all = [&](const std::vector<int>& some) {
    for (const int column : some) take(column);
  };

  columns.y = find_columns(where, names, options.measure, "measure");
  columns.x = find_columns(where, names, options.truth, "truth");
  columns.u = find_columns(where, names, options.inputs, "inputs");
  if (!options.time.empty()) columns.time = find_column(where, names, options.time, "time");
  if (!options.key.empty()) columns.key = find_column(where, names, options.key, "key");
  take_all(columns.y);
  take_all(columns.x);
  take_all(columns.u);
  for (const std::string& name : options.noise_columns)
    take(find_column(where, names, name, "noise-columns"));
  take(columns.time);
  take(columns.key);

  constexpr std::array<std::string_view, 2> kKeys = {"unique_id", "key"};
  constexpr std::array<std::string_view, 5> kTimes = {"t", "time", "ds", "date", "timestamp"};
  if (options.key.empty()) take(columns.key = worded(names, taken, kKeys));
  if (options.time.empty()) take(columns.time = worded(names, taken, kTimes));
  if (options.truth.empty()) {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (!taken[i] && names[i].starts_with("true_")) columns.x.push_back(static_cast<int>(i));
    take_all(columns.x);
  }
  if (options.inputs.empty()) take_all(columns.u = lettered(names, taken, 'u'));
  if (options.measure.empty()) columns.y = default_measured(where, names, taken, numbers);
  columns.y_std = find_noise(where, names, options.noise_columns, columns.y.size());
  return columns;
}

void select_columns(Dataset& data, const DataOptions& options) {
  std::vector<std::string> names = data.y_names;
  names.insert(names.end(), data.x_names.begin(), data.x_names.end());
  names.insert(names.end(), data.u_names.begin(), data.u_names.end());
  names.insert(names.end(), data.std_names.begin(), data.std_names.end());
  const std::vector<std::string> time_names(data.time_kind == TimeKind::None ? 0 : 1,
                                            data.time_name);
  const std::vector<std::string> key_names(data.key_name.empty() ? 0 : 1, data.key_name);
  if (!options.time.empty()) find_column(data.source, time_names, options.time, "time");
  if (!options.key.empty()) find_column(data.source, key_names, options.key, "key");
  if (options.measure.empty() && options.truth.empty() && options.inputs.empty() &&
      options.noise_columns.empty())
    return;

  const std::size_t y_dim = data.y_names.size(), x_dim = data.x_names.size();
  const std::size_t u_dim = data.u_names.size();
  const auto picked = [&](const Series& s, const std::vector<int>& columns) {
    std::vector<double> values;
    values.reserve(static_cast<std::size_t>(s.steps) * columns.size());
    for (std::size_t k = 0; k < static_cast<std::size_t>(s.steps); ++k)
      for (const int column : columns) {
        const auto c = static_cast<std::size_t>(column);
        if (c < y_dim)
          values.push_back(s.y[k * y_dim + c]);
        else if (c < y_dim + x_dim)
          values.push_back(s.x[k * x_dim + (c - y_dim)]);
        else if (c < y_dim + x_dim + u_dim)
          values.push_back(s.u[k * u_dim + (c - y_dim - x_dim)]);
        else
          values.push_back(s.y_std[k * y_dim + (c - y_dim - x_dim - u_dim)]);
      }
    return values;
  };
  const auto chosen_names = [&](const std::vector<int>& columns) {
    std::vector<std::string> chosen;
    chosen.reserve(columns.size());
    for (const int column : columns) chosen.push_back(names[static_cast<std::size_t>(column)]);
    return chosen;
  };

  const std::vector<int> y = find_columns(data.source, names, options.measure, "measure");
  const std::vector<int> x = find_columns(data.source, names, options.truth, "truth");
  const std::vector<int> u = find_columns(data.source, names, options.inputs, "inputs");
  std::vector<int> y_std = find_noise(data.source, names, options.noise_columns,
                                      y.empty() ? data.y_names.size() : y.size());
  // Deviations follow their measurements.
  if (y_std.empty() && !data.std_names.empty())
    for (const int column : y) {
      if (static_cast<std::size_t>(column) >= y_dim)
        throw DataError(data.source + ": the array y_std says nothing of the column " +
                        printable(names[static_cast<std::size_t>(column)]) +
                        "; name the columns of its noise: --noise-columns");
      y_std.push_back(static_cast<int>(y_dim + x_dim + u_dim) + column);
    }
  for (Series& s : data.series) {
    std::vector<double> new_std = picked(s, y_std);
    std::vector<double> new_y = picked(s, y), new_x = picked(s, x), new_u = picked(s, u);
    if (!y.empty()) s.y = std::move(new_y);
    if (!x.empty()) s.x = std::move(new_x);
    if (!u.empty()) s.u = std::move(new_u);
    if (!y_std.empty()) s.y_std = std::move(new_std);
  }
  if (!y.empty()) data.y_names = chosen_names(y);
  if (!x.empty()) data.x_names = chosen_names(x);
  if (!u.empty()) data.u_names = chosen_names(u);
  if (!y_std.empty()) data.std_names = chosen_names(y_std);
}

}  // namespace kalmia::data
