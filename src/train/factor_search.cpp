#include "train/factor_search.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numbers>

namespace kalmia::train {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Bounds of log s.
const double kLargestLog = std::log(1e6);
// What bars of 95 % are wide, in deviations, and over how many the step there is smoothed.
constexpr double kBar = 1.959964;
constexpr double kSmoothing = 0.1;
// Knots are about so many times as far as the one before, and there are so many at most; beyond the
// last one is this share of the values.
constexpr double kFarthest = 0.99;
constexpr double kKnotRatio = 3;
constexpr int kMostKnots = 6;
// The prior of what values that a model was not fitted to say beyond the others.
constexpr double kUnseenStd = 0.2;
// A prior as weak as this leaves the standard error to the values.
constexpr double kWeakStd = 3;
// A factor is not determined if the standard error of its logarithm is larger than this.
constexpr double kLargestError = 0.5;

double tail(double u) { return 0.5 * std::erfc(u / std::numbers::sqrt2); }

// The share of Gaussian errors beyond the smoothed step.
double share_beyond() { return 2 * tail(kBar / std::hypot(1, kSmoothing)); }

// What makes scores variances: with p the share beyond z, a score k (1(|u| > z) - p) has the
// variance k^2 p (1 - p), and its mean falls by k 2 z phi(z) for each unit of the logarithm of the
// bar. Both are the information if k is their ratio.
struct ScoreScale {
  double factor, information;
  ScoreScale() {
    constexpr double kShare = 0.05;
    const double slope = 2 * kBar * std::exp(-0.5 * kBar * kBar) / std::sqrt(2 * std::numbers::pi);
    factor = slope / (kShare * (1 - kShare));
    information = slope * factor;
  }
};

std::vector<double> knots_of(const std::vector<double>& distances) {
  std::vector<double> finite;
  std::ranges::copy_if(distances, std::back_inserter(finite),
                       [](double each) { return std::isfinite(each); });
  if (finite.empty()) return {1};
  const double least = *std::ranges::min_element(finite);
  const auto place = finite.begin() + static_cast<std::ptrdiff_t>(
                                          kFarthest * static_cast<double>(finite.size() - 1));
  std::ranges::nth_element(finite, place);
  const double largest = *place;
  if (!(least < largest)) return {least};
  const double range = std::log1p(largest) - std::log1p(least);
  const int count =
      std::clamp(1 + static_cast<int>(std::lround(range / std::log(kKnotRatio))), 2, kMostKnots);
  std::vector<double> knots;
  for (int i = 0; i < count; ++i)
    knots.push_back(std::expm1(std::log1p(least) + range * i / (count - 1)));
  knots.back() = largest;
  return knots;
}

// One value in the search: the share that each knot has in its log s, and its numbers.
struct Row {
  std::array<double, kMostKnots> share{};
  const PredictedValue* value = nullptr;
};

// The precision of a prior of log s at the knots, and of the logarithm of the noise's factor.
MatrixXd precision(const std::vector<double>& knots, double first, double further, double change,
                   double noise) {
  const auto K = static_cast<Eigen::Index>(knots.size());
  MatrixXd result = MatrixXd::Zero(K + 1, K + 1);
  result(K, K) = 1 / (noise * noise);
  result(0, 0) = 1 / (first * first);
  for (Eigen::Index i = 1; i < K; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double p = 1 / (change * change * (std::log1p(knots[at]) - std::log1p(knots[at - 1])));
    result(i, i) += p + 1 / (further * further);
    result(i - 1, i - 1) += p;
    result(i, i - 1) -= p;
    result(i - 1, i) -= p;
  }
  return result;
}

// Vectors of K + 1 numbers: log s at the knots, and the logarithm of the noise's factor.
class FactorSolver {
 public:
  FactorSolver(std::vector<Row> rows, Eigen::Index knots)
      : rows_(std::move(rows)), excess_(VectorXd::Ones(knots + 1)) {}

  // Under a prior N(centre, precision^-1).
  VectorXd solve(const VectorXd& centre, const MatrixXd& prior) {
    VectorXd logs = newton(centre, centre, prior);
    measure_excess(logs);
    return newton(logs, centre, prior);
  }

