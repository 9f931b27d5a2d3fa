#include "simulate/random_linear.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <numeric>
#include <string>
#include <vector>

#include "simulate/linear_system.hpp"

namespace kalmia::simulation {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<double> row_major(const Eigen::MatrixXd& matrix) {
  std::vector<double> values(static_cast<std::size_t>(matrix.size()));
  Eigen::Map<RowMajor>(values.data(), matrix.rows(), matrix.cols()) = matrix;
  return values;
}

}  // namespace

LinearModel random_linear_model(int states, int measured, double noise, std::uint64_t seed) {
  RandomStream random(seed, "random-linear system");
  Eigen::MatrixXd F(states, states), L(states, states);
  for (int i = 0; i < states; ++i)
    for (int j = 0; j < states; ++j) {
      F(i, j) = random.normal();
      L(i, j) = random.normal();
    }
  F *= kRandomLinearRadius / F.eigenvalues().cwiseAbs().maxCoeff();
  // L alone may be close to singular; a tenth of the identity keeps Q well away from it.
  const Eigen::MatrixXd Q =
      L * L.transpose() / states + 0.1 * Eigen::MatrixXd::Identity(states, states);
  const Eigen::MatrixXd P = stationary_covariance(F, Q);
  // x -> D x with D = diag(P)^-1/2 gives every state the variance 1 and keeps the eigenvalues of F.
  const Eigen::VectorXd d = P.diagonal().cwiseSqrt().cwiseInverse();
  const auto D = d.asDiagonal();
  LinearModel model;
  model.state_dim = states;
  model.meas_dim = measured;
  model.F = row_major(D * F * d.cwiseInverse().asDiagonal());
  model.Q = row_major(D * Q * D);
  model.P0 = row_major(D * P * D);
  model.H = row_major(Eigen::MatrixXd::Identity(measured, states));
  model.R = row_major(noise * noise * Eigen::MatrixXd::Identity(measured, measured));
  return model;
}

std::unique_ptr<SimulatedSystem> make_random_linear(const SimulatedSystemOptions& options) {
  std::vector<std::string> names;
  for (int i = 1; i <= options.states; ++i)
    names.push_back(fmt::format("{}{}", i <= options.measured ? 'y' : 'x', i));
  std::vector<int> measured(static_cast<std::size_t>(options.measured));
  std::iota(measured.begin(), measured.end(), 0);
  return std::make_unique<LinearSystem>(
      std::move(names), std::move(measured),
      random_linear_model(options.states, options.measured, options.noise, options.seed));
}

}  // namespace kalmia::simulation
