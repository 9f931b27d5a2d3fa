#include "train/static_stage.hpp"

#include <algorithm>
#include <cmath>

#include "kalmia/error.hpp"
#include "nn/softplus.hpp"
#include "train/bfgs.hpp"
#include "train/noise_ceiling.hpp"
#include "train/noise_factor.hpp"
#include "train/static_likelihood.hpp"

namespace kalmia::train {
namespace {

// Series are cut into segments that run side by side, each from the initial state: long enough that
// how they start hardly counts.
constexpr int kSegment = 512;
constexpr int kMostSteps = 1 << 16;
// A learned R never falls below this share of a channel's step, squared: it keeps the likelihood of
// repeated values finite.
constexpr double kNoiseFloor = 0.01;
// Nor below this share of its ceiling, nor (given enough data) far above it. A map that is too
// simple for the system predicts as well with no measurement noise and more process noise, or takes
// all it cannot predict for measurement noise; smoothing then does nothing, or wipes out the
// signal. Measured: without the one, R of `lorenz` came out as 0.0001 (true: 0.25); without the
// other, that of a `random-linear` as 1.2, and the smoothed error as four times that of the data.
// At 0.5 instead of 0.75 the smoothed error of `lorenz` was 0.06 instead of 0.03, the others alike.
constexpr double kCeilingShare = 0.75;
constexpr double kAboveCeiling = 1.5;
// The initial state is as wide as this many spreads of the data: nearly diffuse.
constexpr double kInitialSpreads = 3;
// Of a state that no channel shows, a step adds this share of what it may be.
constexpr double kUnseenStep = 0.02;

std::vector<Stretch> segments_of(const std::vector<Stretch>& training) {
  std::vector<Stretch> all;
  std::ptrdiff_t steps = 0;
  for (const Stretch& stretch : training)
    for (int from = stretch.begin; from < stretch.end; from += kSegment) {
      all.push_back({stretch.series, from, std::min(stretch.end, from + kSegment)});
      steps += all.back().steps();
    }
  const std::ptrdiff_t every = (steps + kMostSteps - 1) / kMostSteps;
  if (every <= 1) return all;
  std::vector<Stretch> some;
  for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(every))
    some.push_back(all[i]);
  return some;
}

// A state before the first measurement, and the deviation of what a step adds to it, to begin with.
struct StateSize {
  double mean = 0, width = 1, step = 1;
};

// A map in physical units has derivatives by time, not by step.
StateSize size_of(const prior::Expert& expert, int n, const model::ModelDescription& description,
                  const std::vector<model::ChannelStatistics>& channels) {
  const prior::StateKind& state = expert.states[static_cast<std::size_t>(n)];
  const std::string& name = expert.state_names[static_cast<std::size_t>(n)];
  const auto given = std::find_if(expert.initial.begin(), expert.initial.end(),
                                  [&](const InitialState& each) { return each.name == name; });
  if (state.channel < 0) {
    // Nobody knows; as large as the largest of what is measured.
    double width = 0;
    for (const model::ChannelStatistics& channel : channels)
      width = std::max({width, std::abs(channel.mean), channel.spread});
    const double std = given == expert.initial.end() ? kInitialSpreads * width : given->std;
    return {given == expert.initial.end() ? 0 : given->mean, std, kUnseenStep * std};
  }
  const auto c = static_cast<std::size_t>(state.channel);
  const double unit = description.units.y_scale[c];
  const double per_time = expert.physical ? std::pow(description.dt, -state.derivative) : 1;
  const double step = channels[c].step / unit * per_time;
  StateSize size{0, 3 * step, 0.2 * step};
  if (state.derivative == 0)
    size = {(channels[c].mean - description.units.y_offset[c]) / unit,
            kInitialSpreads * channels[c].spread / unit, 0.5 * step};
  if (given != expert.initial.end()) size = {given->mean, given->std, size.step};
  return size;
}

// Where the search starts: each channel's step is shared out between measurement noise and the
// process noise of its highest derivative. A map in physical units has derivatives by time, not by
// step.
StaticResult starting_point(const model::ModelDescription& description,
                            const std::vector<model::ChannelStatistics>& channels,
                            const model::NoiseSpec& noise, const std::vector<double>& ceiling) {
  const prior::Expert expert = model::expert_of(description);
  const int N = expert.state_dim();
  StaticResult result;
  result.description = description;
  const auto triangle = static_cast<std::size_t>(lanes::triangle_size(N));
  result.output.assign(static_cast<std::size_t>(N * N + N) + triangle, 0.0);
  result.initial_e.assign(static_cast<std::size_t>(N), 0.0);
  result.initial_L.assign(triangle, 0.0);
  for (int n = 0; n < N; ++n) {
    const StateSize size = size_of(expert, n, description, channels);
    const auto diagonal = static_cast<std::size_t>(lanes::triangle_index(n, n));
    result.initial_e[static_cast<std::size_t>(n)] = size.mean;
    result.initial_L[diagonal] = nn::inverse_softplus(size.width);
    result.output[static_cast<std::size_t>(N * N + N) + diagonal] = nn::inverse_softplus(size.step);
  }
  const std::size_t M = channels.size();
  result.R.assign(M * M, 0.0);
  for (std::size_t i = 0; i < M; ++i)
    for (std::size_t j = 0; j < M; ++j) {
      const double unit = description.units.y_scale[i] * description.units.y_scale[j];
      const double square = channels[i].step * channels[j].step / unit;
      if (!noise.learned())
        result.R[i * M + j] = noise.R[i * M + j] / unit;
      else if (i == j)
        result.R[i * M + j] = std::max(0.5 * square, ceiling[i * M + j]);
      double& floor = result.noise_floor.emplace_back(kCeilingShare * ceiling[i * M + j]);
      if (i == j) floor = std::max(floor, kNoiseFloor * kNoiseFloor * square);
    }
  return result;
}

// Scales R (M x M) down where a channel's variance is far above its ceiling, to it. Returns whether
// there was such a channel.
bool lower_to_ceiling(const std::vector<double>& ceiling, std::vector<double>& R) {
  const auto M = static_cast<std::size_t>(std::lround(std::sqrt(R.size())));
  std::vector<double> scale(M, 1.0);
  for (std::size_t m = 0; m < M; ++m)
    if (R[m * (M + 1)] > kAboveCeiling * ceiling[m * (M + 1)])
      scale[m] = std::sqrt(ceiling[m * (M + 1)] / R[m * (M + 1)]);
  for (std::size_t i = 0; i < M; ++i)
    for (std::size_t j = 0; j < M; ++j) R[i * M + j] *= scale[i] * scale[j];
  return std::any_of(scale.begin(), scale.end(), [](double s) { return s < 1; });
}

}  // namespace

