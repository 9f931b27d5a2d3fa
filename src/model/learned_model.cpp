#include "model/learned_model.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

#include "kalmia/error.hpp"
#include "model/description_checks.hpp"
#include "model/even_steps.hpp"

namespace kalmia::model {
namespace {

const ModelDescription& checked(const ModelDescription& d) {
  check_description(d);
  return d;
}

void attach(const prior::Expert& expert, FeatureSpec& features) {
  features.measured_state = expert.measured_state;
  features.channel_of_state.clear();
  for (const prior::StateKind& state : expert.states)
    features.channel_of_state.push_back(state.channel);
}

}  // namespace

void Units::to_user(const double* x, const double* P, double* mean, double* covariance) const {
  const std::size_t N = x_scale.size();
  for (std::size_t i = 0; i < N; ++i) {
    mean[i] = x_offset[i] + x_scale[i] * x[i];
    for (std::size_t j = 0; j < N; ++j)
      covariance[i * N + j] = x_scale[i] * x_scale[j] * P[i * N + j];
  }
}

Units make_units(const prior::Expert& expert, const std::vector<ChannelStatistics>& channels,
                 double dt) {
  Units units;
  for (const ChannelStatistics& channel : channels) {
    units.y_scale.push_back(expert.physical ? 1 : channel.step);
    units.y_offset.push_back(expert.physical ? 0 : channel.mean);
  }
  for (int n = 0; n < expert.state_dim(); ++n) {
    const prior::StateKind& state = expert.states[static_cast<std::size_t>(n)];
    if (expert.physical) {
      units.x_scale.push_back(expert.by_time(n) ? 1 : std::pow(dt, -state.derivative));
      units.x_offset.push_back(0);
      continue;
    }
    const auto c = static_cast<std::size_t>(state.channel);
    units.x_scale.push_back(units.y_scale[c] * std::pow(dt, -state.derivative));
    units.x_offset.push_back(state.derivative == 0 && state.holds_mean ? units.y_offset[c] : 0);
  }
  return units;
}

FeatureSpec make_features(const prior::Expert& expert,
                          const std::vector<ChannelStatistics>& channels,
                          const DriveStatistics& drive, const Units& units) {
  FeatureSpec features;
  features.use_dt = drive.irregular;
  features.u_mean = drive.u_mean;
  features.u_spread = drive.u_spread;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    features.mean.push_back((channels[c].mean - units.y_offset[c]) / units.y_scale[c]);
    features.spread.push_back(channels[c].spread / units.y_scale[c]);
    features.step.push_back(2 * channels[c].step / units.y_scale[c]);
    features.use_level.push_back(channels[c].wanders ? 0 : 1);
  }
  attach(expert, features);
  return features;
}

prior::Expert expert_of(const ModelDescription& d) {
  if (!prior::adds_parts(d.prior))
    return prior::make_expert(d.prior, d.measured_names, d.input_names);
  prior::ExpertSpec spec = d.prior;
  spec.dt = d.dt;
  return prior::make_expert(spec, d.measured_names, d.input_names);
}

heads::ArchitectureOptions architecture_options(const ModelDescription& description,
                                                const prior::Expert& expert) {
  heads::ArchitectureOptions options;
  options.state_dim = expert.state_dim();
  options.meas_dim = expert.meas_dim();
  options.input_dim = description.features.input_dim();
  options.encoder = description.encoder;
  options.taps = description.taps;
  options.hidden = description.hidden;
  options.decoder = description.decoder;
  options.head = description.head;
  return options;
}

heads::ArchitectureOptions smoother_options(const ModelDescription& description,
                                            const prior::Expert& expert,
                                            const SmootherSizes& sizes) {
  heads::ArchitectureOptions options = architecture_options(description, expert);
  options.hidden = sizes.hidden;
  options.decoder = sizes.decoder;
  smoother_entry(sizes.kind).set(options);
  return options;
}

template <typename T>
LearnedModel<T>::LearnedModel(ModelDescription description, std::vector<T> parameters,
                              std::vector<double> R)
    : description_(std::move(description)),
      expert_(expert_of(checked(description_))),
      architecture_(architecture_options(description_, expert_)),
      emission_(expert_.state_dim(), expert_.meas_dim(), expert_.H, std::move(R)) {
  check_description(description_, expert_);
  attach(expert_, description_.features);
  if (description_.tails > 0) robust_ = {.degrees_of_freedom = description_.tails};
  set_theta(description_.theta.empty() ? expert_.theta() : description_.theta);
  set_parameters(parameters);
}

template <typename T>
bool LearnedModel<T>::departs() const {
  return std::ranges::any_of(expert_.parameters,
                             [](const auto& each) { return std::isfinite(each.prior_std); });
}

