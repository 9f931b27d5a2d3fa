#include "reproduce/lorenz_maps.hpp"

#include <Eigen/Dense>

namespace kalmia::reproduction {
namespace {

using Eigen::Vector3d;
using Matrix3 = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;

constexpr double kSigma = 10, kRho = 28, kBeta = 8.0 / 3;

// dx/dt = A(x) x.
Matrix3 A(const Vector3d& x) {
  Matrix3 a;
  a << -kSigma, kSigma, 0,  //
      kRho - x[2], -1, 0,   //
      x[1], 0, -kBeta;
  return a;
}

// The derivative of A(x) x.
Matrix3 tangent(const Vector3d& x) {
  Matrix3 d;
  d << -kSigma, kSigma, 0,     //
      kRho - x[2], -1, -x[0],  //
      x[1], x[0], -kBeta;
  return d;
}

void put(const Vector3d& x, const Matrix3& F, std::span<double> value, std::span<double> matrix) {
  Eigen::Map<Vector3d>(value.data()) = x;
  Eigen::Map<Matrix3>(matrix.data()) = F;
}

}  // namespace

void lorenz_frozen_map(std::span<const double> x, std::span<double> value,
                       std::span<double> matrix) {
  const Vector3d at(x.data());
  const Matrix3 a = kLorenzStep * A(at);
  const Matrix3 F = Matrix3::Identity() + a + 0.5 * a * a;
  put(F * at, F, value, matrix);
}

void lorenz_flow_map(int substeps, std::span<const double> x, std::span<double> value,
                     std::span<double> matrix) {
  Vector3d at(x.data());
  Matrix3 J = Matrix3::Identity();
  const double h = kLorenzStep / substeps;
  for (int s = 0; s < substeps; ++s) {
    // Stages k1..k4 of the state, K1..K4 of J.
    const Vector3d k1 = A(at) * at;
    const Matrix3 K1 = tangent(at) * J;
    const Vector3d x2 = at + 0.5 * h * k1;
    const Vector3d k2 = A(x2) * x2;
    const Matrix3 K2 = tangent(x2) * (J + 0.5 * h * K1);
    const Vector3d x3 = at + 0.5 * h * k2;
    const Vector3d k3 = A(x3) * x3;
    const Matrix3 K3 = tangent(x3) * (J + 0.5 * h * K2);
    const Vector3d x4 = at + h * k3;
    const Vector3d k4 = A(x4) * x4;
    const Matrix3 K4 = tangent(x4) * (J + h * K3);
    at += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    J += h / 6 * (K1 + 2 * K2 + 2 * K3 + K4);
  }
  put(at, J, value, matrix);
}

}  // namespace kalmia::reproduction
