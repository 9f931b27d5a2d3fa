#include "infer/risk.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.hpp"
#include "infer/filter_pass.hpp"
#include "infer/refine.hpp"
#include "kalman/classical/batch.hpp"

namespace kalmia::infer {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// This is s of the comment in the header.
constexpr double kStep = 0.25;

// Noise of all values (steps x M) of each piece, with covariance R, or as their weights say.
std::vector<std::vector<double>> draw_noise(const model::LearnedModel<float>& model,
                                            std::span<const SeriesView> pieces, int probe) {
  const int M = model.meas_dim();
  const RowMatrix root =
      Eigen::Map<const RowMatrix>(model.emission().R().data(), M, M).llt().matrixL();
  RandomStream random(1, "risk", static_cast<std::uint64_t>(probe));
  std::vector<std::vector<double>> noise;
  Eigen::VectorXd signs(M);
  for (const SeriesView& each : pieces) {
    std::vector<double>& own = noise.emplace_back();
    for (int k = 0; k < each.steps; ++k) {
      for (double& sign : signs) sign = random.uniform() < 0.5 ? -1 : 1;
      const Eigen::VectorXd n = root * signs;
      own.insert(own.end(), n.begin(), n.end());
    }
    if (each.weight != nullptr)
      for (std::size_t i = 0; i < own.size(); ++i) own[i] /= std::sqrt(each.weight[i]);
  }
  return noise;
}

// h of the estimated states and its variances, steps x M of each piece.
struct Estimated {
  std::vector<std::vector<double>> y, variance;
};

// The estimates after `times` this noise was added to y.
Estimated estimated(const model::LearnedModel<float>& model, std::span<const SeriesView> pieces,
                    RiskOf estimator, const std::vector<std::vector<double>>& noise, double times,
                    ThreadTeam& team) {
  const int M = model.meas_dim(), N = model.state_dim();
  Estimated result;
  std::vector<SeriesView> moved;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const SeriesView& piece = moved.emplace_back(pieces[p]);
    std::vector<double>& own = result.y.emplace_back(noise[p]);
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = piece.y[i] + times * own[i];
    moved.back().y = own.data();
  }
  const auto name = [](int piece) { return "piece " + std::to_string(piece + 1); };
  FilterPass pass = run_pass(model, moved, {true, true, true}, team, name);
  if (estimator == RiskOf::Linearized) {
    smooth_pass(pass, team, name);
    refine_pass(model, moved, pass, {}, team, name);
  } else if (estimator == RiskOf::Networks) {
    smooth_by_networks(model, moved, pass, team, name);
  }
  const Moments& moments =
      estimator == RiskOf::Filtered ? pass.moments.filtered : pass.moments.smoothed;
  std::vector<double> H = model.expert().H;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    std::vector<double>& variance = result.variance.emplace_back();
    for (int k = 0; k < moved[p].steps; ++k) {
      const double* x =
          moments.mean.data() + kalman::row_at(pass.moments, static_cast<int>(p), k, N);
      const double* P =
          moments.covariance.data() + kalman::row_at(pass.moments, static_cast<int>(p), k, N * N);
      model.measure(x, result.y[p].data() + static_cast<std::ptrdiff_t>(k) * M);
      if (model.expert().emission != nullptr) H = model.emission_at(x);
      for (int m = 0; m < M; ++m) {
        const double* h = H.data() + static_cast<std::ptrdiff_t>(m) * N;
        double sum = 0;
        for (int i = 0; i < N; ++i)
          for (int j = 0; j < N; ++j) sum += h[i] * P[i * N + j] * h[j];
        variance.push_back(sum);
      }
    }
  }
  return result;
}

// The terms of a residual u in units of the noise: what stands for u^2 and for the 2 before
// dy_s / dy, and what the estimate is divided by.
struct Terms {
  double square, slope, divisor;
};

Terms terms_of(double u, double nu) {
  if (nu == 0) return {u * u, 2, 1};
  const double w = (nu + 1) / (nu + u * u);
  return {w * u * u, 2 * nu / (nu + 3) * w, (nu + 1) * (nu + 2) / ((nu + 3) * (nu + 5))};
}

}  // namespace

Risk estimated_risk(const model::LearnedModel<float>& model, std::span<const SeriesView> all,
                    std::span<const ScoredSteps> counted, RiskOf estimator, ThreadTeam& team,
                    int probes) {
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const double nu = model.description().tails;
  const std::vector<SeriesView> pieces = first_steps(all, kMostRiskSteps);
  Risk risk;
  Estimated found;
  // f takes a measured value that counts: its piece, its place in it, R, and the terms of its
  // residual.
  const auto for_each_value = [&](const auto& f) {
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const auto end = static_cast<std::size_t>(std::min(counted[p].end, pieces[p].steps)) * M;
      for (std::size_t i = static_cast<std::size_t>(counted[p].begin) * M; i < end; ++i) {
        if (std::isnan(pieces[p].y[i])) continue;
        double R = model.emission().R()[i % M * (M + 1)];
        if (pieces[p].weight != nullptr) R /= pieces[p].weight[i];
        f(p, i, R, terms_of((pieces[p].y[i] - found.y[p][i]) / std::sqrt(R), nu));
      }
    }
  };
  for (int probe = 0; probe < probes; ++probe) {
    const auto noise = draw_noise(model, pieces, probe);
    const auto moved = [&](double times) {
      return estimated(model, pieces, estimator, noise, times, team);
    };
    if (probe == 0) {
      found = moved(0);
      for_each_value([&](std::size_t p, std::size_t i, double R, const Terms& terms) {
        risk.parts.push_back((terms.square - 1) / terms.divisor);
        risk.claimed += found.variance[p][i] / R;
      });
    }
    const Estimated up = moved(kStep), down = moved(-kStep);
    std::size_t value = 0;
    for_each_value([&](std::size_t p, std::size_t i, double R, const Terms& terms) {
      risk.parts[value++] += terms.slope * noise[p][i] * (up.y[p][i] - down.y[p][i]) / (2 * kStep) /
                             R / terms.divisor / probes;
    });
  }
  const auto count = static_cast<double>(risk.parts.size());
  risk.error = std::accumulate(risk.parts.begin(), risk.parts.end(), 0.0) / count;
  risk.claimed /= count;
  return risk;
}

double difference_error(const Risk& a, const Risk& b) {
  const std::size_t blocks = std::min(a.parts.size(), b.parts.size()) / kRiskBlock;
  if (blocks < 2) return std::numeric_limits<double>::infinity();
  Eigen::VectorXd means(static_cast<Eigen::Index>(blocks));
  for (std::size_t i = 0; i < blocks; ++i) {
    double sum = 0;
    for (std::size_t k = i * kRiskBlock; k < (i + 1) * kRiskBlock; ++k)
      sum += a.parts[k] - b.parts[k];
    means[static_cast<Eigen::Index>(i)] = sum / static_cast<double>(kRiskBlock);
  }
  const auto count = static_cast<double>(blocks);
  return std::sqrt((means.array() - means.mean()).square().sum() / (count * (count - 1)));
}

}  // namespace kalmia::infer