template <typename T>
int LearnedModel<T>::most_empty_steps() const {
  const kalman::FlowMap* flow = description_.recursive() ? expert_.map->as_flow() : nullptr;
  return model::most_empty_steps(flow != nullptr && flow->any_step(), !is_static());
}

template <typename T>
void LearnedModel<T>::set_theta(const std::vector<double>& theta) {
  require_size("theta", theta.size(), expert_.parameters.size());
  if (!std::ranges::all_of(theta, [](double value) { return std::isfinite(value); }))
    throw ConfigError("model: an entry of theta is not finite");
  description_.theta = theta;
}

template <typename T>
void LearnedModel<T>::set_smoother(const SmootherSizes& sizes, std::span<const float> parameters) {
  std::unique_ptr<SmootherNetworks> networks;
  if (sizes.hidden > 0)
    networks = std::make_unique<SmootherNetworks>(smoother_options(description_, expert_, sizes),
                                                  parameters);
  description_.smoother = sizes;
  smoother_ = std::move(networks);
}

template <typename T>
heads::StateModel<T> LearnedModel<T>::smoother_window() const {
  heads::StateModel<T> result = window();
  if constexpr (std::is_same_v<T, float>) {
    result.architecture = &smoother_->architecture();
    result.network = &smoother_->network();
  }
  return result;
}

template <typename T>
heads::FusionModel<T> LearnedModel<T>::fusion_window() const {
  heads::FusionModel<T> result{.emission = &emission_,
                               .emission_map = expert_.emission.get(),
                               .theta = description_.theta.data(),
                               .parameters = static_cast<int>(description_.theta.size()),
                               .inputs = expert_.map->input_dim(),
                               .robust = description_.tails > 0 ? &robust_ : nullptr};
  if constexpr (std::is_same_v<T, float>) {
    result.architecture = &smoother_->architecture();
    result.network = &smoother_->network();
  }
  return result;
}

template <typename T>
std::vector<double> LearnedModel<T>::noise_std() const {
  if (!description_.noise_std.empty()) return description_.noise_std;
  const auto M = static_cast<std::size_t>(meas_dim());
  std::vector<double> deviations(M);
  for (std::size_t m = 0; m < M; ++m)
    deviations[m] = std::sqrt(emission_.R()[m * (M + 1)]) * description_.units.y_scale[m];
  return deviations;
}

template <typename T>
void LearnedModel<T>::measure(const double* x, double* y) const {
  const auto N = static_cast<std::size_t>(state_dim());
  if (expert_.emission == nullptr) {
    for (std::size_t m = 0; m < static_cast<std::size_t>(meas_dim()); ++m) {
      y[m] = 0;
      for (std::size_t n = 0; n < N; ++n) y[m] += expert_.H[m * N + n] * x[n];
    }
    return;
  }
  const std::vector<double> all = emission_lines(x);
  for (int m = 0; m < meas_dim(); ++m)
    y[m] = all[static_cast<std::size_t>(m * lanes::kLineLanes<double>)];
}

template <typename T>
std::vector<double> LearnedModel<T>::emission_at(const double* x) const {
  if (expert_.emission == nullptr) return expert_.H;
  const std::vector<double> all = emission_lines(x);
  std::vector<double> H;
  for (std::size_t i = static_cast<std::size_t>(meas_dim()) * lanes::kLineLanes<double>;
       i < all.size(); i += lanes::kLineLanes<double>)
    H.push_back(all[i]);
  return H;
}

// y and H of a nonlinear emission at x, in every lane.
template <typename T>
std::vector<double> LearnedModel<T>::emission_lines(const double* x) const {
  const auto N = static_cast<std::size_t>(state_dim());
  const auto M = static_cast<std::size_t>(meas_dim());
  constexpr std::size_t kLanes = lanes::kLineLanes<double>;
  Buffer<double> state((N + 1) * kLanes), result((M + M * N) * kLanes),
      scratch(expert_.emission->scratch_size());
  for (std::size_t i = 0; i < N * kLanes; ++i) state[i] = x[i / kLanes];
  const std::vector<double> no_inputs(description_.input_names.size() * kLanes);
  expert_.emission->forward(
      {state.data(), state.data() + N * kLanes, no_inputs.data(), description_.theta.data()},
      result.data(), result.data() + M * kLanes, scratch.data());
  return {result.data(), result.data() + result.size()};
}

template <typename T>
void LearnedModel<T>::set_parameters(std::span<const T> parameters) {
  require_size("the parameter block", parameters.size(),
               static_cast<std::size_t>(architecture_.parameters.size()));
  for (const T value : parameters)
    if (!std::isfinite(value)) throw ConfigError("model: a parameter is not finite");
  parameters_.resize(parameters.size());
  std::copy(parameters.begin(), parameters.end(), parameters_.data());
  network_.pack(architecture_, parameters_.data());
}

template class LearnedModel<float>;
template class LearnedModel<double>;

}  // namespace kalmia::model
