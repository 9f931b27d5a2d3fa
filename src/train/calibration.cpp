#include "train/calibration.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.hpp"
#include "infer/combined.hpp"
#include "kalmia/error.hpp"

namespace kalmia::train {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixView = Eigen::Map<const RowMatrix>;
using VectorView = Eigen::Map<const Eigen::VectorXd>;

// Bounds of log s, and how finely it is searched before the best place is narrowed down.
const double kLargestLog = std::log(1000.0);
constexpr int kGrid = 120;
constexpr double kPrecision = 1e-7;
// A factor is not determined if the standard error of its logarithm is larger than this.
constexpr double kLargestError = 0.5;

// Random changes that the response is averaged over, their size in standard deviations of noise.
constexpr int kProbes = 4;
constexpr double kProbeSize = 0.1;
// Bounds of the logarithm of what the gain's covariance is multiplied by.
const double kLargestGainLog = std::log(10.0);

// One direction of one measurement: variance of its prediction over that of the noise, and the
// square of the residual over the same.
struct Direction {
  double d = 0;
  double square = 0;
};

void add_directions(std::span<const double> r, std::span<const double> S, std::span<const double> R,
                    std::vector<Direction>& out) {
  std::vector<Eigen::Index> measured;
  for (std::size_t m = 0; m < r.size(); ++m)
    if (!std::isnan(r[m])) measured.push_back(static_cast<Eigen::Index>(m));
  if (measured.empty()) return;
  const auto M = static_cast<Eigen::Index>(r.size());
  const RowMatrix noise = MatrixView(R.data(), M, M)(measured, measured);
  const RowMatrix A = RowMatrix(MatrixView(S.data(), M, M)(measured, measured)) - noise;
  const Eigen::LLT<RowMatrix> root(noise);
  const RowMatrix half = root.matrixL().solve(A);
  const RowMatrix B = root.matrixL().solve(half.transpose());
  const Eigen::SelfAdjointEigenSolver<RowMatrix> solver(0.5 * (B + B.transpose()));
  const Eigen::VectorXd e = VectorView(r.data(), M)(measured);
  const Eigen::VectorXd u = solver.eigenvectors().transpose() * root.matrixL().solve(e);
  for (Eigen::Index i = 0; i < u.size(); ++i)
    out.push_back({std::max(0.0, solver.eigenvalues()(i)), u(i) * u(i)});
}

std::vector<Direction> directions_of(std::span<const Innovations> innovations,
                                     std::span<const int> first, std::span<const double> R) {
  const auto M = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(R.size()))));
  std::vector<Direction> directions;
  for (std::size_t s = 0; s < innovations.size(); ++s) {
    const std::span<const double> r = innovations[s].residual, S = innovations[s].covariance;
    for (auto k = static_cast<std::size_t>(first[s]); k * M < r.size(); ++k)
      add_directions(r.subspan(k * M, M), S.subspan(k * M * M, M * M), R, directions);
  }
  return directions;
}

// Sum of the gains f d / (1 + f d) of predictions f times as wide.
double gain_of(double f, const std::vector<Direction>& directions) {
  double sum = 0;
  for (const Direction& each : directions) sum += f * each.d / (1 + f * each.d);
  return sum;
}

