#include "kalman/student.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::kalman {

// With t = -log w the integrand is, but for constants, exp(-nu / 2 (t + e^-t)) times a density that
// changes little within a step.
StudentNodes::StudentNodes(double degrees_of_freedom) {
  constexpr double kFurthest = 30;       // e^15 deviations
  constexpr double kLeastShare = 1e-12;  // of the largest
  constexpr double kStep = 1.25, kLongestStep = 0.75;
  const double nu = degrees_of_freedom;
  const double step = std::min(kStep / std::sqrt(nu + 1), kLongestStep);
  const auto log_share_at = [&](double t) { return -0.5 * nu * (t + std::expm1(-t)); };
  int first = 0, last = 0;
  while (log_share_at((first - 1) * step) > std::log(kLeastShare)) --first;
  while (last - first + 1 < kMost && (last + 1) * step < kFurthest &&
         log_share_at((last + 1) * step) > std::log(kLeastShare))
    ++last;
  double sum = 0;
  for (int i = first; i <= last; ++i) sum += std::exp(log_share_at(i * step));
  for (int i = first; i <= last; ++i) {
    const auto k = static_cast<std::size_t>(count++);
    weight[k] = std::exp(-i * step);
    scale[k] = std::exp(0.5 * i * step);
    log_share[k] = log_share_at(i * step) - std::log(sum);
  }
}

