#include "train/constant_errors.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>

namespace kalmia::train {
namespace {

// Of the size of a variable, for differences of the gradient.
constexpr double kDifference = 1e-4;
// Curvature below this share of the largest is none.
constexpr double kNoCurvature = 1e-9;
// Curvature in units of a constant's size: its standard error would be twice that.
constexpr double kUnknown = 0.25;
// A constant that has this share of a flat direction, squared, takes part in it.
constexpr double kTakesPart = 0.02;

Eigen::MatrixXd curvature_at(const Objective& objective, std::span<const double> variables,
                             std::span<const double> sizes, Eigen::Index count) {
  std::vector<double> at(variables.begin(), variables.end());
  std::vector<double> gradient(at.size());
  Eigen::MatrixXd H(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const auto v = static_cast<std::size_t>(i);
    const auto slope = [&](double by) {
      at[v] = variables[v] + by * kDifference * sizes[v];
      const bool finite = std::isfinite(objective(at, gradient));
      at[v] = variables[v];
      Eigen::VectorXd scaled(count);
      for (Eigen::Index j = 0; j < count; ++j)
        scaled(j) = finite
                        ? gradient[static_cast<std::size_t>(j)] * sizes[static_cast<std::size_t>(j)]
                        : std::numeric_limits<double>::quiet_NaN();
      return scaled;
    };
    const Eigen::VectorXd up = slope(1), down = slope(-1);
    H.col(i) = (up - down) / (2 * kDifference);
  }
  return (H + H.transpose()) / 2;
}

// H^-1 B over the directions in which H curves.
Eigen::MatrixXd over_curved(const Eigen::MatrixXd& H, const Eigen::MatrixXd& B) {
  if (H.rows() == 0) return B;
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(H);
  const double least = kNoCurvature * solver.eigenvalues().cwiseAbs().maxCoeff();
  Eigen::VectorXd inverse = solver.eigenvalues();
  for (double& each : inverse) each = each > least ? 1 / each : 0;
  return solver.eigenvectors() * inverse.asDiagonal() * solver.eigenvectors().transpose() * B;
}

}  // namespace

std::vector<ConstantError> constant_errors(const StaticLikelihood& likelihood,
                                           const Objective& objective,
                                           std::span<const double> variables,
                                           std::span<const double> sizes, int held) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  const std::vector<StaticLikelihood::Constant> constants = likelihood.constants();
  const auto count =
      static_cast<Eigen::Index>(held < 0 ? variables.size() : static_cast<std::size_t>(held));
  const Eigen::MatrixXd H = likelihood.values() * curvature_at(objective, variables, sizes, count);
  std::vector<ConstantError> errors;
  std::vector<Eigen::Index> inner;    // constants off their bounds, in H
  std::vector<std::size_t> inner_of;  // and among the errors
  for (const StaticLikelihood::Constant& each : constants) {
    const auto v = static_cast<Eigen::Index>(each.variable);
    ConstantError& error = errors.emplace_back();
    error.parameter = each.parameter;
    error.standard_error = kNone;
    // At a bound the variable hardly moves the value any more.
    error.at_bound = likelihood.near_bound(each, variables) && !(H(v, v) > kUnknown);
    if (error.at_bound) continue;
    inner.push_back(v);
    inner_of.push_back(errors.size() - 1);
  }
  if (inner.empty()) return errors;
  std::vector<Eigen::Index> others;
  for (Eigen::Index i = 0; i < count; ++i)
    if (std::ranges::none_of(constants, [i](const StaticLikelihood::Constant& each) {
          return static_cast<Eigen::Index>(each.variable) == i;
        }))
      others.push_back(i);
  const Eigen::MatrixXd cross = H(others, inner);
  const Eigen::MatrixXd S =
      H(inner, inner) - cross.transpose() * over_curved(H(others, others), cross);
  if (!S.allFinite()) {
    for (const std::size_t e : inner_of) errors[e].identifiable = false;
    return errors;
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(S);
  const auto P = static_cast<std::size_t>(S.rows());
  for (std::size_t i = 0; i < P; ++i) {
    ConstantError& error = errors[inner_of[i]];
    double variance = 0;
    for (Eigen::Index d = 0; d < S.rows(); ++d) {
      const double curvature = solver.eigenvalues()(d);
      const double share = std::pow(solver.eigenvectors()(static_cast<Eigen::Index>(i), d), 2);
      if (curvature > kUnknown) {
        variance += share / curvature;
      } else if (share > kTakesPart) {
        error.identifiable = false;
        for (std::size_t j = 0; j < P; ++j)
          if (j != i &&
              std::pow(solver.eigenvectors()(static_cast<Eigen::Index>(j), d), 2) > kTakesPart)
            error.together.push_back(errors[inner_of[j]].parameter);
      }
    }
    if (!error.identifiable) continue;
    const auto& constant =
        *std::ranges::find(constants, error.parameter, &StaticLikelihood::Constant::parameter);
    error.standard_error = std::sqrt(variance) * std::abs(likelihood.slope_of(constant, variables));
  }
  for (ConstantError& error : errors) {
    std::ranges::sort(error.together);
    const auto [first, last] = std::ranges::unique(error.together);
    error.together.erase(first, last);
  }
  return errors;
}

}  // namespace kalmia::train
