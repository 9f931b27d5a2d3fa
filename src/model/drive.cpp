#include "model/drive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kalman/matrix_checks.hpp"
#include "kalmia/error.hpp"
#include "kalmia/text.hpp"

namespace kalmia::model {
namespace {

using kalman::number_text;

// An input whose spread is this share of its mean, or less, is constant but for rounding.
constexpr double kConstantInput = 1e-12;

std::string place(const Dataset& data, const Series& series, std::size_t step) {
  return (data.source.empty() ? "the data" : data.source) +
         (series.key.empty() ? "" : ", series \"" + printable(series.key) + "\"") + ", step " +
         std::to_string(step + 1);
}

double step_length(const Dataset& data, const Series& series, std::size_t k) {
  const double length = series.t[k] - series.t[k - 1];
  if (!(length > 0) || !std::isfinite(length))
    throw DataError(place(data, series, k) + ": the time is " + number_text(series.t[k]) +
                    " after " + number_text(series.t[k - 1]) +
                    ", but time must rise from step to step");
  return length;
}

// Inputs with missing values filled from before; from after, at the start.
std::vector<double> filled_inputs(const Dataset& data, const Series& series) {
  const std::size_t U = data.u_names.size();
  if (U == 0) return {};
  if (series.u.size() != static_cast<std::size_t>(series.steps) * U)
    throw DataError(place(data, series, 0) + ": " + std::to_string(series.u.size()) +
                    " inputs, but " + std::to_string(series.steps) + " steps of " +
                    std::to_string(U));
  std::vector<double> u = series.u;
  for (std::size_t c = 0; c < U; ++c) {
    double last = std::nan("");
    for (std::size_t i = c; i < u.size() && std::isnan(last); i += U) last = u[i];
    if (std::isnan(last) && !u.empty())
      throw DataError(place(data, series, 0) + ", column " + printable(data.u_names[c]) +
                      ": the input has no values");
    for (std::size_t i = c; i < u.size(); i += U) {
      if (std::isinf(u[i]))
        throw DataError(place(data, series, i / U) + ", column " + printable(data.u_names[c]) +
                        ": the input is infinite");
      if (std::isnan(u[i])) u[i] = last;
      last = u[i];
    }
  }
  return u;
}

// "0.01", or "60 s" where time is dates.
std::string step_text(double dt, TimeKind kind) {
  return fmt::format("{:.6g}{}", dt, kind == TimeKind::Date ? " s" : "");
}

}  // namespace

void check_time(const Dataset& data, TimeKind kind, double dt, const std::string& place) {
  const bool has_time = data.time_kind != TimeKind::None;
  if (!has_time && kind != TimeKind::None)
    throw DataError(place + ": there is no time, but the model was fitted with time, in steps of " +
                    step_text(dt, kind) +
                    "; name the column with --time, or fit a model without time");
  if (has_time && kind == TimeKind::None)
    throw DataError(place + ": there is time" +
                    (data.time_name.empty() ? "" : " (column " + printable(data.time_name) + ")") +
                    ", but the model was fitted without, and counts steps; take the time out of "
                    "the data, or fit a model with time");
  const bool has_steps =
      std::ranges::any_of(data.series, [](const Series& series) { return series.t.size() > 1; });
  const double step = data.step_size();
  // Steps that are not positive have a message of their own.
  if (!has_time || !has_steps || !(step > 0)) return;
  if (step > kOtherUnit * dt || dt > kOtherUnit * step)
    throw DataError(place + ": the time step is " + step_text(step, data.time_kind) +
                    " (the median), but the model was fitted with steps of " + step_text(dt, kind) +
                    ", and they may differ by a factor of " + number_text(kOtherUnit) +
                    " at most; is the time in another unit? Bring it to that of the fit, or fit a "
                    "model to data with such steps");
}

SeriesDrive series_drive(const Dataset& data, const Series& series, double dt) {
  SeriesDrive drive;
  drive.u = filled_inputs(data, series);
  if (series.t.size() < 2) return drive;
  std::vector<double> lengths = {dt};
  bool regular = true;
  for (std::size_t k = 1; k < series.t.size(); ++k) {
    lengths.push_back(step_length(data, series, k));
    const double departure = std::abs(lengths.back() - dt);
    regular = regular && departure <= kRegularStep * dt;
    if (departure <= kStepRounding * dt) lengths.back() = dt;
  }
  if (!regular) drive.dt = std::move(lengths);
  return drive;
}

DriveStatistics drive_statistics(const Dataset& data) {
  DriveStatistics result;
  result.dt = data.step_size();
  if (!(result.dt > 0))
    throw DataError("fit: the time step is " + number_text(result.dt) +
                    " (the median), but time must rise from step to step");
  const std::size_t U = data.u_names.size();
  std::vector<double> u;  // of all series, steps x U
  for (const Series& series : data.series) {
    const SeriesDrive drive = series_drive(data, series, result.dt);
    for (const double dt : drive.dt)
      result.furthest = std::max(result.furthest, std::abs(dt - result.dt));
    u.insert(u.end(), drive.u.begin(), drive.u.end());
  }
  result.irregular = result.furthest > kRegularStep * result.dt;
  result.u_mean.assign(U, 0.0);
  result.u_spread.assign(U, 0.0);
  const double steps = U == 0 ? 1.0 : std::max(1.0, static_cast<double>(u.size() / U));
  for (std::size_t i = 0; i < u.size(); ++i) result.u_mean[i % U] += u[i] / steps;
  for (std::size_t i = 0; i < u.size(); ++i)
    result.u_spread[i % U] += std::pow(u[i] - result.u_mean[i % U], 2) / steps;
  for (std::size_t c = 0; c < U; ++c) {
    const double spread = std::sqrt(result.u_spread[c]);
    const bool constant = !(spread > kConstantInput * std::abs(result.u_mean[c]));
    result.u_spread[c] = constant ? 1.0 : spread;
  }
  return result;
}

}  // namespace kalmia::model
