#include "data/table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "data/columns.hpp"

namespace kalmia::data {
namespace {

// `what` of series number `index` must have steps * dim numbers, or none if it may be absent.
void check_size(const char* what, std::size_t index, std::size_t size, int steps, std::size_t dim,
                bool optional) {
  const std::size_t wanted = static_cast<std::size_t>(std::max(steps, 0)) * dim;
  if (steps < 0 || (size != wanted && !(optional && size == 0)))
    throw DataError("series " + std::to_string(index) + ": " + what + " has " +
                    std::to_string(size) + " numbers, but " + std::to_string(steps) + " steps of " +
                    std::to_string(dim) + " need " + std::to_string(wanted));
}

// What data sets and estimates have in common.
template <typename Source>
Table outline(const Source& source) {
  Table table;
  if (!source.key_name.empty() || source.series.size() > 1)
    table.key_name = source.key_name.empty() ? "unique_id" : source.key_name;
  table.time_kind = source.time_kind;
  if (source.time_kind != TimeKind::None)
    table.time_name = source.time_name.empty() ? "t" : source.time_name;
  table.date_style = DateStyle::Day;
  for (const auto& series : source.series) {
    Table::Block& block = table.blocks.emplace_back();
    block.key = series.key;
    block.steps = static_cast<std::size_t>(series.steps);
    if (source.time_kind != TimeKind::None) block.t = series.t;
    if (date_style(block.t) == DateStyle::Second) table.date_style = DateStyle::Second;
  }
  return table;
}

void check_table_names(const Table& table) {
  std::vector<std::string> names = table.names;
  if (!table.key_name.empty()) names.push_back(table.key_name);
  if (!table.time_name.empty()) names.push_back(table.time_name);
  check_names("columns to write", names);
}

}  // namespace

std::string truth_name(const std::string& name) {
  return name.starts_with("true_") ? name : "true_" + name;
}

void check_sizes(const Dataset& data) {
  const bool timed = data.time_kind != TimeKind::None;
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const Series& s = data.series[i];
    check_size("y", i, s.y.size(), s.steps, data.y_names.size(), false);
    check_size("x", i, s.x.size(), s.steps, data.x_names.size(), false);
    check_size("u", i, s.u.size(), s.steps, data.u_names.size(), false);
    check_size("t", i, s.t.size(), s.steps, 1, !timed);
    check_size("y_std", i, s.y_std.size(), s.steps, data.std_names.size(), false);
  }
}

void check_sizes(const Estimates& estimates) {
  const std::size_t N = estimates.state_names.size();
  const bool timed = estimates.time_kind != TimeKind::None;
  for (std::size_t i = 0; i < estimates.series.size(); ++i) {
    const StateEstimates& s = estimates.series[i];
    check_size("mean", i, s.mean.size(), s.steps, N, false);
    check_size("covariance", i, s.covariance.size(), s.steps, N * N, true);
    check_size("t", i, s.t.size(), s.steps, 1, !timed);
  }
}

Table table_of(const Dataset& data) {
  check_sizes(data);
  Table table = outline(data);
  table.names = data.y_names;
  table.names.insert(table.names.end(), data.u_names.begin(), data.u_names.end());
  for (const std::string& name : data.x_names) table.names.push_back(truth_name(name));
  // One column may hold the deviations of all.
  std::vector<std::size_t> stds;
  for (std::size_t m = 0; m < data.std_names.size(); ++m)
    if (m == 0 || data.std_names[m] != data.std_names[0]) {
      stds.push_back(m);
      table.names.push_back(data.std_names[m]);
    }
  check_table_names(table);
  const auto append = [](std::vector<double>& row, const std::vector<double>& from, std::size_t dim,
                         std::size_t k) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(k * dim);
    row.insert(row.end(), begin, begin + static_cast<std::ptrdiff_t>(dim));
  };
  for (std::size_t i = 0; i < data.series.size(); ++i) {
    const Series& s = data.series[i];
    Table::Block& block = table.blocks[i];
    block.values.reserve(block.steps * table.names.size());
    for (std::size_t k = 0; k < block.steps; ++k) {
      append(block.values, s.y, data.y_names.size(), k);
      append(block.values, s.u, data.u_names.size(), k);
      append(block.values, s.x, data.x_names.size(), k);
      for (const std::size_t m : stds)
        block.values.push_back(s.y_std[k * data.std_names.size() + m]);
    }
  }
  return table;
}

Table table_of(const Estimates& estimates) {
  check_sizes(estimates);
  const std::size_t N = estimates.state_names.size();
  const bool spread = std::any_of(estimates.series.begin(), estimates.series.end(),
                                  [](const auto& s) { return !s.covariance.empty(); });
  Table table = outline(estimates);
  for (const std::string& name : estimates.state_names) {
    table.names.push_back(name);
    if (spread) table.names.push_back(name + "_std");
  }
  check_table_names(table);
  for (std::size_t i = 0; i < estimates.series.size(); ++i) {
    const StateEstimates& s = estimates.series[i];
    Table::Block& block = table.blocks[i];
    block.values.reserve(block.steps * table.names.size());
    for (std::size_t k = 0; k < block.steps; ++k)
      for (std::size_t n = 0; n < N; ++n) {
        block.values.push_back(s.mean[k * N + n]);
        if (!spread) continue;
        const double variance = s.covariance.empty() ? std::numeric_limits<double>::quiet_NaN()
                                                     : s.covariance[(k * N + n) * N + n];
        block.values.push_back(std::sqrt(variance));
      }
  }
  return table;
}

}  // namespace kalmia::data
