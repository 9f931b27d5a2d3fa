#include "study/truth.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "infer/measured_map.hpp"
#include "infer/model_impl.hpp"
#include "kalmia/text.hpp"

namespace kalmia::study {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// The column of the truth that each channel and each state has; -1: none.
struct Columns {
  std::vector<int> of_channel, of_state;
};

int index_of(const std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

std::vector<int> counted(std::size_t count) {
  std::vector<int> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<int>(i);
  return all;
}

std::string source(const Dataset& data) { return data.source.empty() ? "evaluate" : data.source; }

bool any(const std::vector<int>& columns) {
  return std::ranges::any_of(columns, [](int column) { return column >= 0; });
}

// Column `column` of all series' truth into column `to` of `width`.
void copy_column(const Dataset& data, int column, std::size_t to, std::size_t width,
                 std::vector<std::vector<double>>& into) {
  const std::size_t columns = data.x_names.size();
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    const std::vector<double>& from = data.series[s].x;
    for (std::size_t k = 0; k * columns < from.size(); ++k)
      into[s][k * width + to] = from[k * columns + static_cast<std::size_t>(column)];
  }
}

Truth sorted(const Dataset& data, const Columns& columns, const Measure& measure) {
  const std::size_t N = measure.states, M = measure.channels;
  Truth truth;
  for (const Series& series : data.series) {
    const auto steps = static_cast<std::size_t>(series.steps);
    truth.y.emplace_back(steps * M, kNan);
    truth.x.emplace_back(steps * N, kNan);
  }
  for (std::size_t n = 0; n < N; ++n)
    if (columns.of_state[n] >= 0) copy_column(data, columns.of_state[n], n, N, truth.x);
  truth.states = any(columns.of_state);
  // Channels through their states, unless they have truth of their own.
  std::vector<double> y(M);
  if (truth.states)
    for (std::size_t s = 0; s < truth.x.size(); ++s)
      for (std::size_t k = 0; k * N < truth.x[s].size(); ++k) {
        measure.at(truth.x[s].data() + k * N, nullptr, y.data(), nullptr);
        std::copy(y.begin(), y.end(), truth.y[s].begin() + static_cast<std::ptrdiff_t>(k * M));
      }
  for (std::size_t m = 0; m < M; ++m)
    if (columns.of_channel[m] >= 0) copy_column(data, columns.of_channel[m], m, M, truth.y);
  truth.channels = any(columns.of_channel) ||
                   std::ranges::any_of(truth.y, [](const std::vector<double>& values) {
                     return std::ranges::any_of(values, [](double v) { return !std::isnan(v); });
                   });
  return truth;
}

// Gives states the truth of the channels that they are.
void add_measured_states(const Measure& measure, Columns& columns) {
  for (std::size_t m = 0; m < measure.channels; ++m) {
    const int n = measure.measured_state[m];
    if (n < 0 || columns.of_channel[m] < 0) continue;
    int& column = columns.of_state[static_cast<std::size_t>(n)];
    if (column < 0) column = columns.of_channel[m];
  }
}

Columns by_number(const Dataset& data, const Measure& measure, bool channels_first) {
  const std::size_t count = data.x_names.size(), N = measure.states, M = measure.channels;
  Columns columns{std::vector<int>(M, -1), std::vector<int>(N, -1)};
  const bool decided = count == M && (M != N || channels_first || measure.is_identity());
  if (decided)
    columns.of_channel = counted(M);
  else if (count == N && N != M)
    columns.of_state = counted(N);
  if (decided && measure.is_identity()) columns.of_state = counted(N);
  return columns;
}

}  // namespace

bool Measure::is_identity() const {
  return states == channels && measured_state == counted(channels);
}

Measure measure_of(const Model& model) {
  const model::LearnedModel<float>& learned = model.impl().first();
  Measure measure;
  measure.states = static_cast<std::size_t>(model.state_dim());
  measure.channels = static_cast<std::size_t>(model.meas_dim());
  measure.measured_state = learned.expert().measured_state;
  // The model lives as long as the function does.
  measure.at = [model, map = infer::MeasuredMap(learned)](const double* x, const double* P,
                                                          double* y, double* S) {
    if (P == nullptr)
      map.at(x, y, nullptr);
    else
      map.moments(x, P, y, S);
  };
  return measure;
}

