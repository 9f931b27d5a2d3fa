#include "train/state_climate.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "infer/filter_pass.hpp"
#include "kalman/classical/batch.hpp"
#include "kalmia/error.hpp"
#include "model/drift.hpp"

namespace kalmia::train {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using kalman::row_at;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// More steps than this would hardly change the moments.
constexpr int kMostSteps = 1 << 16;
// Numbers that have less than this share of the variance of others are constants.
constexpr double kTiny = 1e-12;

// The smoothed states of all pieces, or of what they stand for: `width` numbers a step.
struct Smoothed {
  std::vector<int> steps;                      // of each piece
  std::vector<std::vector<double>> mean, var;  // steps x width
  int width = 0;

  const double* at(const std::vector<std::vector<double>>& of, std::size_t piece, int step) const {
    return of[piece].data() + static_cast<std::ptrdiff_t>(step) * width;
  }
};

// Mean and spread of one of the numbers; a spread of infinity where it wanders or is a constant.
struct Place {
  double mean = 0, spread = kInfinity;
};

Place place_of(const Smoothed& all, int n) {
  model::DriftTest drift;
  model::RunningMoments uncertainty;
  for (std::size_t p = 0; p < all.steps.size(); ++p)
    drift.add_series(static_cast<std::size_t>(all.steps[p]), [&](std::size_t k) {
      uncertainty.add(all.at(all.var, p, static_cast<int>(k))[n]);
      return all.at(all.mean, p, static_cast<int>(k))[n];
    });
  const double variance = drift.all().variance();
  const double spread = std::sqrt(variance + uncertainty.mean);
  const bool constant = !(variance > kTiny * drift.all().mean * drift.all().mean);
  if (drift.wanders() || constant || !std::isfinite(spread)) return {};
  return {drift.all().mean, spread};
}

Smoothed states_of(const infer::FilterPass& pass) {
  const int N = pass.moments.state_dim;
  Smoothed result;
  result.steps = pass.lengths;
  result.width = N;
  for (int p = 0; p < pass.moments.series; ++p) {
    std::vector<double>& mean = result.mean.emplace_back();
    std::vector<double>& var = result.var.emplace_back();
    for (int k = 0; k < pass.lengths[static_cast<std::size_t>(p)]; ++k)
      for (int n = 0; n < N; ++n) {
        mean.push_back(pass.moments.smoothed
                           .mean[row_at(pass.moments, p, k, N) + static_cast<std::size_t>(n)]);
        var.push_back(pass.moments.smoothed.covariance[row_at(pass.moments, p, k, N * N) +
                                                       static_cast<std::size_t>(n * N + n)]);
      }
  }
  return result;
}

// h(x) of smoothed states, with h P h'.
Smoothed measured_of(const model::LearnedModel<float>& model, const infer::FilterPass& pass) {
  const int N = model.state_dim(), M = model.meas_dim();
  Smoothed result;
  result.steps = pass.lengths;
  result.width = M;
  std::vector<double> y(static_cast<std::size_t>(M));
  for (int p = 0; p < pass.moments.series; ++p) {
    std::vector<double>& mean = result.mean.emplace_back();
    std::vector<double>& var = result.var.emplace_back();
    for (int k = 0; k < pass.lengths[static_cast<std::size_t>(p)]; ++k) {
      const double* x = pass.moments.smoothed.mean.data() + row_at(pass.moments, p, k, N);
      const Eigen::Map<const Matrix> P(
          pass.moments.smoothed.covariance.data() + row_at(pass.moments, p, k, N * N), N, N);
      const std::vector<double> entries = model.emission_at(x);
      const Eigen::Map<const Matrix> H(entries.data(), M, N);
      model.measure(x, y.data());
      mean.insert(mean.end(), y.begin(), y.end());
      for (int m = 0; m < M; ++m) var.push_back(H.row(m) * P * H.row(m).transpose());
    }
  }
  return result;
}

Matrix positive_part(const Matrix& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Matrix> solver((symmetric + symmetric.transpose()) / 2);
  return solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).asDiagonal() *
         solver.eigenvectors().transpose();
}

