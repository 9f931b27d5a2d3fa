#include "infer/calibrated.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "kalmia/error.hpp"

namespace kalmia::infer {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixView = Eigen::Map<const RowMatrix>;
using VectorView = Eigen::Map<const Eigen::VectorXd>;

std::vector<Eigen::Index> present(const double* y, std::size_t M) {
  std::vector<Eigen::Index> rows;
  for (std::size_t m = 0; m < M; ++m)
    if (!std::isnan(y[m])) rows.push_back(static_cast<Eigen::Index>(m));
  return rows;
}

}  // namespace

std::vector<double> noise_of_update(const model::LearnedModel<float>& model, const double* z,
                                    const double* G, const StateUpdate& update) {
  const auto M = static_cast<std::size_t>(model.meas_dim());
  std::vector<double> R = model.emission().R();
  const double tails = model.description().tails;
  if (update.weight == nullptr && tails == 0) return R;
  std::vector<double> weight(M, 1);
  if (update.weight != nullptr) std::copy_n(update.weight, M, weight.begin());
  if (tails > 0) {
    std::vector<double> seen(M), V(M * M);
    predict_measurement(model, z, G, seen.data(), V.data());
    for (std::size_t m = 0; m < M; ++m) {
      if (std::isnan(update.y[m])) continue;
      const double e = update.y[m] - seen[m];
      const double noise = R[m * (M + 1)] / weight[m];
      weight[m] *= (tails + 1) / (tails + (e * e + V[m * (M + 1)]) / noise);
    }
  }
  for (std::size_t m = 0; m < M; ++m)
    for (std::size_t l = 0; l < M; ++l) R[m * M + l] /= std::sqrt(weight[m] * weight[l]);
  return R;
}

void noise_part(const model::LearnedModel<float>& model, const double* z, const double* G,
                const StateUpdate& update, double* out) {
  const int N = model.state_dim(), M = model.meas_dim();
  Eigen::Map<RowMatrix> result(out, N, N);
  result.setZero();
  const std::vector<Eigen::Index> measured = present(update.y, static_cast<std::size_t>(M));
  if (measured.empty()) return;
  const std::vector<double> H_all = model.emission_at(update.x);
  const RowMatrix H = MatrixView(H_all.data(), M, N)(measured, Eigen::all);
  const std::vector<double> noise = noise_of_update(model, z, G, update);
  const RowMatrix R = MatrixView(noise.data(), M, M)(measured, measured);
  // Y = L^-1 H P with L L' = R; K R K' = Y' Y.
  const Eigen::LLT<RowMatrix> root(R);
  RowMatrix Y = root.matrixL().solve(H * MatrixView(G, N, N));
  if (model.expert().emission != nullptr || model.description().tails > 0) {
    // An update keeps H P H' below R. Where H and R are not quite those of the update, it is cut
    // off there: what is left of P must not become negative.
    const RowMatrix B = root.matrixL().solve((Y * H.transpose()).transpose());
    const Eigen::SelfAdjointEigenSolver<RowMatrix> solver(0.5 * (B + B.transpose()));
    const Eigen::VectorXd cut = solver.eigenvalues().cwiseMax(1).cwiseSqrt().cwiseInverse();
    Y = (cut.asDiagonal() * solver.eigenvectors().transpose() * Y).eval();
  }
  result = Y.transpose() * Y;
}

void predict_measurement(const model::LearnedModel<float>& model, const double* x, const double* P,
                         double* y_pred, double* HPH) {
  const auto N = static_cast<std::size_t>(model.state_dim());
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const std::vector<double> at_x =
      model.expert().emission == nullptr ? std::vector<double>() : model.emission_at(x);
  const std::vector<double>& H = at_x.empty() ? model.expert().H : at_x;
  model.measure(x, y_pred);
  for (std::size_t m = 0; m < M; ++m)
    for (std::size_t l = 0; l < M; ++l) {
      double sum = 0;
      for (std::size_t i = 0; i < N; ++i) {
        if (H[m * N + i] == 0) continue;
        for (std::size_t j = 0; j < N; ++j) sum += H[m * N + i] * P[i * N + j] * H[l * N + j];
      }
      HPH[m * M + l] = sum;
    }
}