Measure linear_measure(std::span<const double> given, std::size_t channels) {
  const std::vector<double> H(given.begin(), given.end());
  Measure measure;
  measure.channels = channels;
  measure.states = H.size() / channels;
  const std::size_t N = measure.states, M = channels;
  for (std::size_t m = 0; m < M; ++m) {
    const auto row = H.begin() + static_cast<std::ptrdiff_t>(m * N);
    const auto end = row + static_cast<std::ptrdiff_t>(N);
    const bool selects = std::count(row, end, 0.0) + 1 == static_cast<std::ptrdiff_t>(N) &&
                         std::count(row, end, 1.0) == 1;
    measure.measured_state.push_back(selects ? static_cast<int>(std::find(row, end, 1.0) - row)
                                             : -1);
  }
  measure.at = [H, N, M](const double* x, const double* P, double* y, double* S) {
    for (std::size_t m = 0; m < M; ++m) {
      y[m] = 0;
      for (std::size_t n = 0; n < N; ++n)
        if (H[m * N + n] != 0) y[m] += H[m * N + n] * x[n];
    }
    if (P != nullptr) infer::congruence(static_cast<int>(M), static_cast<int>(N), H.data(), P, S);
  };
  return measure;
}

Truth truth_by_name(const Dataset& data, const std::vector<std::string>& state_names,
                    const std::vector<std::string>& channel_names, const Measure& measure) {
  const std::size_t N = measure.states, M = measure.channels, count = data.x_names.size();
  Columns columns{std::vector<int>(M, -1), std::vector<int>(N, -1)};
  bool of_a_state_alone = false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& full = data.x_names[i];
    const std::string name = full.starts_with("true_") ? full.substr(5) : full;
    const int m = index_of(channel_names, name), n = index_of(state_names, name);
    if (m >= 0 && n >= 0 && measure.measured_state[static_cast<std::size_t>(m)] != n)
      throw DataError(printable(fmt::format(
          "{}: the truth {} may be that of the measured column {} or of the state {}, which is "
          "something else; give the state another name in the equations, or leave the column out "
          "with --truth, which expects columns named true_<column> or true_<state>",
          source(data), full, name, name)));
    if (m >= 0) columns.of_channel[static_cast<std::size_t>(m)] = static_cast<int>(i);
    if (n >= 0 && m < 0) columns.of_state[static_cast<std::size_t>(n)] = static_cast<int>(i);
    of_a_state_alone = of_a_state_alone || (n >= 0 && m < 0);
  }
  if (any(columns.of_channel) || any(columns.of_state)) {
    Columns with_channels = columns;
    add_measured_states(measure, with_channels);
    const bool all = std::ranges::none_of(with_channels.of_state, [](int c) { return c < 0; });
    return sorted(data, of_a_state_alone || all ? with_channels : columns, measure);
  }
  if (count > 0) {
    columns = by_number(data, measure, false);
    if (!any(columns.of_channel) && !any(columns.of_state))
      throw DataError(printable(fmt::format(
          "{}: the truth has {} columns ({}), but none is named true_<column> after a measured "
          "column ({}) or true_<state> after a state ({}), and their number does not say which "
          "they are; name such columns with --truth",
          source(data), count, fmt::join(data.x_names, ", "), fmt::join(channel_names, ", "),
          fmt::join(state_names, ", "))));
  }
  return sorted(data, columns, measure);
}

Truth truth_in_order(const Dataset& data, const Measure& measure) {
  const Columns columns = by_number(data, measure, true);
  if (!data.x_names.empty() && !any(columns.of_channel) && !any(columns.of_state))
    throw DataError(printable(fmt::format(
        "{}: the truth has {} columns, but it must have {} (the measured channels) or {} (all "
        "states of the model)",
        source(data), data.x_names.size(), measure.channels, measure.states)));
  return sorted(data, columns, measure);
}

}  // namespace kalmia::study
