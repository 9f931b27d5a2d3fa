#include "model/even_steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kalmia/error.hpp"
#include "kalmia/text.hpp"

namespace kalmia::model {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Appends row k of `from` to `to`; nothing where the data have no such column.
void append_row(const std::vector<double>& from, std::size_t k, std::size_t width,
                std::vector<double>& to) {
  if (from.empty()) return;
  const auto row = from.begin() + static_cast<std::ptrdiff_t>(k * width);
  to.insert(to.end(), row, row + static_cast<std::ptrdiff_t>(width));
}

void append_missing(const std::vector<double>& like, std::size_t width, std::vector<double>& to) {
  if (!like.empty()) to.insert(to.end(), width, kNan);
}

// Data whose arrays do not fit their lengths are left to those who check them.
bool fits(const Dataset& data, const Series& series) {
  const auto has = [&](const std::vector<double>& values, std::size_t width) {
    return values.size() == static_cast<std::size_t>(series.steps) * width;
  };
  return has(series.y, data.y_names.size()) && has(series.t, 1) &&
         (series.x.empty() || has(series.x, data.x_names.size())) &&
         (series.u.empty() || has(series.u, data.u_names.size())) &&
         (series.y_std.empty() || has(series.y_std, data.y_names.size()));
}

bool has_long_steps(const Dataset& data, double dt) {
  for (const Series& series : data.series)
    if (!series.t.empty() && !fits(data, series)) return false;
  for (const Series& series : data.series)
    for (std::size_t k = 1; k < series.t.size(); ++k)
      if (series.t[k] - series.t[k - 1] > kLongestStep * dt) return true;
  return false;
}

void require_possible(const Dataset& data, const Series& series, std::size_t k, double dt) {
  const double length = series.t[k] - series.t[k - 1];
  if (length <= kMostEmptySteps * dt) return;
  throw DataError(
      (data.source.empty() ? "the data" : data.source) +
      (series.key.empty() ? "" : ", series \"" + printable(series.key) + "\"") + ", step " +
      std::to_string(k + 1) + ": the time since the step before is " +
      fmt::format("{:.10g}, more than {} times the usual {:.10g}", length, kMostEmptySteps, dt) +
      "; is it in the right unit? Cut the data into two series there, or take a prior "
      "that can step over any time (constant-velocity and the like, without networks)");
}

Series cut_up(const Dataset& data, const Series& series, double dt, int most,
              std::vector<int>& place) {
  const std::size_t M = data.y_names.size(), X = data.x_names.size(), U = data.u_names.size();
  Series out;
  out.key = series.key;
  for (std::size_t k = 0; k < static_cast<std::size_t>(series.steps); ++k) {
    if (k > 0 && !series.t.empty()) {
      const double before = series.t[k - 1];
      const double ratio = (series.t[k] - before) / dt;
      if (ratio > kLongestStep && most >= kMostEmptySteps) require_possible(data, series, k, dt);
      for (int i = 1; i < parts_of_step(ratio, most); ++i) {
        append_missing(series.y, M, out.y);
        append_missing(series.x, X, out.x);
        append_missing(series.y_std, M, out.y_std);
        append_row(series.u, k - 1, U, out.u);
        out.t.push_back(before + i * dt);
        ++out.steps;
      }
    }
    place.push_back(out.steps);
    append_row(series.y, k, M, out.y);
    append_row(series.x, k, X, out.x);
    append_row(series.y_std, k, M, out.y_std);
    append_row(series.u, k, U, out.u);
    append_row(series.t, k, 1, out.t);
    ++out.steps;
  }
  return out;
}

}  // namespace

int parts_of_step(double ratio, int most) {
  if (!(ratio > kLongestStep)) return 1;
  const double parts = std::floor(ratio + 0.5);  // the last is in [0.5, 1.5)
  return static_cast<int>(std::min(parts, most + 1.0));
}

int most_empty_steps(bool any_step, bool networks) {
  constexpr int kNetworkSteps = 64;
  if (!any_step) return kMostEmptySteps;
  return networks ? kNetworkSteps : 0;
}

EvenSteps::EvenSteps(const Dataset& data, double dt, int most) : data_(data) {
  if (most < 1 || !has_long_steps(data, dt)) return;
  changed_ = data;
  changed_->series.clear();
  for (const Series& series : data.series)
    changed_->series.push_back(cut_up(data, series, dt, most, place_.emplace_back()));
}

std::vector<double> EvenSteps::own_rows(std::size_t series, const std::vector<double>& values,
                                        std::size_t width) const {
  if (!changed()) return values;
  std::vector<double> rows;
  if (values.empty()) return rows;
  rows.reserve(place_[series].size() * width);
  for (const int at : place_[series]) append_row(values, static_cast<std::size_t>(at), width, rows);
  return rows;
}

}  // namespace kalmia::model
