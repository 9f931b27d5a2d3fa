#include "train/first_description.hpp"

#include "kalmia/error.hpp"
#include "model/smoothers.hpp"
#include "model/state_size.hpp"
#include "train/noise_columns.hpp"
#include "train/tails.hpp"

namespace kalmia::train {
namespace {

// Standard deviation of the departure from a rough map, and from none.
constexpr double kUsualDeparture = 0.01;
constexpr double kFreeDeparture = 1;
// The same of the coefficients of a polynomial one, which have no unit.
constexpr double kUsualCoefficient = 1;
// Degrees of freedom to begin with where they are learned.
constexpr double kStartTails = 4;

prior::ExpertSpec expert_spec(const ModelOptions& model, const std::string& name) {
  prior::ExpertSpec spec;
  spec.name = name;
  const bool lagged = name == "ar";
  spec.integration = {model.flow, lagged ? 0 : model.order, model.substeps};
  spec.lags = lagged ? model.order : 0;
  spec.latent = model.latent;
  if (name == "system") spec.system = model.system;
  spec.degree = model.departure_degree;
  spec.departure = model.departure >= 0      ? model.departure
                   : spec.degree > 1         ? kUsualCoefficient
                   : name == "linear-motion" ? kUsualDeparture
                   : name == "none"          ? kFreeDeparture
                                             : 0;
  return spec;
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

model::ModelDescription first_description(const FitContext& fit, const std::string& prior) {
  const Dataset& data = fit.data.training();
  const ModelOptions& options = fit.options.model;
  model::ModelDescription d;
  d.measured_names = data.y_names;
  d.input_names = data.u_names;
  d.prior = expert_spec(options, prior);
  d.time = data.time_kind;
  d.dt = fit.data.drive().dt;
  d.noise = options.noise;
  d.noise_std = typical_stds(data);
  d.tails = options.tails == "gaussian" ? 0
            : options.tails == "learn"  ? kStartTails
                                        : parse_tails(options.tails);
  d.encoder = nn::encoder_of_name(options.encoder);
  d.taps = options.taps;
  if (d.prior.degree > 1) {
    model::ModelDescription plain = d;
    plain.prior.departure = 0;
    const prior::Expert expert = model::expert_of(plain);
    plain.units = model::make_units(expert, fit.channels, d.dt);
    d.prior.frame = model::state_frame(expert, plain, fit.channels,
                                       model::channel_correlation(data, fit.channels));
  }
  const prior::Expert expert = model::expert_of(d);
  const model::SmootherEntry* smoother = model::find_smoother(options.smoother);
  if (smoother != nullptr && smoother->linear_gaussian && expert.emission != nullptr)
    throw ConfigError("model.smoother = " + options.smoother +
                      ", but the measurements are no linear functions of "
                      "the states; use recursive");
  d.units = model::make_units(expert, fit.channels, d.dt);
  d.features = model::make_features(expert, fit.channels, fit.data.drive(), d.units);
  return d;
}

}  // namespace kalmia::train