// The logarithm of the f that makes all gains together `response` times those of f = 1; by halving,
// within bounds.
double log_width(double response, const std::vector<Direction>& directions) {
  const double wanted = response * gain_of(1, directions);
  double low = -kLargestGainLog, high = kLargestGainLog;
  while (high - low > kPrecision) {
    const double middle = 0.5 * (low + high);
    (gain_of(std::exp(middle), directions) < wanted ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double loss(double log_s, const std::vector<Direction>& directions) {
  const double s = std::exp(log_s);
  double sum = 0;
  for (const Direction& each : directions)
    sum += std::log1p(s * each.d) + each.square / (1 + s * each.d);
  return sum;
}

// Takes the least value on a grid, then narrows its place down by golden sections.
double best_log(const std::vector<Direction>& directions) {
  const double width = 2 * kLargestLog / kGrid;
  int best = 0;
  double least = loss(-kLargestLog, directions);
  for (int i = 1; i <= kGrid; ++i) {
    const double value = loss(-kLargestLog + i * width, directions);
    if (value < least) {
      least = value;
      best = i;
    }
  }
  const double golden = 0.5 * (std::sqrt(5.0) - 1);
  double low = std::max(-kLargestLog, -kLargestLog + (best - 1) * width);
  double high = std::min(kLargestLog, -kLargestLog + (best + 1) * width);
  double a = high - golden * (high - low), b = low + golden * (high - low);
  double at_a = loss(a, directions), at_b = loss(b, directions);
  while (high - low > kPrecision) {
    if (at_a < at_b) {
      high = b;
      b = a;
      at_b = at_a;
      a = high - golden * (high - low);
      at_a = loss(a, directions);
    } else {
      low = a;
      a = b;
      at_a = at_b;
      b = low + golden * (high - low);
      at_b = loss(b, directions);
    }
  }
  return 0.5 * (low + high);
}

// The held-out stretches as series of their own, without truth.
Dataset stretches(const Dataset& data, const std::vector<HeldOut>& held_out) {
  Dataset result = data;
  result.series.clear();
  result.x_names.clear();
  const auto rows = [](const std::vector<double>& all, int width, const StepRange& stretch) {
    if (all.empty()) return all;
    return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(stretch.begin) * width,
                               all.begin() + static_cast<std::ptrdiff_t>(stretch.end) * width);
  };
  for (const HeldOut& each : held_out) {
    const Series& from = data.series[static_cast<std::size_t>(each.stretch.series)];
    Series& to = result.series.emplace_back();
    to.key = from.key;
    to.steps = each.stretch.steps();
    to.y = rows(from.y, data.meas_dim(), each.stretch);
    to.u = rows(from.u, data.input_dim(), each.stretch);
    to.t = rows(from.t, 1, each.stretch);
  }
  return result;
}

// H z of all steps of a series, in the user's units but without the offset.
std::vector<double> measured_states(const model::LearnedModel<float>& model,
                                    const StateEstimates& states) {
  const model::Units& units = model.description().units;
  const std::size_t N = units.x_scale.size(), M = units.y_scale.size();
  std::vector<double> x(N), y(static_cast<std::size_t>(states.steps) * M);
  for (std::size_t k = 0; k < static_cast<std::size_t>(states.steps); ++k) {
    for (std::size_t n = 0; n < N; ++n)
      x[n] = (states.mean[k * N + n] - units.x_offset[n]) / units.x_scale[n];
    model.measure(x.data(), y.data() + k * M);
    for (std::size_t m = 0; m < M; ++m) y[k * M + m] *= units.y_scale[m];
  }
  return y;
}

bool has_networks(const Model::Impl& model) { return !model.first().is_static(); }

}  // namespace

Response own_response(const Model& model, const Dataset& data, std::span<const int> first,
                      const SmoothOptions& smoothing, double gain, int probes, int threads) {
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const std::vector<double> R = model.noise();
  std::vector<double> found;
  for (int p = 0; p < probes; ++p) {
    double sum = 0;
    std::vector<std::vector<double>> signs;
    for (std::size_t s = 0; s < data.series.size(); ++s) {
      RandomStream random(static_cast<std::uint64_t>(p), "probes of a smoother", s);
      std::vector<double>& each = signs.emplace_back(data.series[s].y.size());
      for (double& sign : each) sign = random.below(2) == 0 ? -1 : 1;
    }
    for (const double direction : {-1.0, 1.0}) {
      Dataset moved = data;
      for (std::size_t s = 0; s < moved.series.size(); ++s)
        for (std::size_t i = 0; i < moved.series[s].y.size(); ++i)
          moved.series[s].y[i] +=
              direction * kProbeSize * signs[s][i] * std::sqrt(R[i % M * (M + 1)]);
      const Estimates smoothed =
          infer::analyse_members(model.impl(), moved, threads, {.smoothed = true}, smoothing)
              .analysis.smoothed;
      for (std::size_t s = 0; s < moved.series.size(); ++s) {
        const std::vector<double> seen = measured_states(model.impl().first(), smoothed.series[s]);
        for (std::size_t i = static_cast<std::size_t>(first[s]) * M; i < seen.size(); ++i)
          if (!std::isnan(data.series[s].y[i]))
            sum += direction * signs[s][i] * seen[i] / std::sqrt(R[i % M * (M + 1)]);
      }
    }
    found.push_back(sum / (2 * kProbeSize) / gain);
  }
  Response result{std::accumulate(found.begin(), found.end(), 0.0) / probes, 0};
  double squares = 0;
  for (const double each : found) squares += (each - result.mean) * (each - result.mean);
  result.error = std::sqrt(squares / (probes * (probes - 1.0)));
  return result;
}

FitFactor find_factor(std::span<const Innovations> innovations, std::span<const int> first,
                      std::span<const double> R, double further_error) {
  const std::vector<Direction> directions = directions_of(innovations, first, R);
  FitFactor result;
  const double factor = std::exp(best_log(directions));
  double information = 0;
  for (const Direction& each : directions) {
    const double share = factor * each.d / (1 + factor * each.d);
    information += 0.5 * share * share;
  }
  result.log_error = std::hypot(1 / std::sqrt(information), further_error);
  result.determined = result.log_error <= kLargestError;
  if (result.determined) result.factor = factor;
  return result;
}

std::vector<FitFactor> find_factors(const Model& model, const Dataset& data,
                                    const std::vector<HeldOut>& held_out, int threads) {
  const Dataset shown = stretches(data, held_out);
  const std::vector<double> R = model.noise();
  std::vector<int> first;
  for (const HeldOut& each : held_out) first.push_back(each.score_from - each.stretch.begin);
  std::vector<FitFactor> factors;
  const auto add = [&](const std::string& what, const std::vector<Innovations>& innovations,
                       double further_error) {
    factors.push_back(find_factor(innovations, first, R, further_error));
    factors.back().what = what;
  };
  const infer::RawAnalysis filtered =
      infer::analyse_members(model.impl(), shown, threads, {.innovations = true}, {});
  add("filter", filtered.analysis.innovations, 0);
  const std::string trained = model.impl().trained_smoother();
  for (const std::string& method : {std::string("linearized"), trained}) {
    if (method.empty()) continue;
    const SmoothOptions smoothing{.method = method == trained ? "auto" : method};
    infer::RequestedResults parts{.smoothed = true, .left_out = true};
    double width_error = 0;
    infer::RawAnalysis smoothed =
        infer::analyse_members(model.impl(), shown, threads, parts, smoothing);
    // Networks that read the future never see the measurement that they predict.
    if (method != trained && has_networks(model.impl())) {
      double gain = 0;
      for (std::size_t s = 0; s < first.size(); ++s)
        gain = std::accumulate(smoothed.own_gain[s].begin() + first[s], smoothed.own_gain[s].end(),
                               gain);
      if (gain > 0) {
        const std::vector<Direction> directions = directions_of(smoothed.left_out, first, R);
        const Response response =
            own_response(model, shown, first, smoothing, gain, kProbes, threads);
        const double log_f = log_width(response.mean, directions);
        parts.response = std::exp(log_f);
        // The factor goes at most with the square of f.
        width_error = 2 * (log_width(response.mean + response.error, directions) - log_f);
        smoothed = infer::analyse_members(model.impl(), shown, threads, parts, smoothing);
      }
    }
    add(method, smoothed.left_out, width_error);
  }
  return factors;
}

FoundCalibration calibrate(const FitContext& fit, const Model& finished) {
  if (fit.little_data())
    return {{},
            {},
            {"too little data to hold out any: covariances are not calibrated, but as computed"}};
  FoundCalibration found;
  try {
    found.factors =
        find_factors(finished, fit.data.all(), fit.split().held_out, fit.spec.train.threads);
  } catch (const NumericalError& error) {
    found.notes.push_back(std::string("covariances are not calibrated, but as computed: ") +
                          error.what());
    return found;
  }
  model::Calibration& factors = found.calibration.emplace();
  for (const FitFactor& each : found.factors) {
    (each.what == "filter"       ? factors.filter
     : each.what == "linearized" ? factors.linearized
                                 : factors.trained) = each.factor;
    if (!each.determined)
      found.notes.push_back("the held-out measurements say too little about the covariances (" +
                            each.what + "): they are not calibrated, but as computed");
  }
  return found;
}

}  // namespace kalmia::train
