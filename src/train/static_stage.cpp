#include "train/static_stage.hpp"

#include <algorithm>
#include <cmath>

#include "infer/lane_fill.hpp"
#include "kalmia/error.hpp"
#include "model/batch.hpp"
#include "train/bfgs.hpp"
#include "train/noise_ceiling.hpp"
#include "train/noise_factor.hpp"

namespace kalmia::train {
namespace {

// Series are cut into segments that run side by side, each from the initial state: long enough that
// how they start hardly counts.
constexpr int kSegment = 512;
constexpr int kMostSteps = 1 << 16;
// Up to this many states the process noise may correlate them all; beyond, it is diagonal.
constexpr int kMostCorrelated = 16;
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

// Learned factors of damping stay between this and 1 less this.
constexpr double kLeastDamping = 1e-6;

double inverse_softplus(double y) { return y > 30 ? y : std::log(std::expm1(y)); }

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

// A free variable that stands for an entry of the decoder's bias: the entry itself, or, for a
// factor of damping, factor = 1 / (1 + exp(-v)), of which the bias holds the departure from the
// map's.
struct FreeEntry {
  std::ptrdiff_t offset = 0;
  bool damping = false;
  double of_map = 0;

  double start(double bias) const { return damping ? std::log(of_map / (1 - of_map)) : bias; }
  double factor(double v) const { return 1 / (1 + std::exp(-v)); }
  double bias(double v) const { return damping ? factor(v) - of_map : v; }
  double slope(double v) const { return damping ? factor(v) * (1 - factor(v)) : 1; }
};

// The negative log-likelihood of the training segments as a function of the free variables: the
// entries of the decoder's bias that are free, then those of R.
class StaticLikelihood {
 public:
  StaticLikelihood(model::LearnedModel<double>& model, const NoiseFactor& noise,
                   const ScaledData& data, const std::vector<Stretch>& segments,
                   std::vector<FreeEntry> free, ThreadTeam& team)
      : model_(model), noise_(noise), free_(std::move(free)) {
    const int count = static_cast<int>(segments.size());
    const int lanes = std::min(model::kGroupLanes, lanes::padded_lanes(count));
    int longest = 1;
    for (const Stretch& segment : segments) longest = std::max(longest, segment.steps());
    for (int first = 0; first < count; first += lanes) {
      model::LaneGroup<double>& group = groups_.emplace_back();
      infer::prepare_group(model.architecture(), longest, lanes, group);
      for (int lane = 0; lane < std::min(lanes, count - first); ++lane) {
        const Stretch& segment = segments[static_cast<std::size_t>(first + lane)];
        group.length[static_cast<std::size_t>(lane)] = segment.steps();
        measured_.add(data.measured(segment));
        infer::LaneMemory memory = infer::empty_memory(data.meas_dim());
        for (int k = 0; k < segment.steps(); ++k) {
          const double* now = data.at(segment.series, segment.begin + k);
          infer::fill_step(model.description().features, k, lane,
                           k == 0 ? nullptr : now - data.meas_dim(), now, memory, group);
        }
      }
      group.centre = {};  // a factor of damping acts on the state itself
    }
    engine_ =
        std::make_unique<model::BatchEngine<double>>(model.window(), team, longest, lanes, true);
    gradient_.resize(static_cast<std::size_t>(model.architecture().parameters.size()));
    d_R_.resize(static_cast<std::size_t>(data.meas_dim()) *
                static_cast<std::size_t>(data.meas_dim()));
  }

  void set(std::span<const double> x) {
    std::vector<double> parameters(model_.parameters().begin(), model_.parameters().end());
    for (std::size_t i = 0; i < free_.size(); ++i)
      parameters[static_cast<std::size_t>(free_[i].offset)] = free_[i].bias(x[i]);
    model_.set_parameters(parameters);
    if (noise_.size() > 0) model_.set_R(noise_.value(x.subspan(free_.size())));
  }