  // Standard errors at a solution under a prior.
  VectorXd errors(const VectorXd& logs, const MatrixXd& weak) const {
    const Terms terms = terms_at(logs);
    return (terms.information + weak).inverse().diagonal().cwiseSqrt();
  }

 private:
  struct Terms {
    VectorXd score;
    MatrixXd information;
  };

  // The score of a value, and the derivatives of log (s A + f F)^1/2, in `g`.
  double score_of(const Row& row, const VectorXd& logs, VectorXd& g) const {
    const Eigen::Index K = logs.size() - 1;
    double sum = 0;
    for (Eigen::Index j = 0; j < K; ++j) sum += row.share[static_cast<std::size_t>(j)] * logs(j);
    const double scaled = std::exp(sum) * row.value->state;
    const double rest = std::exp(logs(K)) * row.value->rest;
    const double variance = scaled + rest;
    for (Eigen::Index j = 0; j < K; ++j)
      g(j) = 0.5 * scaled / variance * row.share[static_cast<std::size_t>(j)];
    g(K) = 0.5 * rest / variance;
    const double u = std::sqrt(row.value->square / variance);
    return scale_.factor * (tail((kBar - u) / kSmoothing) - beyond_);
  }

  Terms terms_at(const VectorXd& logs) const {
    const Eigen::Index size = logs.size();
    Terms terms{VectorXd::Zero(size), MatrixXd::Zero(size, size)};
    VectorXd g(size);
    for (const Row& row : rows_) {
      const double score = score_of(row, logs, g);
      terms.score += score * g;
      terms.information.noalias() += scale_.information * g * g.transpose();
    }
    terms.score.array() /= excess_.array();
    const VectorXd root = excess_.cwiseSqrt().cwiseInverse();
    terms.information = (root.asDiagonal() * terms.information * root.asDiagonal()).eval();
    return terms;
  }

  // Scoring with steps that shrink where they overshoot.
  VectorXd newton(VectorXd at, const VectorXd& centre, const MatrixXd& prior) const {
    constexpr int kRounds = 100;
    constexpr double kLongest = 1, kPrecision = 1e-5;
    double length = 1, before = std::numeric_limits<double>::infinity();
    VectorXd last = at;
    for (int round = 0; round < kRounds; ++round) {
      const Terms terms = terms_at(at);
      const VectorXd gradient = terms.score - prior * (at - centre);
      const VectorXd step = (terms.information + prior).ldlt().solve(gradient);
      const double size = std::sqrt(std::max(0.0, gradient.dot(step)));
      if (size > before && length > 0.01) {
        length *= 0.5;
        at = 0.5 * (at + last);
        before = std::numeric_limits<double>::infinity();
        continue;
      }
      if (step.cwiseAbs().maxCoeff() < kPrecision) break;
      before = size;
      last = at;
      const double cut = std::min(1.0, kLongest / step.cwiseAbs().maxCoeff());
      at += length * cut * step;
      at = at.cwiseMax(-kLargestLog).cwiseMin(kLargestLog).eval();
    }
    return at;
  }

  void measure_excess(const VectorXd& logs) {
    Eigen::Index count = 2;
    for (const Row& row : rows_) count = std::max<Eigen::Index>(count, row.value->block + 1);
    MatrixXd blocks = MatrixXd::Zero(logs.size(), count);
    VectorXd squares = VectorXd::Zero(logs.size()), g(logs.size());
    for (const Row& row : rows_) {
      const VectorXd term = score_of(row, logs, g) * g;
      blocks.col(row.value->block) += term;
      squares += term.cwiseAbs2();
    }
    const double correction = static_cast<double>(count) / static_cast<double>(count - 1);
    for (Eigen::Index j = 0; j < logs.size(); ++j)
      if (squares(j) > 0)
        excess_(j) = std::max(1.0, correction * blocks.row(j).squaredNorm() / squares(j));
  }

