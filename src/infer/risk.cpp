#include "infer/risk.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "infer/filter_pass.hpp"
#include "kalman/classical_batch.hpp"

namespace kalmia::infer {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// s of the comment in the header.
constexpr double kStep = 0.25;

// Noise of all values (steps x M) of each piece, with covariance R.
std::vector<std::vector<double>> draw_noise(const model::LearnedModel<float>& model,
                                            std::span<const Piece> pieces, int probe) {
  const int M = model.meas_dim();
  const RowMatrix root =
      Eigen::Map<const RowMatrix>(model.emission().R().data(), M, M).llt().matrixL();
  RandomStream random(1, "risk", static_cast<std::uint64_t>(probe));
  std::vector<std::vector<double>> noise;
  Eigen::VectorXd signs(M);
  for (const Piece& each : pieces) {
    std::vector<double>& own = noise.emplace_back();
    for (int k = 0; k < each.steps; ++k) {
      for (double& sign : signs) sign = random.uniform() < 0.5 ? -1 : 1;
      const Eigen::VectorXd n = root * signs;
      own.insert(own.end(), n.begin(), n.end());
    }
  }
  return noise;
}

// h of the smoothed states, steps x M of each piece, after y has moved by `times` this noise.
std::vector<std::vector<double>> smoothed_measurements(
    const model::LearnedModel<float>& model, std::span<const Piece> pieces, RiskOf smoother,
    const std::vector<std::vector<double>>& noise, double times, ThreadTeam& team) {
  const int M = model.meas_dim(), N = model.state_dim();
  std::vector<std::vector<double>> y;
  std::vector<Piece> moved;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const Piece& piece = moved.emplace_back(pieces[p]);
    std::vector<double>& own = y.emplace_back(noise[p]);
    for (std::size_t i = 0; i < own.size(); ++i) own[i] = piece.y[i] + times * own[i];
    moved.back().y = own.data();
  }
  const auto name = [](int piece) { return "piece " + std::to_string(piece + 1); };
  FilterPass pass = run_pass(model, moved, {true, true, true}, team, name);
  if (smoother == RiskOf::Linearized)
    smooth_pass(pass, team, name);
  else
    smooth_by_networks(model, moved, pass, team, name);
  for (std::size_t p = 0; p < pieces.size(); ++p)
    for (int k = 0; k < moved[p].steps; ++k)
      model.measure(pass.moments.smoothed.mean.data() +
                        kalman::row_at(pass.moments, static_cast<int>(p), k, N),
                    y[p].data() + static_cast<std::ptrdiff_t>(k) * M);
  return y;
}

}  // namespace

double estimated_risk(const model::LearnedModel<float>& model, std::span<const Piece> all,
                      std::span<const Counted> counted, RiskOf smoother, ThreadTeam& team,
                      int probes) {
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const std::vector<Piece> pieces = first_steps(all, kMostRiskSteps);
  double sum = 0, count = 0;
  // f takes a measured value that counts: its piece, its place in it and R.
  const auto for_each_value = [&](const auto& f) {
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      const auto end = static_cast<std::size_t>(std::min(counted[p].end, pieces[p].steps)) * M;
      for (std::size_t i = static_cast<std::size_t>(counted[p].begin) * M; i < end; ++i)
        if (!std::isnan(pieces[p].y[i])) f(p, i, model.emission().R()[i % M * (M + 1)]);
    }
  };
  for (int probe = 0; probe < probes; ++probe) {
    const auto noise = draw_noise(model, pieces, probe);
    const auto up = smoothed_measurements(model, pieces, smoother, noise, kStep, team);
    const auto down = smoothed_measurements(model, pieces, smoother, noise, -kStep, team);
    for_each_value([&](std::size_t p, std::size_t i, double R) {
      sum += 2 * noise[p][i] * (up[p][i] - down[p][i]) / (2 * kStep) / R / probes;
    });
    if (probe > 0) continue;
    const auto y_s = smoothed_measurements(model, pieces, smoother, noise, 0, team);
    for_each_value([&](std::size_t p, std::size_t i, double R) {
      const double r = pieces[p].y[i] - y_s[p][i];
      sum += (r * r - R) / R;
      count += 1;
    });
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace kalmia::infer
