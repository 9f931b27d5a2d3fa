// Linear Gaussian systems under simulation.
#pragma once

#include <Eigen/Dense>

#include "kalmia/classical.hpp"
#include "simulate/simulated_system.hpp"

namespace kalmia::simulation {

/// The covariance that x[k] = F x[k-1] + N(0, Q) keeps: the solution of P = F P F' + Q, as the sum
/// of F^i Q F'^i, doubled in length each time around. Throws NumericalError if it does not
/// converge, which is when the spectral radius of F is not below 1.
Eigen::MatrixXd stationary_covariance(const Eigen::MatrixXd& F, const Eigen::MatrixXd& Q);

/// x[0] ~ N(x0, P0), x[k] = F x[k-1] + N(0, Q), of a model whose rows of H each select one state.
/// Throws NumericalError if Q or P0 is not positive definite.
class LinearSystem : public SimulatedSystem {
 public:
  LinearSystem(std::vector<std::string> state_names, std::vector<int> measured,
               const LinearModel& model);
  void start(RandomStream& random, std::span<double> x) override;
  void advance(RandomStream& random, std::span<double> x) override;

 private:
  void draw(RandomStream& random);

  Eigen::MatrixXd F_, Q_root_, P0_root_;
  Eigen::VectorXd x0_;
  Eigen::VectorXd normal_, next_;
};

}  // namespace kalmia::simulation
