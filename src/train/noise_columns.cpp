#include "train/noise_columns.hpp"

#include <algorithm>
#include <cmath>

#include "kalmia/error.hpp"

namespace kalmia::train {

std::vector<double> typical_stds(const Dataset& data) {
  const std::size_t M = data.std_names.size();
  std::vector<double> typical(M, 1.0);
  for (std::size_t m = 0; m < M; ++m) {
    std::vector<double> stds;
    for (const Series& series : data.series)
      for (std::size_t i = m; i < series.y_std.size(); i += M)
        if (!std::isnan(series.y[i])) stds.push_back(series.y_std[i]);
    if (stds.empty()) continue;
    const auto middle = stds.begin() + static_cast<std::ptrdiff_t>(stds.size() / 2);
    std::nth_element(stds.begin(), middle, stds.end());
    typical[m] = *middle;
  }
  return typical;
}

model::NoiseSpec noise_of(const Dataset& data, const model::ModelSpec& spec) {
  model::NoiseSpec noise = model::noise_of_channels(spec.noise, data.meas_dim());
  if (data.std_names.empty()) return noise;
  if (!noise.learned())
    throw ConfigError("noise = \"" + spec.noise.text +
                      "\", but the data say how noisy each value is (noise_columns); leave noise "
                      "out, or take learn for a common factor");
  if (spec.calibrate)
    throw ConfigError(
        "calibrate does not know the noise of each value (noise_columns); leave one of them out");
  if (spec.smoother)
    throw ConfigError("smoother = \"" + std::string(model::smoother_name(*spec.smoother)) +
                      "\", but it does not use the noise of each value (noise_columns); take "
                      "linearized");
  if (std::holds_alternative<model::NoiseOfData>(spec.noise.value))
    noise.kind = model::NoiseSpec::Kind::Given;
  const std::vector<double> stds = typical_stds(data);
  noise.R.assign(stds.size() * stds.size(), 0.0);
  for (std::size_t m = 0; m < stds.size(); ++m) noise.R[m * (stds.size() + 1)] = stds[m] * stds[m];
  return noise;
}

}  // namespace kalmia::train