template <typename T>
std::unique_ptr<model::LearnedModel<T>> StaticResult::with_networks(int hidden,
                                                                    const std::vector<int>& decoder,
                                                                    std::uint64_t seed) const {
  model::ModelDescription sized = description;
  sized.hidden = hidden;
  sized.decoder = decoder;
  const prior::Expert expert = model::expert_of(sized);
  const model::Architecture architecture(model::architecture_options(sized, expert));
  std::vector<T> parameters(static_cast<std::size_t>(architecture.parameters.size()));
  model::initialise<T>(architecture, seed, 1, 1, parameters.data());
  const auto put = [&](std::ptrdiff_t offset, const std::vector<double>& values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      parameters[static_cast<std::size_t>(offset) + i] = static_cast<T>(values[i]);
  };
  put(architecture.decoder.bias.back(), output);
  put(architecture.initial_e, initial_e);
  put(architecture.initial_L, initial_L);
  return std::make_unique<model::LearnedModel<T>>(sized, std::move(parameters), R);
}

template std::unique_ptr<model::LearnedModel<float>> StaticResult::with_networks<float>(
    int, const std::vector<int>&, std::uint64_t) const;
template std::unique_ptr<model::LearnedModel<double>> StaticResult::with_networks<double>(
    int, const std::vector<int>&, std::uint64_t) const;

StaticResult fit_static(const model::ModelDescription& description,
                        const std::vector<model::ChannelStatistics>& channels,
                        const model::NoiseSpec& noise, const ScaledData& data,
                        const std::vector<Stretch>& training, ThreadTeam& team,
                        const StaticOptions& options) {
  const bool full = noise.kind == model::NoiseSpec::Kind::LearnFull;
  const NoiseCeiling ceiling = noise_ceiling(data, training, full);
  StaticResult result = starting_point(description, channels, noise, ceiling.R);
  const auto model = result.alone<double>();
  const NoiseFactor factor(noise.kind, data.meas_dim(), result.noise_floor);
  StaticLikelihood likelihood(*model, factor, data, segments_of(training), team);
  std::vector<double> x = likelihood.start();
  const std::vector<double> beginning = x;
  BfgsOptions bfgs;
  bfgs.max_iterations = options.max_iterations;
  const Objective objective = [&](std::span<const double> at, std::span<double> gradient) {
    return likelihood(at, gradient);
  };
  const auto go_on = [&](int iteration, double value) {
    return !options.go_on || options.go_on(iteration, likelihood.loss(value));
  };
  BfgsResult fit = minimise_bfgs(objective, x, bfgs, go_on);
  // Near its floor R hardly depends on its variables any more: a search that strayed there stays
  // there, maximum or not. So it is sent back once, from there.
  std::vector<double> again = x;
  if (factor.leave_floor(
          std::span(again).subspan(static_cast<std::size_t>(likelihood.noise_begin()))) &&
      !fit.interrupted) {
    const BfgsResult second = minimise_bfgs(objective, again, bfgs, go_on);
    fit.interrupted = second.interrupted;
    if (second.value < fit.value) {
      fit.value = second.value;
      x = again;
    }
  }
  likelihood.set(x);
  std::vector<double> R = model->emission().R();
  if (noise.learned() && ceiling.firm && !fit.interrupted && lower_to_ceiling(ceiling.R, R)) {
    const std::vector<double> lower = factor.start(R);
    const std::ptrdiff_t held = likelihood.noise_begin();
    x = beginning;  // where there is process noise yet
    std::copy(lower.begin(), lower.end(), x.begin() + held);
    const Objective without_noise = [&](std::span<const double> at, std::span<double> gradient) {
      const double value = likelihood(at, gradient);
      std::fill(gradient.begin() + held, gradient.end(), 0.0);
      return value;
    };
    fit = minimise_bfgs(without_noise, x, bfgs, go_on);
    likelihood.set(x);
  }

  const auto bias = model->parameters().subspan(
      static_cast<std::size_t>(model->architecture().decoder.bias.back()), result.output.size());
  result.output.assign(bias.begin(), bias.end());
  result.description.theta = model->theta();
  result.R = model->emission().R();
  result.training_loss = likelihood.loss(fit.value);
  result.free_parameters = static_cast<int>(x.size());
  result.interrupted = fit.interrupted;
  return result;
}

}  // namespace kalmia::train
