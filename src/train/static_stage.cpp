#include "train/static_stage.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

#include "infer/refine.hpp"
#include "kalman/classical/batch.hpp"
#include "kalmia/error.hpp"
#include "model/state_size.hpp"
#include "nn/softplus.hpp"
#include "train/bfgs.hpp"
#include "train/constant_search.hpp"
#include "train/noise_ceiling.hpp"
#include "train/segments.hpp"
#include "train/variables.hpp"

namespace kalmia::train {
namespace {

// A search for many variables goes most of its way on a part of the data: it costs less there, and
// what it learns of the curvature goes with it.
constexpr int kFirstSteps = 1 << 13;
constexpr std::size_t kManyVariables = 30;
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
// Standard deviations that the data state are never made smaller than by this factor.
constexpr double kLeastFactor = 0.1;

// Rounds of weights and searches for Student-t noise.
constexpr int kWeightRounds = 6;
// Standard deviations of the noise from which on a value is an outlier there.
constexpr double kOutlier = 4;
// Where constants of a map that is not linear are learned, and too many for a search of many
// starts, a second search begins with process noise this many times as large, on a part of the
// data; it is what counts if its loss on all of them is lower by this much. A filter whose map is
// wrong and whose noise is small loses its way, and then its loss says nothing about the map.
// Measured on a double pendulum, lengths and gravity 20 % (50 %) off: loss 1.8 (2.7) where the
// first search ended at 4.1 (189).
constexpr double kMoreNoise = 4;
constexpr double kClearlyLess = 1e-3;
// Maxima that a part of the data has are followed on all of them for so many iterations before the
// best is followed to its end; the others if their loss there, before, is no further above that of
// the first, after, than this many times what the first gained, and this.
constexpr int kFirstIterations = 12;
constexpr double kAsMuchGain = 2;
constexpr double kAboutAlike = 0.005;
// The search may take so many iterations, or so many for each of its variables.
constexpr int kIterations = 150;
constexpr int kIterationsPerVariable = 4;

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
    const model::StateSize size = model::state_size(expert, n, description, channels);
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
      if (!noise.R.empty())
        result.R[i * M + j] = noise.R[i * M + j] / unit;
      else if (i == j)
        result.R[i * M + j] = std::max(0.5 * square, ceiling[i * M + j]);
      double& floor = result.noise_floor.emplace_back(kCeilingShare * ceiling[i * M + j]);
      if (i == j) floor = std::max(floor, kNoiseFloor * kNoiseFloor * square);
      // A factor of standard deviations that are known may be small.
      if (!noise.R.empty())
        floor = i == j ? kLeastFactor * kLeastFactor * noise.R[i * M + j] / unit : 0;
    }
  return result;
}

// What was learned before, in place of where a search begins.
void begin_at(const StaticResult& from, StaticResult& result) {
  result.output = from.output;
  result.initial_e = from.initial_e;
  result.initial_L = from.initial_L;
  result.R = from.R;
  result.description.theta = from.description.theta;
}

