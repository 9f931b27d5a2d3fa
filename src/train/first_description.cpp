#include "train/first_description.hpp"

#include <algorithm>
#include <cmath>

#include "kalmia/error.hpp"
#include "model/state_size.hpp"
#include "train/yule_walker.hpp"

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

namespace {

// Degrees of freedom to begin with where they are learned.
constexpr double kStartTails = 4;

// 0: Gaussian.
double starting_tails(const model::Tails& tails) {
  if (model::is_gaussian(tails)) return 0;
  const auto* given = std::get_if<model::StudentTails>(&tails);
  return given != nullptr ? given->degrees_of_freedom : kStartTails;
}

}  // namespace

DataOptions columns_of(const FitContext& fit) {
  const Dataset& data = fit.data.training();
  DataOptions columns = fit.data_options;
  columns.measure = data.y_names;
  columns.noise_columns = data.std_names;
  // One column may hold the deviations of all.
  if (columns.noise_columns.size() > 1 && columns.noise_columns[0] == columns.noise_columns[1])
    columns.noise_columns.resize(1);
  return columns;
}

prior::DataAxes step_length(const FitContext& fit) {
  const Dataset& data = fit.data.training();
  return {data.y_names, fit.data.drive().dt, data.time_kind == TimeKind::Date};
}

model::ModelDescription first_description(const FitContext& fit, const prior::ExpertSpec& prior) {
  const Dataset& data = fit.data.training();
  const model::ModelSpec& spec = fit.spec.model;
  model::ModelDescription d;
  d.measured_names = data.y_names;
  d.input_names = data.u_names;
  d.prior = prior;
  d.time = data.time_kind;
  d.dt = fit.data.drive().dt;
  d.noise = spec.noise.text;
  d.noise_std = typical_stds(data);
  d.tails = starting_tails(spec.tails);
  d.encoder = spec.networks.encoder;
  d.taps = spec.networks.taps;
  if (d.prior.degree > 1) {
    model::ModelDescription plain = d;
    plain.prior.departure = 0;
    if (prior::adds_parts(plain.prior)) plain.prior.parts.clear();  // the equations depart alone
    const prior::Expert expert = model::expert_of(plain);
    plain.units = model::make_units(expert, fit.channels, d.dt);
    d.prior.frame = model::state_frame(expert, plain, fit.channels,
                                       model::channel_correlation(data, fit.channels));
  }
  const prior::Expert expert = model::expert_of(d);
  const model::SmootherEntry* smoother = spec.trained_smoother();
  if (smoother != nullptr && smoother->linear_gaussian && expert.emission != nullptr)
    throw ConfigError("smoother = \"" + std::string(smoother->name) +
                      "\", but the measurements are no linear functions of the states; take "
                      "recursive");
  d.units = model::make_units(expert, fit.channels, d.dt);
  d.features = model::make_features(expert, fit.channels, fit.data.drive(), d.units);
  if (!(prior.departure > 0)) d.theta = starting_constants(prior, expert, data);
  return d;
}

}  // namespace kalmia::train