void leave_out(const model::LearnedModel<float>& model, const double* z, const double* G,
               const StateUpdate& update, double* y_pred, double* W) {
  // V must stay below R, if only just.
  constexpr double kLargest = 1 - 1e-6;
  const int N = model.state_dim(), M = model.meas_dim();
  std::fill_n(y_pred, M, 0.0);
  std::fill_n(W, M * M, 0.0);
  const std::vector<Eigen::Index> measured = present(update.y, static_cast<std::size_t>(M));
  if (measured.empty()) return;
  std::vector<double> seen(static_cast<std::size_t>(M));
  model.measure(z, seen.data());
  const std::vector<double> H_all = model.emission_at(update.x);
  const RowMatrix H = MatrixView(H_all.data(), M, N)(measured, Eigen::all);
  const std::vector<double> noise = noise_of_update(model, z, G, update);
  const RowMatrix R = MatrixView(noise.data(), M, M)(measured, measured);
  const Eigen::VectorXd r =
      VectorView(update.y, M)(measured) - VectorView(seen.data(), M)(measured);
  // With L L' = R and L^-1 V L^-T = U v U': W = L U d U' L' with d = v / (1 - v), and
  // e = L U (1 + d) U' L^-1 r.
  const Eigen::LLT<RowMatrix> root(R);
  const RowMatrix half = root.matrixL().solve(H * MatrixView(G, N, N) * H.transpose());
  const RowMatrix V = root.matrixL().solve(half.transpose());
  const Eigen::SelfAdjointEigenSolver<RowMatrix> solver(0.5 * (V + V.transpose()));
  const Eigen::ArrayXd v = solver.eigenvalues().cwiseMax(0).cwiseMin(kLargest);
  const Eigen::VectorXd grown = (1 - v).inverse();
  const Eigen::VectorXd d = v / (1 - v);
  const RowMatrix LU = root.matrixL() * solver.eigenvectors();
  const Eigen::VectorXd white = root.matrixL().solve(r);
  const Eigen::VectorXd e = LU * (grown.asDiagonal() * (solver.eigenvectors().transpose() * white));
  const RowMatrix covariance = LU * d.asDiagonal() * LU.transpose();
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    y_pred[measured[i]] = update.y[measured[i]] - e(row);
    for (std::size_t j = 0; j < measured.size(); ++j)
      W[measured[i] * M + measured[j]] = covariance(row, static_cast<Eigen::Index>(j));
  }
}

double gaussian_log_likelihood(std::span<const double> r, std::span<const double> S) {
  const auto M = static_cast<Eigen::Index>(r.size());
  const std::vector<Eigen::Index> measured = present(r.data(), r.size());
  if (measured.empty()) return 0;
  const Eigen::VectorXd e = VectorView(r.data(), M)(measured);
  const Eigen::LLT<RowMatrix> root(MatrixView(S.data(), M, M)(measured, measured));
  if (root.info() != Eigen::Success)
    throw NumericalError("the calibrated innovation covariance is not positive definite");
  const Eigen::VectorXd white = root.matrixL().solve(e);
  const double log_det = 2 * root.matrixLLT().diagonal().array().log().sum();
  return -0.5 * (white.squaredNorm() + log_det +
                 static_cast<double>(measured.size()) * std::log(2 * std::numbers::pi));
}

void stretch(int dim, const double* mean, const double* C, const double* C_calibrated, double* x) {
  constexpr double kNegligible = 1e-13;
  const MatrixView before(C, dim, dim), after(C_calibrated, dim, dim);
  // Units differ from state to state: the roots are taken of correlations.
  const Eigen::VectorXd unit = before.diagonal().cwiseMax(0).cwiseSqrt();
  const Eigen::VectorXd inverse =
      unit.unaryExpr([](double value) { return value > 0 ? 1 / value : 0.0; });
  const auto solved = [&](const MatrixView& matrix) {
    return Eigen::SelfAdjointEigenSolver<RowMatrix>(
        RowMatrix(inverse.asDiagonal() * matrix * inverse.asDiagonal()));
  };
  const auto old_parts = solved(before), new_parts = solved(after);
  const double least = kNegligible * old_parts.eigenvalues().cwiseAbs().maxCoeff();
  const Eigen::VectorXd old_inverse = old_parts.eigenvalues().unaryExpr(
      [&](double value) { return value > least ? 1 / std::sqrt(value) : 0.0; });
  const Eigen::VectorXd new_root = new_parts.eigenvalues().cwiseMax(0).cwiseSqrt();
  Eigen::Map<Eigen::VectorXd> draw(x, dim);
  const VectorView centre(mean, dim);
  const Eigen::VectorXd white =
      old_parts.eigenvectors() *
      (old_inverse.asDiagonal() *
       (old_parts.eigenvectors().transpose() * (inverse.asDiagonal() * (draw - centre))));
  draw = centre + unit.asDiagonal() *
                      (new_parts.eigenvectors() *
                       (new_root.asDiagonal() * (new_parts.eigenvectors().transpose() * white)));
}

}  // namespace kalmia::infer
