#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "kalmia/simulate.hpp"
#include "simulate/missing.hpp"

namespace kalmia {
namespace {

void check(const SpoilOptions& o) {
  std::string wrong;
  const auto require = [&](bool holds, const char* name, double value, const char* rule) {
    if (!holds) wrong += fmt::format("\n  {} = {}, but it must be {}", name, value, rule);
  };
  require(o.add_noise >= 0 && std::isfinite(o.add_noise), "add_noise", o.add_noise,
          ">= 0 and finite");
  require(o.missing >= 0 && o.missing < 1, "missing", o.missing, "in [0, 1)");
  require(o.missing_run >= 1 && std::isfinite(o.missing_run), "missing_run", o.missing_run,
          ">= 1 and finite");
  require(o.outliers >= 0 && o.outliers <= 1, "outliers", o.outliers, "in [0, 1]");
  require(o.outlier_size >= 0 && std::isfinite(o.outlier_size), "outlier_size", o.outlier_size,
          ">= 0 and finite");
  if (!wrong.empty()) throw ConfigError("spoil: invalid options:" + wrong);
}

// Standard deviation of a channel over all series; missing values do not count.
double channel_deviation(const Dataset& data, std::size_t channel) {
  const auto M = static_cast<std::size_t>(data.meas_dim());
  double count = 0, mean = 0, square = 0;
  for (const Series& series : data.series)
    for (std::size_t i = channel; i < series.y.size(); i += M) {
      const double value = series.y[i];
      if (std::isnan(value)) continue;
      count += 1;
      const double delta = value - mean;
      mean += delta / count;
      square += delta * (value - mean);
    }
  return count > 0 ? std::sqrt(square / count) : 0;
}

}  // namespace

void spoil(Dataset& data, const SpoilOptions& options, std::uint64_t seed) {
  check(options);
  if (data.x_names.empty()) {
    for (const std::string& name : data.y_names) data.x_names.push_back("true_" + name);
    for (Series& series : data.series) series.x = series.y;
  }
  const auto M = static_cast<std::size_t>(data.meas_dim());
  for (std::size_t m = 0; m < M; ++m) {
    const double deviation = channel_deviation(data, m);
    for (std::size_t s = 0; s < data.series.size(); ++s) {
      std::vector<double>& y = data.series[s].y;
      std::vector<std::size_t> measured;
      for (std::size_t i = m; i < y.size(); i += M)
        if (!std::isnan(y[i])) measured.push_back(i);
      // One stream per kind, channel and series: what one option does, no other one moves.
      RandomStream noise(seed, fmt::format("spoil noise {}", m), s);
      RandomStream outlier(seed, fmt::format("spoil outliers {}", m), s);
      RandomStream missing(seed, fmt::format("spoil missing {}", m), s);
      if (options.add_noise > 0)
        for (const std::size_t i : measured) y[i] += options.add_noise * noise.normal();
      const std::vector<char> is_outlier =
          simulation::choose_missing(measured.size(), options.outliers, 1, outlier);
      const std::vector<char> is_missing = simulation::choose_missing(
          measured.size(), options.missing, options.missing_run, missing);
      for (std::size_t i = 0; i < measured.size(); ++i) {
        double& value = y[measured[i]];
        if (is_outlier[i] != 0) value += options.outlier_size * deviation * outlier.normal();
        if (is_missing[i] != 0) value = std::numeric_limits<double>::quiet_NaN();
      }
    }
  }
}

}  // namespace kalmia