namespace {

void check_squares(std::span<const double> squares) {
  for (std::size_t i = 0; i < squares.size(); ++i)
    if (!(squares[i] >= 0 && std::isfinite(squares[i])))
      throw DataError("squared_residuals[" + std::to_string(i) +
                      "] = " + std::to_string(squares[i]) + ", but it must be finite and >= 0");
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Mean of log t_nu(z; 0, s2) without the constant log(pi) / 2:
//   log Gamma((nu + 1) / 2) - log Gamma(nu / 2) - log(nu s2) / 2
//   - (nu + 1) / 2 mean of log(1 + z^2 / (nu s2))
double mean_log_density(std::span<const double> squares, double nu, double s2) {
  double sum = 0;
  for (const double square : squares) sum += std::log1p(square / (nu * s2));
  return std::lgamma((nu + 1) / 2) - std::lgamma(nu / 2) - 0.5 * std::log(nu * s2) -
         0.5 * (nu + 1) * sum / static_cast<double>(squares.size());
}

// The likeliest s2 given nu, the root of
//   g(s2) = mean of (nu + 1) z^2 / (nu s2 + z^2) = 1,
// which falls with s2. Newton's method on log g as a function of log s2, from `s2`, by a factor of
// e per step at most. Where most residuals are zero there is no root, and `least` is the answer.
double likeliest_scale(std::span<const double> squares, double nu, double s2, double least) {
  for (int i = 0; i < 100; ++i) {
    double g = 0;
    double slope = 0;  // -dg / dlog(s2)
    for (const double square : squares) {
      const double share = square / (nu * s2 + square);
      g += share;
      slope += share * (1 - share);
    }
    const double count = static_cast<double>(squares.size()) / (nu + 1);
    const double step = std::clamp(std::log(g / count) * g / slope, -1.0, 1.0);
    s2 = std::max(s2 * std::exp(step), least);
    if (std::abs(step) < 1e-9) break;
  }
  return s2;
}

// Where f, on [low, high], is largest: the best of a grid, then golden section between its
// neighbours. An end of the grid that is the best stays the answer.
double largest_at(const std::function<double(double)>& f, double low, double high) {
  constexpr int kCells = 12;
  constexpr double kTolerance = 1e-5;
  const auto point = [&](int i) { return low + (high - low) * i / kCells; };
  int best = 0;
  double best_value = f(low);
  for (int i = 1; i <= kCells; ++i)
    if (const double value = f(point(i)); value > best_value) {
      best = i;
      best_value = value;
    }
  double a = point(std::max(best - 1, 0));
  double b = point(std::min(best + 1, kCells));
  const double ratio = 1 / std::numbers::phi;
  double left = b - ratio * (b - a), right = a + ratio * (b - a);
  double f_left = f(left), f_right = f(right);
  while (b - a > kTolerance) {
    if (f_left > f_right) {
      b = right;
      right = left;
      f_right = f_left;
      left = b - ratio * (b - a);
      f_left = f(left);
    } else {
      a = left;
      left = right;
      f_left = f_right;
      right = a + ratio * (b - a);
      f_right = f(right);
    }
  }
  const double middle = 0.5 * (a + b);
  return f(middle) > best_value ? middle : point(best);
}

// The derivative of log Gamma(x), x > 0: the asymptotic series, from 10 on.
double digamma(double x) {
  double sum = 0;
  for (; x < 10; ++x) sum -= 1 / x;
  const double square = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         square * (1.0 / 12 - square * (1.0 / 120 - square * (1.0 / 252 - square / 240)));
}

// P(|t| < x).
double within(const StudentNodes& nodes, double x) {
  double sum = 0;
  for (std::size_t k = 0; k < static_cast<std::size_t>(nodes.count); ++k)
    sum += std::exp(nodes.log_share[k]) * std::erf(x * std::sqrt(0.5 * nodes.weight[k]));
  return sum;
}

}  // namespace

double student_variance(double degrees_of_freedom) {
  constexpr double kNormal = 1.959963984540054;
  if (degrees_of_freedom > 2) return degrees_of_freedom / (degrees_of_freedom - 2);
  const StudentNodes nodes(degrees_of_freedom);
  double low = kNormal, high = 100;
  while (high - low > 1e-9) {
    const double middle = 0.5 * (low + high);
    (within(nodes, middle) < 0.95 ? low : high) = middle;
  }
  return low * low / (kNormal * kNormal);
}

std::vector<double> student_covariance(double degrees_of_freedom, const std::vector<double>& R) {
  const double nu = degrees_of_freedom;
  const double variance = student_variance(nu);
  const double between =
      nu > 2 ? 0.5 * nu * std::exp(2 * (std::lgamma((nu - 1) / 2) - std::lgamma(nu / 2)))
             : variance;
  const auto M = static_cast<std::size_t>(std::lround(std::sqrt(R.size())));
  std::vector<double> covariance = R;
  for (std::size_t i = 0; i < R.size(); ++i) covariance[i] *= i % (M + 1) == 0 ? variance : between;
  return covariance;
}

double student_entropy(double degrees_of_freedom) {
  const double nu = degrees_of_freedom;
  return 0.5 * (nu + 1) * (digamma((nu + 1) / 2) - digamma(nu / 2)) + 0.5 * std::log(nu) +
         std::lgamma(nu / 2) + 0.5 * std::log(std::numbers::pi) - std::lgamma((nu + 1) / 2);
}

double fit_degrees_of_freedom(std::span<const double> squared_residuals) {
  check_squares(squared_residuals);
  if (squared_residuals.empty()) return kMostDegreesOfFreedom;
  return std::exp(largest_at(
      [&](double log_nu) { return mean_log_density(squared_residuals, std::exp(log_nu), 1); },
      std::log(kLeastDegreesOfFreedom), std::log(kMostDegreesOfFreedom)));
}

StudentFit fit_student(std::span<const double> squared_residuals) {
  check_squares(squared_residuals);
  if (squared_residuals.empty()) return {};
  double s2 = mean(squared_residuals);
  if (s2 == 0) return {kMostDegreesOfFreedom, 0};
  const double least = 1e-12 * s2;
  const auto profile = [&](double log_nu) {
    const double nu = std::exp(log_nu);
    s2 = likeliest_scale(squared_residuals, nu, s2, least);
    return mean_log_density(squared_residuals, nu, s2);
  };
  const double nu = std::exp(
      largest_at(profile, std::log(kLeastDegreesOfFreedom), std::log(kMostDegreesOfFreedom)));
  return {nu, std::sqrt(likeliest_scale(squared_residuals, nu, s2, least))};
}

}  // namespace kalmia::kalman
