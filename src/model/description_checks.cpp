#include "model/description_checks.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "kalman/matrix_checks.hpp"
#include "kalman/student.hpp"
#include "kalmia/error.hpp"

namespace kalmia::model {
namespace {

// Covariances are multiplied by them.
constexpr double kLargestFactor = 1e12;
// A learned value may be at its bound, and rounded.
constexpr double kBoundTolerance = 1e-9;

[[noreturn]] void refuse(const std::string& what, double value, const std::string& rule) {
  throw ConfigError("model: " + what + " = " + kalman::number_text(value) + ", but it must be " +
                    rule);
}

std::string entry(const std::string& what, std::size_t i) {
  return what + "[" + std::to_string(i) + "]";
}

void require_scales(const char* what, std::span<const double> scales) {
  for (std::size_t i = 0; i < scales.size(); ++i)
    if (!(scales[i] >= 1 / kLargestScale && scales[i] <= kLargestScale))
      refuse(entry(what, i), scales[i], "a finite number above 0, in 1e-150..1e150");
}

void require_offsets(const char* what, std::span<const double> values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(std::abs(values[i]) <= kLargestScale))
      refuse(entry(what, i), values[i], "a finite number within +-1e150");
}

void check_units(const Units& units, std::size_t M) {
  require_size("units.y_scale", units.y_scale.size(), M);
  require_size("units.y_offset", units.y_offset.size(), M);
  require_scales("units.y_scale", units.y_scale);
  require_scales("units.x_scale", units.x_scale);
  require_offsets("units.y_offset", units.y_offset);
  require_offsets("units.x_offset", units.x_offset);
}

void check_features(const FeatureSpec& features, std::size_t M, std::size_t U) {
  require_size("features.mean", features.mean.size(), M);
  require_size("features.spread", features.spread.size(), M);
  require_size("features.step", features.step.size(), M);
  require_size("features.use_level", features.use_level.size(), M);
  require_size("features.u_mean", features.u_mean.size(), U);
  require_size("features.u_spread", features.u_spread.size(), U);
  require_scales("features.spread", features.spread);
  require_scales("features.step", features.step);
  require_scales("features.u_spread", features.u_spread);
  require_offsets("features.mean", features.mean);
  require_offsets("features.u_mean", features.u_mean);
  for (std::size_t m = 0; m < M; ++m)
    if (features.use_level[m] != 0 && features.use_level[m] != 1)
      refuse(entry("features.use_level", m), features.use_level[m], "0 or 1");
}

void check_noise(const ModelDescription& d, std::size_t M) {
  if (!d.noise_std.empty()) require_size("noise_std", d.noise_std.size(), M);
  require_scales("noise_std", d.noise_std);
}

void check_factor(const std::string& what, double factor) {
  if (!(factor >= 1 / kLargestFactor && factor <= kLargestFactor))
    refuse(what, factor, "above 0, in 1e-12..1e12");
}

void check_factors(const std::string& what, const DistanceFactors& factors, std::size_t M) {
  const std::vector<double>& steps = factors.steps;
  if (steps.empty()) throw ConfigError("model: " + what + ".steps has no entries");
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (!(steps[i] >= 0) || std::isinf(steps[i]) || (i > 0 && steps[i] <= steps[i - 1]))
      refuse(entry(what + ".steps", i), steps[i], "at least 0 and above the one before it");
  if (!factors.shared()) require_size((what + ".factors").c_str(), factors.factors.size(), M);
  for (std::size_t m = 0; m < factors.factors.size(); ++m) {
    const std::string row = entry(what + ".factors", m);
    require_size(row.c_str(), factors.factors[m].size(), steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i)
      check_factor(entry(row, i), factors.factors[m][i]);
  }
  check_factor(what + ".unmeasured", factors.unmeasured);
}

void check_calibration(const Calibration& calibration, std::size_t M) {
  check_factors("calibration.filter", calibration.filter, M);
  check_factors("calibration.linearized", calibration.linearized, M);
  check_factors("calibration.trained", calibration.trained, M);
}

void require_spreads(const char* what, std::span<const double> spreads) {
  for (std::size_t i = 0; i < spreads.size(); ++i)
    if (!(spreads[i] > 0) || (spreads[i] > kLargestScale && !std::isinf(spreads[i])))
      refuse(entry(what, i), spreads[i], "above 0 and at most 1e150, or null");
}

void check_climate(const StateClimate& climate, std::size_t N, std::size_t M) {
  if (climate.spread.empty()) return;
  require_size("climate.mean", climate.mean.size(), N);
  require_size("climate.spread", climate.spread.size(), N);
  require_size("climate.measured_spread", climate.measured_spread.size(), M);
  require_offsets("climate.mean", climate.mean);
  require_spreads("climate.spread", climate.spread);
  require_spreads("climate.measured_spread", climate.measured_spread);
  const int n = static_cast<int>(N);
  kalman::check_matrix("model: climate.A", climate.A, n, n);
  kalman::check_matrix("model: climate.Q", climate.Q, n, n);
  require_offsets("climate.A", climate.A);
  require_offsets("climate.Q", climate.Q);
  kalman::check_symmetric("model: climate.Q", climate.Q, n);
  kalman::check_positive_semidefinite("model: climate.Q", climate.Q, n);
}

void check_theta(const std::vector<double>& theta, const prior::Expert& expert) {
  if (theta.empty()) return;
  require_size("theta", theta.size(), expert.parameters.size());
  for (std::size_t i = 0; i < theta.size(); ++i) {
    const prior::ExpertParameter& each = expert.parameters[i];
    const std::string what = entry("theta", i) + " (" + each.name + ")";
    if (!(std::abs(theta[i]) <= kLargestScale))
      refuse(what, theta[i], "a finite number within +-1e150");
    if (!each.learn) continue;
    const double slack = kBoundTolerance * std::max(1.0, std::abs(theta[i]));
    if (theta[i] < each.lower - slack || theta[i] > each.upper + slack)
      refuse(what, theta[i],
             "in " + kalman::number_text(each.lower) + ".." + kalman::number_text(each.upper));
  }
}

}  // namespace

