// The specification: one sequence, double, Eigen, no tricks. Every kernel and every filter is
// compared with this file.
//
// Missing components of a measurement are NaN. Step k's transition leads from k - 1 to k.
#pragma once

#include <Eigen/Dense>
#include <cmath>
#include <functional>
#include <numbers>
#include <unsupported/Eigen/MatrixFunctions>
#include <vector>

namespace kalmia::reference {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

struct Gaussian {
  Vector mean;
  Matrix cov;
};

/// The noise that a density G adds up to over dt along dx/dt = A x: the integral of
/// exp(A s) G exp(A s)' over s, from the exponential of a block matrix (Van Loan 1978).
inline Matrix flow_noise(const Matrix& A, const Matrix& G, double dt) {
  const Eigen::Index N = A.rows();
  Matrix block = Matrix::Zero(2 * N, 2 * N);
  block.topLeftCorner(N, N) = -A * dt;
  block.topRightCorner(N, N) = G * dt;
  block.bottomRightCorner(N, N) = A.transpose() * dt;
  const Matrix E = block.exp();
  return E.bottomRightCorner(N, N).transpose() * E.topRightCorner(N, N);
}

/// x[k] = F x[k-1] + e + N(0, Q)
inline Gaussian predict(const Gaussian& filtered, const Matrix& F, const Vector& e,
                        const Matrix& Q) {
  return {F * filtered.mean + e, F * filtered.cov * F.transpose() + Q};
}

inline std::vector<int> observed_components(const Vector& y) {
  std::vector<int> observed;
  for (int m = 0; m < y.size(); ++m)
    if (!std::isnan(y(m))) observed.push_back(m);
  return observed;
}

struct Update {
  Gaussian filtered;
  Vector innovation;  ///< NaN where missing
  double nll = 0;     ///< r' S^-1 r + log det S over the observed components
  int observed = 0;   ///< their number
};

/// y = H x + offset + N(0, R), conditioning on the observed components only.
inline Update update(const Gaussian& predicted, const Vector& y, const Matrix& H,
                     const Vector& offset, const Matrix& R) {
  const std::vector<int> rows = observed_components(y);
  const Vector innovation = y - H * predicted.mean - offset;
  if (rows.empty()) return {predicted, innovation, 0, 0};
  const Matrix Ho = H(rows, Eigen::all);
  const Matrix Ro = R(rows, rows);
  const Vector r = innovation(rows);
  const Matrix S = Ho * predicted.cov * Ho.transpose() + Ro;
  const Matrix K = predicted.cov * Ho.transpose() * S.inverse();
  const Matrix IKH = Matrix::Identity(K.rows(), K.rows()) - K * Ho;
  Update result;
  result.filtered.mean = predicted.mean + K * r;
  result.filtered.cov = IKH * predicted.cov * IKH.transpose() + K * Ro * K.transpose();
  result.innovation = innovation;
  result.nll = r.dot(S.inverse() * r) + std::log(S.determinant());
  result.observed = static_cast<int>(rows.size());
  return result;
}
inline Update update(const Gaussian& predicted, const Vector& y, const Matrix& H, const Matrix& R) {
  return update(predicted, y, H, Vector::Zero(y.size()), R);
}

/// One step of a system that is linear, or has been linearised. The first step's F, e are unused.
struct Step {
  Matrix F;
  Vector e;
  Matrix H;
  Vector offset;
};

struct Run {
  std::vector<Step> steps;
  std::vector<Gaussian> predicted, filtered, smoothed;
  std::vector<Vector> innovations;
  double log_likelihood = 0;
};

/// A system that gives its local linear form. `transition(x, k)` linearises at x[k-1] = x,
/// `emission(x, k)` at x[k] = x.
struct System {
  Gaussian initial;  ///< x[0] before any measurement
  Matrix Q, R;
  std::function<void(const Vector& x, int k, Step& step)> transition;
  std::function<void(const Vector& x, int k, Step& step)> emission;
};

inline System linear_system(const Gaussian& initial, const Matrix& F, const Vector& e,
                            const Matrix& Q, const Matrix& H, const Matrix& R) {
  return {initial, Q, R,
          [F, e](const Vector&, int, Step& step) {
            step.F = F;
            step.e = e;
          },
          [H](const Vector&, int, Step& step) {
            step.H = H;
            step.offset = Vector::Zero(H.rows());
          }};
}

/// The (extended) Kalman filter. With `at`, the points of linearisation are those means instead of
/// the filter's own.
inline Run filter(const System& system, const std::vector<Vector>& y,
                  const std::vector<Vector>* at = nullptr) {
  Run run;
  for (std::size_t k = 0; k < y.size(); ++k) {
    const int step_index = static_cast<int>(k);
    Step step;
    Gaussian predicted = system.initial;
    if (k > 0) {
      system.transition(at ? (*at)[k - 1] : run.filtered[k - 1].mean, step_index, step);
      predicted = predict(run.filtered[k - 1], step.F, step.e, system.Q);
    }
    system.emission(at ? (*at)[k] : predicted.mean, step_index, step);
    const Update updated = update(predicted, y[k], step.H, step.offset, system.R);
    run.steps.push_back(step);
    run.predicted.push_back(predicted);
    run.filtered.push_back(updated.filtered);
    run.innovations.push_back(updated.innovation);
    run.log_likelihood -= 0.5 * (updated.nll + updated.observed * std::log(2 * std::numbers::pi));
  }
  return run;
}

/// Rauch-Tung-Striebel over a filter's run.
inline void smooth(Run& run) {
  run.smoothed = run.filtered;
  for (std::size_t k = run.filtered.size(); k-- > 1;) {
    const Gaussian& filtered = run.filtered[k - 1];
    const Gaussian& predicted = run.predicted[k];
    const Matrix J = filtered.cov * run.steps[k].F.transpose() * predicted.cov.inverse();
    run.smoothed[k - 1].mean = filtered.mean + J * (run.smoothed[k].mean - predicted.mean);
    run.smoothed[k - 1].cov =
        filtered.cov + J * (run.smoothed[k].cov - predicted.cov) * J.transpose();
  }
}

inline std::vector<Vector> means(const std::vector<Gaussian>& gaussians) {
  std::vector<Vector> result;
  for (const Gaussian& g : gaussians) result.push_back(g.mean);
  return result;
}

/// The Gauss-Newton smoother: `iterations` times linearise at the last smoothed means, beginning
/// with the extended smoother's.
inline Run iterated_smoother(const System& system, const std::vector<Vector>& y, int iterations) {
  Run run = filter(system, y);
  smooth(run);
  for (int i = 0; i < iterations; ++i) {
    const std::vector<Vector> at = means(run.smoothed);
    run = filter(system, y, &at);
    smooth(run);
  }
  return run;
}

}  // namespace kalmia::reference
