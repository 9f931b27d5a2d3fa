#include "infer/future.hpp"

#include <algorithm>
#include <cmath>

#include "kalman/matrix_checks.hpp"
#include "kalmia/error.hpp"
#include "kalmia/text.hpp"

namespace kalmia::infer {
namespace {

using kalman::number_text;

std::string source_of_rows(const Dataset& rows) {
  return rows.source.empty() ? "the future inputs" : rows.source;
}

// The rows that go on from `series`; a file with one series needs no key.
const Series& rows_after(const Dataset& data, const Series& series, const Dataset& rows,
                         int horizon) {
  const auto found =
      data.series.size() == 1 && rows.series.size() == 1
          ? rows.series.begin()
          : std::ranges::find_if(rows.series, [&](const Series& o) { return o.key == series.key; });
  const std::string of = series.key.empty() ? "" : " of series \"" + printable(series.key) + "\"";
  if (found == rows.series.end() || found->steps < horizon)
    throw DataError(source_of_rows(rows) + ": " +
                    std::to_string(found == rows.series.end() ? 0 : found->steps) + " rows" + of +
                    ", but the horizon is " + std::to_string(horizon) +
                    " steps; each step that is forecast needs a row, in the order of time");
  return *found;
}

void check(const model::ModelDescription& model, const Dataset& data, const Dataset& rows) {
  if (rows.u_names.size() != model.input_names.size())
    throw DataError(source_of_rows(rows) + ": " + std::to_string(rows.u_names.size()) +
                    " columns of inputs, but the model has " +
                    std::to_string(model.input_names.size()));
  if (rows.time_kind != TimeKind::None && rows.time_kind != data.time_kind)
    throw DataError(source_of_rows(rows) + ": the column " + printable(rows.time_name) + " holds " +
                    (rows.time_kind == TimeKind::Date ? "dates" : "times") +
                    ", but the data that it goes on from have " +
                    (data.time_kind == TimeKind::None     ? "no time"
                     : data.time_kind == TimeKind::Number ? "numbers as time"
                                                          : "dates") +
                    "; leave the column out, or give both the same kind of time");
}

// Lengths of steps to these times, over the usual one; near it they count as it, as in the data.
std::vector<double> ratios(const Dataset& rows, const Series& series, const std::vector<double>& t,
                           double dt) {
  std::vector<double> lengths;
  double last = series.t.empty() ? std::nan("") : series.t.back();
  for (const double time : t) {
    if (!(time > last) && !std::isnan(last))
      throw DataError(source_of_rows(rows) + ": a row has the time " + number_text(time) +
                      " after " + number_text(last) +
                      ", but the rows follow the last one of the data, and time must rise");
    lengths.push_back(std::isnan(last) ? 1 : (time - last) / dt);
    last = time;
  }
  if (std::ranges::all_of(lengths, [](double x) { return std::abs(x - 1) <= model::kRegularStep; }))
    std::ranges::fill(lengths, 1.0);
  return lengths;
}

}  // namespace

Future future_of(const model::ModelDescription& model, const SeriesRun& run, const Dataset& data,
                 int s, const Dataset* rows, int horizon) {
  const Series& series = data.series[static_cast<std::size_t>(s)];
  const std::size_t U = model.input_names.size();
  Future future;
  if (rows == nullptr || rows->time_kind == TimeKind::None) {
    future.dt_ratio.assign(static_cast<std::size_t>(horizon), run.dt() / model.dt);
    if (data.time_kind != TimeKind::None) {
      // A series that never began has the time NaN.
      const double last = series.t.empty() ? std::nan("") : series.t.back();
      for (int i = 1; i <= horizon; ++i) future.t.push_back(last + i * run.dt());
    }
  }
  const double* held = series.steps == 0 ? nullptr : run.inputs(s, series.steps - 1);
  std::vector<double> last(U);
  if (held != nullptr) std::copy_n(held, U, last.begin());
  const Series* given = nullptr;
  if (rows != nullptr) {
    check(model, data, *rows);
    given = &rows_after(data, series, *rows, horizon);
    if (rows->time_kind != TimeKind::None) {
      future.t.assign(given->t.begin(), given->t.begin() + horizon);
      future.dt_ratio = ratios(*rows, series, future.t, model.dt);
    }
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(horizon) * U; ++i) {
    double& value = last[i % U];
    if (given != nullptr && std::isinf(given->u[i]))
      throw DataError(source_of_rows(*rows) + ", step " + std::to_string(i / U + 1) + ", column " +
                      printable(rows->u_names[i % U]) + ": the input is infinite");
    if (given != nullptr && !std::isnan(given->u[i])) value = given->u[i];
    future.u.push_back(value);
  }
  return future;
}

}  // namespace kalmia::infer