void require_size(const char* what, std::size_t found, std::size_t needed) {
  if (found != needed)
    throw ConfigError(std::string("model: ") + what + " has " + std::to_string(found) +
                      " numbers, but " + std::to_string(needed) + " are needed");
}

void check_description(const ModelDescription& d) {
  if (!(d.dt >= 1 / kLargestScale && d.dt <= kLargestScale))
    refuse("dt", d.dt, "a finite number above 0, in 1e-150..1e150");
  const std::size_t M = d.measured_names.size();
  check_units(d.units, M);
  check_features(d.features, M, d.input_names.size());
  check_noise(d, M);
  if (!(d.tails == 0 || (d.tails >= 1 && d.tails <= kalman::kLargestDegreesOfFreedom)))
    refuse("tails", d.tails, "0 (Gaussian) or in 1..1e6");
  if (!(d.gap_trust >= 0 && d.gap_trust <= 1)) refuse("gap_trust", d.gap_trust, "in 0..1");
  if (!(d.iterated_noise > 0 && d.iterated_noise <= 1))
    refuse("iterated_noise", d.iterated_noise, "above 0 and at most 1");
}

void check_description(const ModelDescription& d, const prior::Expert& expert) {
  const auto N = static_cast<std::size_t>(expert.state_dim());
  require_size("units.x_scale", d.units.x_scale.size(), N);
  require_size("units.x_offset", d.units.x_offset.size(), N);
  check_theta(d.theta, expert);
  check_climate(d.climate, N, d.measured_names.size());
}

void check_ensemble(const Ensemble& ensemble) {
  const std::size_t M = ensemble.first().description().measured_names.size();
  if (ensemble.calibration) check_calibration(*ensemble.calibration, M);
  // One column may hold the deviations of all.
  const std::size_t columns = ensemble.data.noise_columns.size();
  if (columns > 1 && columns != M)
    throw ConfigError("model: data.noise_columns has " + std::to_string(columns) +
                      " names, but it must have none, one or one for each of " + std::to_string(M) +
                      " measured columns");
}

}  // namespace kalmia::model
