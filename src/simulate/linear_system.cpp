#include "simulate/linear_system.hpp"

#include <string>

#include "kalmia/error.hpp"

namespace kalmia::simulation {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::MatrixXd square_root(const std::vector<double>& covariance, int n, const char* name) {
  const Eigen::LLT<Eigen::MatrixXd> chol(Eigen::Map<const RowMajor>(covariance.data(), n, n));
  if (chol.info() != Eigen::Success)
    throw NumericalError(std::string("simulate: ") + name + " is not positive definite");
  return chol.matrixL();
}

}  // namespace

Eigen::MatrixXd stationary_covariance(const Eigen::MatrixXd& F, const Eigen::MatrixXd& Q) {
  // After i rounds P holds 2^i terms and A is F^(2^i). 60 rounds are more terms than any spectral
  // radius below 1 - 1e-15 needs.
  Eigen::MatrixXd P = Q, A = F;
  for (int round = 0; round < 60; ++round) {
    const Eigen::MatrixXd more = A * P * A.transpose();
    P += more;
    if (!P.allFinite()) break;
    // Largest entries: squares would overflow long before P does.
    if (more.cwiseAbs().maxCoeff() <= 1e-16 * P.cwiseAbs().maxCoeff())
      return 0.5 * (P + P.transpose());
    A = (A * A).eval();
  }
  throw NumericalError(
      "stationary_covariance: the sum of F^i Q F'^i does not converge; the spectral radius of F "
      "must be below 1");
}

LinearSystem::LinearSystem(std::vector<std::string> state_names, std::vector<int> measured,
                           const LinearModel& model)
    : SimulatedSystem(std::move(state_names), std::move(measured)),
      F_(Eigen::Map<const RowMajor>(model.F.data(), model.state_dim, model.state_dim)),
      Q_root_(square_root(model.Q, model.state_dim, "Q")),
      P0_root_(square_root(model.P0, model.state_dim, "P0")),
      x0_(Eigen::VectorXd::Zero(model.state_dim)),
      normal_(model.state_dim),
      next_(model.state_dim) {
  if (!model.x0.empty()) x0_ = Eigen::Map<const Eigen::VectorXd>(model.x0.data(), model.state_dim);
}

void LinearSystem::draw(RandomStream& random) {
  for (Eigen::Index i = 0; i < normal_.size(); ++i) normal_(i) = random.normal();
}

void LinearSystem::start(RandomStream& random, std::span<double> x) {
  draw(random);
  Eigen::Map<Eigen::VectorXd>(x.data(), x0_.size()) = x0_ + P0_root_ * normal_;
}

void LinearSystem::advance(RandomStream& random, std::span<double> x) {
  Eigen::Map<Eigen::VectorXd> state(x.data(), x0_.size());
  draw(random);
  next_.noalias() = F_ * state;
  next_.noalias() += Q_root_ * normal_;
  state = next_;
}

}  // namespace kalmia::simulation