// Sets A and Q of the states whose spread is finite, in units of their spreads.
void set_regression(const infer::FilterPass& pass, const Smoothed& states,
                    model::StateClimate& climate) {
  const int N = states.width;
  Matrix before = Matrix::Zero(N, N), lagged = Matrix::Zero(N, N), errors = Matrix::Zero(N, N);
  double pairs = 0;
  const auto deviation = [&](std::size_t p, int k) {
    Eigen::VectorXd d(N);
    for (int n = 0; n < N; ++n) {
      const auto i = static_cast<std::size_t>(n);
      d(n) = std::isinf(climate.spread[i])
                 ? 0
                 : (states.at(states.mean, p, k)[n] - climate.mean[i]) / climate.spread[i];
    }
    return d;
  };
  for (std::size_t p = 0; p < states.steps.size(); ++p)
    for (int k = 1; k < states.steps[p]; ++k) {
      const Eigen::VectorXd from = deviation(p, k - 1), to = deviation(p, k);
      before += (from * from.transpose() + to * to.transpose()) / 2;
      lagged += to * from.transpose();
      errors += Eigen::Map<const Matrix>(pass.moments.smoothed.covariance.data() +
                                             row_at(pass.moments, static_cast<int>(p), k, N * N),
                                         N, N);
      ++pairs;
    }
  if (pairs == 0) pairs = 1;
  Matrix C = before / pairs;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      const double scale =
          climate.spread[static_cast<std::size_t>(i)] * climate.spread[static_cast<std::size_t>(j)];
      if (std::isfinite(scale)) C(i, j) += errors(i, j) / pairs / scale;
    }
  // The variances are those of all steps, which have to stay as they are.
  Eigen::VectorXd unit(N);
  for (int n = 0; n < N; ++n) unit(n) = C(n, n) > 0 ? 1 / std::sqrt(C(n, n)) : 0;
  C = unit.asDiagonal() * C * unit.asDiagonal();
  const Matrix L = unit.asDiagonal() * (lagged / pairs) * unit.asDiagonal();
  const Matrix A = L * C.completeOrthogonalDecomposition().pseudoInverse();
  const Matrix Q = positive_part(C - A * C * A.transpose());
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      const double to = climate.spread[static_cast<std::size_t>(i)];
      const double from = climate.spread[static_cast<std::size_t>(j)];
      const bool known = std::isfinite(to) && std::isfinite(from);
      climate.A.push_back(known ? A(i, j) * to / from : 0);
      climate.Q.push_back(known ? Q(i, j) * to * from : 0);
    }
}

}  // namespace

model::StateClimate find_climate(const model::LearnedModel<float>& model, const ScaledData& data,
                                 const std::vector<StepRange>& training, ThreadTeam& team) {
  std::vector<infer::SeriesView> pieces;
  for (const StepRange& stretch : training) pieces.push_back(data.view(stretch));
  pieces = infer::first_steps(pieces, kMostSteps);
  infer::FilterPass pass;
  try {
    const auto name = [](int) { return std::string("the training data"); };
    pass = infer::run_pass(model, pieces, {true, true, true}, team, name);
    infer::smooth_pass(pass, team, name);
  } catch (const NumericalError&) {
    return {};
  }
  model::StateClimate climate;
  const Smoothed states = states_of(pass), measured = measured_of(model, pass);
  bool any = false;
  for (int n = 0; n < states.width; ++n) {
    const Place place = place_of(states, n);
    climate.mean.push_back(place.mean);
    climate.spread.push_back(place.spread);
    any = any || std::isfinite(place.spread);
  }
  if (!any) return {};
  for (int m = 0; m < measured.width; ++m)
    climate.measured_spread.push_back(place_of(measured, m).spread);
  set_regression(pass, states, climate);
  return climate;
}

}  // namespace kalmia::train
