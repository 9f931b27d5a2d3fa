#include "data/series_assembler.hpp"

#include <limits>

#include "data/iso_time.hpp"
#include "data/text_number.hpp"
#include "data/value_checks.hpp"
#include "kalmia/text.hpp"

namespace kalmia::data {
namespace {

constexpr double kNoTime = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> names_at(const std::vector<std::string>& names,
                                  const std::vector<int>& columns) {
  std::vector<std::string> result;
  result.reserve(columns.size());
  for (const int column : columns) result.push_back(names[static_cast<std::size_t>(column)]);
  return result;
}

const Cell& at(std::span<const Cell> row, int column) {
  return row[static_cast<std::size_t>(column)];
}

}  // namespace

SeriesAssembler::SeriesAssembler(std::string source, std::vector<std::string> names,
                                 Columns columns)
    : names_(std::move(names)), columns_(std::move(columns)) {
  data_.source = std::move(source);
  data_.y_names = names_at(names_, columns_.y);
  data_.x_names = names_at(names_, columns_.x);
  data_.u_names = names_at(names_, columns_.u);
  data_.std_names = names_at(names_, columns_.y_std);
  if (columns_.time >= 0) data_.time_name = names_[static_cast<std::size_t>(columns_.time)];
  if (columns_.key >= 0) data_.key_name = names_[static_cast<std::size_t>(columns_.key)];
}

std::string SeriesAssembler::where(std::size_t line, int column) const {
  return data_.source + ":" + std::to_string(line) + ": column " +
         printable(names_[static_cast<std::size_t>(column)]);
}

Series& SeriesAssembler::series_of(std::size_t line, std::span<const Cell> row) {
  if (columns_.key < 0) {
    if (data_.series.empty()) data_.series.emplace_back();
    return data_.series[0];
  }
  const std::string_view key = at(row, columns_.key).text;
  // Rows of a key are mostly adjacent.
  if (any_row_ && data_.series[last_place_].key == key) return data_.series[last_place_];
  if (key.empty())
    throw DataError(where(line, columns_.key) +
                    ": the key is empty, but every row must belong to a series");
  auto found = places_.find(key);
  if (found == places_.end()) {
    found = places_.emplace(key, data_.series.size()).first;
    data_.series.emplace_back().key = key;
  }
  last_place_ = found->second;
  return data_.series[last_place_];
}

double SeriesAssembler::value(std::size_t line, int column, const Cell& cell) const {
  double number = cell.number;
  if (!cell.is_number && parse_number(cell.text, number) == NumberText::Other)
    throw DataError(where(line, column) + ": " + in_quotes(cell.text) + " is not a number" +
                    (cell.text.find(',') == std::string_view::npos
                         ? ""
                         : " (decimals follow a point, not a comma)"));
  if (!usable(number)) refuse_value(where(line, column), number);
  return number;
}

void SeriesAssembler::add_time(std::size_t line, const Cell& cell, std::vector<double>& t) {
  double time = cell.number;
  NumberText kind = NumberText::Number;
  if (data_.time_kind != TimeKind::Date) {
    if (!cell.is_number) kind = parse_number(cell.text, time);
    if (kind != NumberText::Other) {
      data_.time_kind = TimeKind::Number;
      all_digits_ = all_digits_ && (cell.is_number || trimmed(cell.text).size() == 8) &&
                    date_of_digits(time).has_value();
    } else if (data_.time_kind == TimeKind::Number) {
      throw DataError(where(line, columns_.time) + ": " + in_quotes(cell.text) +
                      " is not a number, but the rows before have numbers");
    }
  }
  if (data_.time_kind != TimeKind::Number) {
    const std::optional<double> seconds = parse_iso_time(cell.text);
    if (!seconds && trimmed(cell.text).empty())
      check_time(where(line, columns_.time), {}, 0, kNoTime);
    if (!seconds)
      throw DataError(where(line, columns_.time) + ": " + in_quotes(cell.text) +
                      (data_.time_kind == TimeKind::Date ? " is not" : " is neither a number nor") +
                      " a date such as 2024-03-01 or 2024-03-01T12:30:00");
    data_.time_kind = TimeKind::Date;
    time = *seconds;
  }
  const double last = t.empty() ? -std::numeric_limits<double>::infinity() : t.back();
  // The message is put together only where there is one to give.
  if (!(time > last && usable(time)))
    check_time(where(line, columns_.time), data_.time_kind, last, time);
  t.push_back(time);
}

void SeriesAssembler::add_row(std::size_t line, std::span<const Cell> row) {
  Series& series = series_of(line, row);
  any_row_ = true;
  if (columns_.time >= 0) add_time(line, at(row, columns_.time), series.t);
  for (const int column : columns_.y) series.y.push_back(value(line, column, at(row, column)));
  for (std::size_t m = 0; m < columns_.y_std.size(); ++m) {
    const int column = columns_.y_std[m];
    const double std = value(line, column, at(row, column));
    if (!usable_std(std, series.y[series.y.size() - columns_.y.size() + m]))
      refuse_std(where(line, column), std, names_[static_cast<std::size_t>(columns_.y[m])]);
    series.y_std.push_back(std);
  }
  for (const int column : columns_.x) series.x.push_back(value(line, column, at(row, column)));
  for (const int column : columns_.u) series.u.push_back(value(line, column, at(row, column)));
  if (series.steps == std::numeric_limits<int>::max())
    check_steps(data_.source + ":" + std::to_string(line), std::size_t{1} << 31);
  ++series.steps;
}

Dataset SeriesAssembler::finish() {
  if (!any_row_)
    throw DataError(data_.source + ": no rows below the header, so nothing to learn from");
  if (data_.time_kind == TimeKind::Number && all_digits_) {
    data_.time_kind = TimeKind::Date;
    for (Series& series : data_.series)
      for (double& time : series.t) time = *date_of_digits(time);
  }
  return std::move(data_);
}

}  // namespace kalmia::data
