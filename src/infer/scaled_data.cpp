#include "infer/scaled_data.hpp"

#include <cmath>
#include <numbers>

namespace kalmia::infer {

ScaledData::ScaledData(const Dataset& data, const model::Units& units, double dt)
    : meas_dim_(data.meas_dim()), input_dim_(static_cast<int>(data.u_names.size())) {
  for (const double scale : units.y_scale) log_unit_.push_back(std::log(scale));
  const auto M = static_cast<std::size_t>(meas_dim_);
  for (const Series& series : data.series) {
    std::vector<double>& y = y_.emplace_back(series.y);
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = (y[i] - units.y_offset[i % M]) / units.y_scale[i % M];
    model::SeriesDrive& drive = drive_.emplace_back(model::series_drive(data, series, dt));
    for (double& length : drive.dt) length /= dt;
    irregular_ = irregular_ || !drive.dt.empty();
  }
}

void ScaledData::set_weights(const Dataset& data, const std::vector<double>& noise_std) {
  weight_.clear();
  if (data.std_names.empty()) return;
  const auto M = static_cast<std::size_t>(meas_dim_);
  for (const Series& series : data.series) {
    std::vector<double>& weight = weight_.emplace_back(series.y.size(), 1.0);
    for (std::size_t i = 0; i < weight.size(); ++i) {
      if (std::isnan(series.y[i])) continue;
      const double ratio = noise_std[i % M] / series.y_std[i];
      weight[i] = ratio * ratio;
    }
  }
}

Measured ScaledData::measured(const double* y) const {
  Measured result;
  for (int m = 0; m < meas_dim_; ++m)
    if (!std::isnan(y[m])) result.add({1, log_unit_[static_cast<std::size_t>(m)]});
  return result;
}

Measured ScaledData::measured(const StepRange& stretch) const {
  Measured result;
  for (int k = stretch.begin; k < stretch.end; ++k) result.add(measured(at(stretch.series, k)));
  return result;
}

double Measured::log_likelihood(double nll) const {
  return -0.5 * (nll + values * std::log(2 * std::numbers::pi)) - log_units;
}

}  // namespace kalmia::infer
