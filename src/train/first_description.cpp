#include "train/first_description.hpp"

#include "kalmia/error.hpp"
#include "model/state_size.hpp"
#include "train/noise_columns.hpp"

namespace kalmia::train {
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

model::ModelDescription first_description(const FitContext& fit, prior::PriorKind prior) {
  const Dataset& data = fit.data.training();
  const model::ModelSpec& spec = fit.spec.model;
  model::ModelDescription d;
  d.measured_names = data.y_names;
  d.input_names = data.u_names;
  d.prior = spec.expert(prior);
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
  return d;
}

}  // namespace kalmia::train