  // Half the engine's nll per measured value.
  double operator()(std::span<const double> x, std::span<double> gradient) {
    for (const double value : x)
      if (!(std::abs(value) < 1e6)) return std::nan("");
    try {
      set(x);
    } catch (const ConfigError&) {
      return std::nan("");  // an R that is no covariance in floating point
    }
    const double scale = 0.5 / measured_.values;
    const model::BatchResult result = engine_->gradient(groups_, scale, gradient_, d_R_);
    if (result.failed_lanes > 0) return std::nan("");
    for (std::size_t i = 0; i < free_.size(); ++i)
      gradient[i] = gradient_[static_cast<std::size_t>(free_[i].offset)] * free_[i].slope(x[i]);
    const std::vector<double> d_noise = noise_.gradient(x.subspan(free_.size()), d_R_);
    std::copy(d_noise.begin(), d_noise.end(),
              gradient.begin() + static_cast<std::ptrdiff_t>(free_.size()));
    return scale * result.nll;
  }

  /// In the user's units, from the value of the function.
  double loss(double value) const { return measured_.loss(2 * value * measured_.values); }

 private:
  model::LearnedModel<double>& model_;
  const NoiseFactor& noise_;
  std::vector<FreeEntry> free_;
  std::vector<model::LaneGroup<double>> groups_;
  std::unique_ptr<model::BatchEngine<double>> engine_;
  std::vector<double> gradient_, d_R_;
  Measured measured_;
};

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
    const prior::StateKind& state = expert.states[static_cast<std::size_t>(n)];
    const auto c = static_cast<std::size_t>(state.channel);
    const double unit = description.units.y_scale[c];
    const double per_time = expert.physical ? std::pow(description.dt, -state.derivative) : 1;
    const double step = channels[c].step / unit * per_time;
    const double spread = channels[c].spread / unit;
    if (state.derivative == 0)
      result.initial_e[static_cast<std::size_t>(n)] =
          (channels[c].mean - description.units.y_offset[c]) / unit;
    const double width = state.derivative == 0 ? kInitialSpreads * spread : 3 * step;
    const auto diagonal = static_cast<std::size_t>(lanes::triangle_index(n, n));
    result.initial_L[diagonal] = inverse_softplus(width);
    result.output[static_cast<std::size_t>(N * N + N) + diagonal] =
        inverse_softplus(state.derivative == 0 ? 0.5 * step : 0.2 * step);
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
  const model::Architecture& architecture = model->architecture();
  const int N = model->state_dim();

  std::vector<FreeEntry> free;
  const std::ptrdiff_t F = architecture.decoder.bias.back();
  const std::ptrdiff_t L = F + architecture.L_row();
  for (int i = 0; i < N; ++i)
    for (int j = N <= kMostCorrelated ? 0 : i; j <= i; ++j)
      free.push_back({L + lanes::triangle_index(i, j)});
  const std::vector<double>& damping = model->expert().damping;
  for (std::size_t i = 0; i < damping.size(); ++i)
    free.push_back({F + static_cast<std::ptrdiff_t>(i) * (N + 1), true, damping[i]});
  const NoiseFactor factor(noise.kind, data.meas_dim(), result.noise_floor);

  std::vector<double> x;
  for (const FreeEntry& entry : free)
    x.push_back(entry.start(model->parameters()[static_cast<std::size_t>(entry.offset)]));
  const std::vector<double> start = factor.start(result.R);
  x.insert(x.end(), start.begin(), start.end());
  const std::vector<double> beginning = x;
  StaticLikelihood likelihood(*model, factor, data, segments_of(training), free, team);
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
  if (factor.leave_floor(std::span(again).subspan(free.size())) && !fit.interrupted) {
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
    const auto held = static_cast<std::ptrdiff_t>(free.size());
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
      static_cast<std::size_t>(architecture.decoder.bias.back()), result.output.size());
  result.output.assign(bias.begin(), bias.end());
  // Damping becomes part of the map.
  std::fill_n(result.output.begin(), N * N, 0.0);
  for (std::size_t i = 0; i < free.size(); ++i)
    if (free[i].damping)
      result.description.prior_damping.push_back(
          std::clamp(free[i].factor(x[i]), kLeastDamping, 1 - kLeastDamping));
  result.R = model->emission().R();
  result.training_loss = likelihood.loss(fit.value);
  result.free_parameters = static_cast<int>(x.size());
  result.interrupted = fit.interrupted;
  return result;
}

}  // namespace kalmia::train