// The process noise from which on it is suspiciously small, state by state: a share of where its
// search starts.
std::vector<double> small_noise(const StaticResult& start, double share) {
  const auto L = std::span(start.output).last(start.initial_L.size());
  std::vector<double> small;
  for (int n = 0; n < static_cast<int>(start.initial_e.size()); ++n)
    small.push_back(share * nn::softplus(L[static_cast<std::size_t>(lanes::triangle_index(n, n))]));
  return small;
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

// Adds independent noise of these variances to a packed factor L of the process noise.
void add_noise(const std::vector<double>& variances, std::span<double> packed_L) {
  const auto N = static_cast<Eigen::Index>(variances.size());
  Eigen::MatrixXd L = Eigen::MatrixXd::Zero(N, N);
  const auto at = [&](Eigen::Index i, Eigen::Index j) -> double& {
    return packed_L[static_cast<std::size_t>(
        lanes::triangle_index(static_cast<int>(i), static_cast<int>(j)))];
  };
  for (Eigen::Index i = 0; i < N; ++i)
    for (Eigen::Index j = 0; j <= i; ++j) L(i, j) = i == j ? nn::softplus(at(i, j)) : at(i, j);
  Eigen::MatrixXd Q = L * L.transpose();
  for (Eigen::Index i = 0; i < N; ++i) Q(i, i) += variances[static_cast<std::size_t>(i)];
  L = Q.llt().matrixL();
  for (Eigen::Index i = 0; i < N; ++i)
    for (Eigen::Index j = 0; j <= i; ++j)
      at(i, j) = i == j ? nn::inverse_softplus(L(i, j)) : L(i, j);
}

// What is not known of a polynomial departure: its p coefficients for each state, learned from n
// steps of noise s^2, leave p s^2 / n of what they predict uncertain, on the average over the data.
// The likelihood of the same data knows nothing of that, and a filter that trusts a map too much
// where it was never seen may lose its way for good.
std::vector<double> coefficients_error(const prior::StateFrame& frame, std::size_t coefficients,
                                       int steps) {
  // The noise of a step in units of StateFrame::step. Measured on `lorenz` of degree 4, 131,072
  // steps: NEES 0.58 with 1, 0.85 with 0.5.
  constexpr double kNoise = 0.35;
  const double share =
      static_cast<double>(coefficients) / static_cast<double>(frame.step.size()) / steps;
  std::vector<double> variances;
  for (const double step : frame.step) variances.push_back(share * std::pow(kNoise * step, 2));
  return variances;
}

// Without any process noise in some direction a filter for Student-t noise that has lost its way
// takes every value for an outlier, and stays lost. Measured on `lorenz` with 5 % of outliers and 2
// degrees of freedom: mean square error 30 without, 0.0011 with.
//
// A share of the steps that the search began with, less what outliers made of them: there, a
// channel's step was that of its noise.
std::vector<double> robust_floor(const StaticResult& start, const std::vector<double>& R,
                                 const std::vector<model::ChannelStatistics>& channels) {
  constexpr double kShare = 0.012;
  const prior::Expert expert = model::expert_of(start.description);
  const std::size_t M = channels.size();
  const auto L = std::span(start.output).last(start.initial_L.size());
  std::vector<double> variances;
  for (int n = 0; n < expert.state_dim(); ++n) {
    double step = nn::softplus(L[static_cast<std::size_t>(lanes::triangle_index(n, n))]);
    const int channel = expert.states[static_cast<std::size_t>(n)].channel;
    if (channel >= 0) {
      const auto c = static_cast<std::size_t>(channel);
      const double noise = std::sqrt(R[c * (M + 1)]) * start.description.units.y_scale[c];
      step *= std::min(1.0, noise / channels[c].step);
    }
    variances.push_back(std::pow(kShare * step, 2));
  }
  return variances;
}

// A search of no iterations: throws NumericalError if the likelihood is not finite there.
void check_start(StaticLikelihood& likelihood, std::vector<double> x) {
  BfgsOptions none;
  none.max_iterations = 0;
  minimise_bfgs([&](std::span<const double> at,
                    std::span<double> gradient) { return likelihood(at, gradient); },
                x, none);
}

// Throws NumericalError that names an equation of the user's that is not finite where the states
// start, if there is one.
void explain_start(const StaticResult& start) {
  const model::ModelDescription& d = start.description;
  if (d.prior.kind != prior::PriorKind::System) return;
  std::vector<double> x = start.initial_e;
  x.resize(d.prior.system.states.size());  // without those of parts
  const std::string place = prior::undefined_at(d.prior.system, d.measured_names, d.input_names,
                                                {x, d.dt, d.features.u_mean});
  if (place.empty()) return;
  std::string state;
  for (std::size_t n = 0; n < x.size(); ++n)
    state += fmt::format("{}{} = {:.4g}", n > 0 ? ", " : "", d.prior.system.states[n], x[n]);
  throw NumericalError(fmt::format(
      "{}: the expression or its derivative is not finite where the states start ({}); "
      "does it divide by zero there? Let the states start elsewhere (initial), or change "
      "it",
      place, state));
}

// Whether constants are learned of a map or an emission that is not linear.
bool learns_constants(const prior::Expert& expert, Constants constants) {
  return constants == Constants::Learned && !expert.linear &&
         std::ranges::any_of(expert.parameters, [](const prior::ExpertParameter& each) {
           return each.learn && !std::isfinite(each.prior_std);
         });
}

// Whether the constants of a user's equations are few enough for a search of many starts.
bool searches_constants(const prior::Expert& expert, const model::ModelDescription& description,
                        const StaticOptions& options) {
  const int constants = learned_constants(expert);
  return description.prior.kind == prior::PriorKind::System &&
         options.constants == Constants::Learned && constants > 0 &&
         constants <= kMostSearchedConstants;
}

// The maxima that search_constants finds from where `start` begins, under Gaussian noise.
std::vector<ConstantPoint> constant_maxima(const StaticResult& start, const NoiseFactor& factor,
                                           const ScaledData& data,
                                           const std::vector<StepRange>& training, ThreadTeam& team,
                                           const std::vector<double>& small,
                                           const ConstantSearchOptions& options) {
  StaticResult gaussian = start;
  gaussian.description.tails = 0;
  const auto model = gaussian.alone<double>();
  return search_constants(*model, factor, data, training, team, small, options);
}

// Those that have a value there, the best first.
void order_by(StaticLikelihood& likelihood, std::vector<ConstantPoint>& points) {
  for (ConstantPoint& each : points) {
    std::vector<double> gradient(each.variables.size());
    likelihood.begin_constants_at(each.theta);
    each.value = likelihood(each.variables, gradient);
  }
  std::erase_if(points, [](const ConstantPoint& each) { return !std::isfinite(each.value); });
  std::ranges::stable_sort(points, {}, &ConstantPoint::value);
}

// Takes over what was learned.
void take(const model::LearnedModel<double>& model, StaticResult& result) {
  const auto bias = model.parameters().subspan(
      static_cast<std::size_t>(model.architecture().decoder.bias.back()), result.output.size());
  result.output.assign(bias.begin(), bias.end());
  result.description.theta = model.theta();
  result.R = model.emission().R();
}

// Which values are outliers, by the weights of Student-t noise at a model's smoothed states, round
// after round: those of a round make the smoothed states of the next. Other values keep the weight
// they had: weights that follow each of them would take what the process noise has to explain.
class SmoothedWeights {
 public:
  SmoothedWeights(const ScaledData& data, const std::vector<StepRange>& segments, ThreadTeam& team)
      : team_(team) {
    for (const StepRange& segment : segments) pieces_.push_back(data.view(segment));
  }

  std::span<const infer::SeriesView> views() const { return weighted_; }

  void update(const model::LearnedModel<float>& model) {
    const auto name = [](int) { return std::string("the data"); };
    infer::RunSettings settings;
    settings.weights_given = !weighted_.empty();
    infer::FilterPass pass = infer::run_pass(model, weighted_.empty() ? pieces_ : weighted_,
                                             {true, true, true}, team_, name, settings);
    infer::smooth_pass(pass, team_, name);
    weights_ = infer::student_weights(model, pieces_, pass);
    const double nu = model.description().tails;
    const double outlier = (nu + 1) / (nu + kOutlier * kOutlier);
    const std::size_t M = static_cast<std::size_t>(pass.moments.meas_dim);
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      double* w = weights_.data() +
                  kalman::row_at(pass.moments, static_cast<int>(p), 0, pass.moments.meas_dim);
      for (std::size_t i = 0; i < static_cast<std::size_t>(pieces_[p].steps) * M; ++i) {
        const double stated = pieces_[p].weight == nullptr ? 1 : pieces_[p].weight[i];
        if (w[i] > outlier * stated) w[i] = stated;
      }
    }
    weighted_ = infer::weighted(pieces_, pass, weights_);
  }

 private:
  ThreadTeam& team_;
  std::vector<infer::SeriesView> pieces_, weighted_;
  std::vector<double> weights_;
};

}  // namespace