  std::vector<Row> rows_;
  VectorXd excess_;  // D
  ScoreScale scale_;
  double beyond_ = share_beyond();
};

// All values, or those of one channel.
std::vector<Row> rows_of(const PredictedValues& predicted, const std::vector<double>& knots,
                         int channel) {
  std::vector<Row> rows;
  const std::size_t per = predicted.distances_of_one;
  for (std::size_t i = 0; i < predicted.values.size(); ++i) {
    const PredictedValue& value = predicted.values[i];
    if (channel >= 0 && value.channel != channel) continue;
    Row row;
    row.value = &value;
    bool reached = true;
    for (std::size_t m = 0; m < per; ++m) {
      const double distance = predicted.distances[i * per + m];
      reached = reached && std::isfinite(distance);
      const model::KnotWeights at = model::knot_weights(knots, distance);
      for (std::size_t k = 0; k < 2; ++k)
        if (at.weights[k] != 0) row.share[at.first + k] += at.weights[k] / static_cast<double>(per);
    }
    if (reached && value.state > 0 && value.state + value.rest > 0) rows.push_back(row);
  }
  return rows;
}

std::vector<double> numbers(const VectorXd& vector) { return {vector.begin(), vector.end()}; }

}  // namespace

FoundFactors search_factors(const PredictedValues& predicted, int channels,
                            const FactorPrior& prior, std::vector<double> knots) {
  FoundFactors found;
  if (knots.empty()) knots = knots_of(predicted.distances);
  const auto K = static_cast<Eigen::Index>(knots.size());
  const MatrixXd weak = precision(knots, kWeakStd, kWeakStd, kWeakStd, prior.noise);
  found.factors.steps = knots;
  found.factors.factors.clear();
  const auto add = [&](const VectorXd& logs, const VectorXd& errors, const VectorXd& of_all) {
    found.factors.factors.push_back(numbers(logs.head(K).array().exp().matrix()));
    found.log_error.push_back(numbers(errors.head(K)));
    std::vector<char>& determined = found.determined.emplace_back();
    for (Eigen::Index j = 0; j < K; ++j)
      determined.push_back(std::min(errors(j), of_all(j)) <= kLargestError);
  };
  FactorSolver all(rows_of(predicted, knots, -1), K);
  const VectorXd of_all =
      all.solve(VectorXd::Zero(K + 1),
                precision(knots, prior.first, prior.further, prior.change, prior.noise));
  const VectorXd errors = all.errors(of_all, weak);
  if (channels == 1 || predicted.distances_of_one > 1) {
    add(of_all, errors, errors);
    return found;
  }
  const MatrixXd around =
      precision(knots, prior.channel, prior.channel, prior.channel, prior.noise);
  for (int m = 0; m < channels; ++m) {
    FactorSolver one(rows_of(predicted, knots, m), K);
    const VectorXd logs = one.solve(of_all, around);
    add(logs, one.errors(logs, weak), errors);
  }
  return found;
}

FoundFactors search_factors(const PredictedValues& fitted, PredictedValues unseen, int channels,
                            double noise_std) {
  constexpr double kMostTogether = 1e9;
  const FoundFactors first = search_factors(fitted, channels, {.noise = noise_std});
  const std::size_t per = unseen.distances_of_one;
  for (std::size_t i = 0; i < unseen.values.size(); ++i) {
    PredictedValue& value = unseen.values[i];
    double log_sum = 0;
    for (std::size_t m = 0; m < per; ++m)
      log_sum += first.factors.log_factor(static_cast<std::size_t>(value.channel),
                                          unseen.distances[i * per + m]);
    value.state *= std::exp(log_sum / static_cast<double>(per));
  }
  FoundFactors found = search_factors(unseen, channels,
                                      {.first = kUnseenStd,
                                       .further = kUnseenStd,
                                       .change = kUnseenStd,
                                       .channel = kUnseenStd,
                                       .noise = noise_std},
                                      first.factors.steps);
  for (std::size_t m = 0; m < found.factors.factors.size(); ++m)
    for (std::size_t k = 0; k < found.factors.steps.size(); ++k) {
      double& factor = found.factors.factors[m][k];
      factor = std::clamp(factor * first.factors.factors[m][k], 1 / kMostTogether, kMostTogether);
      found.log_error[m][k] = std::hypot(found.log_error[m][k], first.log_error[m][k]);
    }
  return found;
}

}  // namespace kalmia::train
