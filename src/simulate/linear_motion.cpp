#include "simulate/linear_motion.hpp"

#include <Eigen/Dense>
#include <unsupported/Eigen/MatrixFunctions>

#include "simulate/linear_system.hpp"

namespace kalmia::simulation {
namespace {

constexpr int kAxes = 2, kPerAxis = 3, kStates = kAxes * kPerAxis;

Eigen::Matrix3d axis_matrix(LinearMotion variant) {
  constexpr double c = 0.06, tau = 0.17;
  Eigen::Matrix3d A;
  A << 0, 1, 0,  //
      0, -c, 1,  //
      0, variant == LinearMotion::Printed ? -tau * c : -tau, 0;
  return A;
}

// The same block for both axes, row-major.
std::vector<double> both_axes(const Eigen::Matrix3d& block) {
  std::vector<double> whole(kStates * kStates, 0.0);
  for (int axis = 0; axis < kAxes; ++axis)
    for (int i = 0; i < kPerAxis; ++i)
      for (int j = 0; j < kPerAxis; ++j) {
        const int row = axis * kPerAxis + i, col = axis * kPerAxis + j;
        whole[static_cast<std::size_t>(row * kStates + col)] = block(i, j);
      }
  return whole;
}

}  // namespace

std::vector<double> linear_motion_matrix(LinearMotion variant) {
  return both_axes(axis_matrix(variant));
}

LinearModel linear_motion_model(double dt, double noise, LinearMotion variant) {
  const Eigen::Matrix3d F = (axis_matrix(variant) * dt).exp();
  const Eigen::Matrix3d Q = dt * 0.01 * Eigen::Vector3d(1.0 / 3, 1, 3).asDiagonal();
  // Column 1 of A is zero: velocity and acceleration move without regard to the position.
  Eigen::Matrix3d P0 = Eigen::Matrix3d::Identity();
  P0.bottomRightCorner(2, 2) =
      stationary_covariance(F.bottomRightCorner(2, 2), Q.bottomRightCorner(2, 2));
  LinearModel model;
  model.state_dim = kStates;
  model.meas_dim = kAxes;
  model.F = both_axes(F);
  model.Q = both_axes(Q);
  model.P0 = both_axes(P0);
  model.H.assign(kAxes * kStates, 0.0);
  model.R.assign(kAxes * kAxes, 0.0);
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    model.H[axis * kStates + axis * kPerAxis] = 1;
    model.R[axis * kAxes + axis] = noise * noise;
  }
  return model;
}

std::unique_ptr<SimulatedSystem> make_linear_motion(const SimulatedSystemOptions& options) {
  return std::make_unique<LinearSystem>(
      std::vector<std::string>{"y1", "y1_rate", "y1_acceleration", "y2", "y2_rate",
                               "y2_acceleration"},
      std::vector<int>{0, kPerAxis}, linear_motion_model(options.dt, options.noise));
}

}  // namespace kalmia::simulation