template <typename T>
std::unique_ptr<model::LearnedModel<T>> StaticResult::with_networks(int hidden,
                                                                    const std::vector<int>& decoder,
                                                                    std::uint64_t seed) const {
  model::ModelDescription sized = description;
  sized.hidden = hidden;
  sized.decoder = decoder;
  const prior::Expert expert = model::expert_of(sized);
  const heads::Architecture architecture(model::architecture_options(sized, expert));
  std::vector<T> parameters(static_cast<std::size_t>(architecture.parameters.size()));
  heads::initialise<T>(architecture, seed, 1, 1, parameters.data());
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

StaticResult begin_static(const model::ModelDescription& description,
                          const std::vector<model::ChannelStatistics>& channels,
                          const model::NoiseSpec& noise, const ScaledData& data,
                          const std::vector<StepRange>& training) {
  const bool full = noise.kind == model::NoiseSpec::Kind::LearnFull;
  return starting_point(description, channels, noise,
                        noise_ceiling(data, training, full, description.tails > 0).R);
}

StaticResult with_tails(StaticResult fitted, double degrees_of_freedom,
                        const std::vector<model::ChannelStatistics>& channels,
                        const model::NoiseSpec& noise) {
  fitted.description.tails = degrees_of_freedom;
  const std::vector<double> ceiling(fitted.R.size(), 0.0);
  const StaticResult start = starting_point(fitted.description, channels, noise, ceiling);
  add_noise(robust_floor(start, fitted.R, channels),
            std::span(fitted.output).last(fitted.initial_L.size()));
  return fitted;
}

StaticResult fit_static(const model::ModelDescription& description,
                        const std::vector<model::ChannelStatistics>& channels,
                        const model::NoiseSpec& noise, const ScaledData& data,
                        const std::vector<StepRange>& training, ThreadTeam& team,
                        const StaticOptions& options) {
  const bool full = noise.kind == model::NoiseSpec::Kind::LearnFull;
  const NoiseCeiling ceiling = noise_ceiling(data, training, full, description.tails > 0);
  StaticResult result = starting_point(description, channels, noise, ceiling.R);
  const StaticResult start = result;
  if (options.from != nullptr) begin_at(*options.from, result);
  const auto model = result.alone<double>();
  const NoiseFactor factor(noise.kind, data.meas_dim(), result.noise_floor);
  const std::vector<StepRange> segments =
      segments_of(training, model->expert().longest_period, options.most_steps);
  const std::vector<double> small = small_noise(start, options.small_noise);
  StaticLikelihood likelihood(*model, factor, data, segments, team, small, {}, options.constants);
  const bool written = description.prior.kind == prior::PriorKind::System;
  const bool searched = searches_constants(model->expert(), description, options);
  std::vector<double> theta = options.theta.empty() ? model->theta() : options.theta;
  if (written) likelihood.begin_constants_at(theta);
  std::vector<double> x = likelihood.start();
  std::vector<double> noisier = likelihood.start(kMoreNoise);
  const std::vector<double> beginning = x;
  BfgsOptions bfgs;
  bfgs.value_tolerance = options.value_tolerance;
  bfgs.max_iterations =
      options.max_iterations > 0
          ? options.max_iterations
          : std::max(kIterations, kIterationsPerVariable * static_cast<int>(x.size()));
  // The states of a user's equations have units of any size.
  if (written) bfgs.sizes = likelihood.sizes(x);
  // Student-t noise is fitted by the expectation-maximisation algorithm, with weights that are
  // given for a search: the robust filter's own depend on what is learned in a way that its
  // gradient does not know.
  SmoothedWeights weights(data, segments, team);
  std::unique_ptr<StaticLikelihood> given;
  const Objective objective = [&](std::span<const double> at, std::span<double> gradient) {
    return given ? (*given)(at, gradient) : likelihood(at, gradient);
  };
  const auto go_on = [&](int iteration, double value) {
    return !options.go_on || options.go_on(iteration, bfgs.max_iterations, likelihood.loss(value));
  };
  BfgsMemory curvature;
  BfgsResult fit;
  if (searched && options.from == nullptr && options.theta.empty()) {
    ConstantSearchOptions search{bfgs, {}};
    int iterations = 0;
    search.go_on = [&](double loss) {
      fit.interrupted = options.go_on && !options.go_on(++iterations, bfgs.max_iterations, loss);
      return !fit.interrupted;
    };
    std::vector<ConstantPoint> maxima =
        constant_maxima(result, factor, data, training, team, small, search);
    const auto follow = [&](ConstantPoint& point) {
      BfgsOptions some = bfgs;
      some.max_iterations = kFirstIterations;
      likelihood.begin_constants_at(point.theta);
      try {
        const BfgsResult followed =
            minimise_bfgs(objective, point.variables, some, go_on, &point.curvature);
        fit.interrupted = fit.interrupted || followed.interrupted;
        point.value = followed.value;
      } catch (const NumericalError&) {  // all data have no gradient there
        point.value = std::numeric_limits<double>::infinity();
      }
    };
    order_by(likelihood, maxima);
    if (description.tails == 0 && maxima.size() > 1 && !fit.interrupted) {
      const double before = maxima[0].value;
      follow(maxima[0]);
      for (std::size_t i = 1; i < maxima.size() && !fit.interrupted; ++i)
        if (maxima[i].value <
            maxima[0].value + kAsMuchGain * (before - maxima[0].value) + kAboutAlike)
          follow(maxima[i]);
      std::ranges::stable_sort(maxima, {}, &ConstantPoint::value);
      std::erase_if(maxima, [](const ConstantPoint& each) { return std::isinf(each.value); });
    }
    if (!maxima.empty()) {
      theta = maxima[0].theta;
      likelihood.begin_constants_at(theta);
      if (description.tails > 0) {  // under which the noise is another
        for (const StaticLikelihood::Constant& each : likelihood.constants())
          x[each.variable] = maxima[0].variables[each.variable];
      } else {
        x = maxima[0].variables;
        curvature = maxima[0].curvature;
      }
    }
  }
  try {
    if (description.tails == 0 && x.size() >= kManyVariables &&
        steps_of(segments) > 2 * kFirstSteps && !fit.interrupted) {
      StaticLikelihood first(*model, factor, data, thinned(segments, kFirstSteps), team, small, {},
                             options.constants);
      if (written) first.begin_constants_at(theta);
      minimise_bfgs([&](std::span<const double> at,
                        std::span<double> gradient) { return first(at, gradient); },
                    x, bfgs, go_on, &curvature);
    }
    // Smoothing for the weights is no place to find out that the start has no likelihood.
    if (description.tails > 0) check_start(likelihood, x);
    const int rounds = description.tails > 0 ? kWeightRounds : 1;
    for (int round = 0; round < rounds && !(round > 0 && fit.interrupted); ++round) {
      if (description.tails > 0) {
        likelihood.set(x);
        take(*model, result);
        weights.update(*result.alone<float>());
        given = std::make_unique<StaticLikelihood>(*model, factor, data, segments, team, small,
                                                   weights.views(), options.constants);
        if (written) given->begin_constants_at(theta);
      }
      BfgsOptions all = bfgs;
      if (fit.interrupted) all.max_iterations = 0;
      const bool stopped = fit.interrupted;
      fit = minimise_bfgs(objective, x, all, go_on, &curvature);
      fit.interrupted = fit.interrupted || stopped;
    }
  } catch (const NumericalError&) {
    explain_start(result);
    throw;
  }
  if (description.tails == 0 && !searched && learns_constants(model->expert(), options.constants) &&
      !fit.interrupted)
    try {
      StaticLikelihood part(*model, factor, data, thinned(segments, kFirstSteps), team, small, {},
                            options.constants);
      if (written) part.begin_constants_at(theta);
      fit.interrupted =
          minimise_bfgs([&](std::span<const double> at,
                            std::span<double> gradient) { return part(at, gradient); },
                        noisier, bfgs, go_on)
              .interrupted;
      std::vector<double> gradient(noisier.size());
      if (likelihood(noisier, gradient) < fit.value - kClearlyLess && !fit.interrupted) {
        x = noisier;
        fit = minimise_bfgs(objective, x, bfgs, go_on);
      }
    } catch (const NumericalError&) {  // not finite with so much noise
    }
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
  int held = -1;
  std::vector<double> R = model->emission().R();
  if (noise.learned() && noise.R.empty() && ceiling.firm && !fit.interrupted &&
      lower_to_ceiling(ceiling.R, R)) {
    const std::vector<double> lower = factor.start(R);
    const std::ptrdiff_t noise_begin = likelihood.noise_begin();
    const std::vector<double> ended = x;
    x = beginning;  // where there is process noise yet
    for (const StaticLikelihood::Constant& each : likelihood.constants())
      if (searched) x[each.variable] = ended[each.variable];
    std::copy(lower.begin(), lower.end(), x.begin() + noise_begin);
    const Objective without_noise = [&](std::span<const double> at, std::span<double> gradient) {
      const double value = objective(at, gradient);
      std::fill(gradient.begin() + noise_begin, gradient.end(), 0.0);
      return value;
    };
    fit = minimise_bfgs(without_noise, x, bfgs, go_on);
    likelihood.set(x);
    held = likelihood.noise_begin();
  }

  take(*model, result);
  if (written && !likelihood.constants().empty() && !fit.interrupted) {
    result.constants = constant_errors(likelihood, objective, x, likelihood.sizes(x), held);
    likelihood.set(x);
  }
  const auto learned_L = std::span(result.output).last(result.initial_L.size());
  if (description.prior.degree > 1 && description.prior.departure > 0)
    add_noise(
        coefficients_error(description.prior.frame, model->theta().size(), steps_of(segments)),
        learned_L);
  if (description.tails > 0) add_noise(robust_floor(start, result.R, channels), learned_L);
  std::vector<double> gradient(x.size());
  result.training_loss = likelihood.loss(given ? likelihood(x, gradient) : fit.value);
  result.free_parameters = static_cast<int>(x.size());
  result.interrupted = fit.interrupted;
  return result;
}

}  // namespace kalmia::train
