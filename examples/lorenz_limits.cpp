// Puts Kalmia's estimates of a Lorenz trajectory beside what classical smoothers reach.
//
//   lorenz_limits TRAINING.csv TEST.csv FILTERED.csv SMOOTHED.csv
//
// The first two come from `kalmia simulate lorenz`, with truth; the others from `kalmia filter` and
// `kalmia smooth` of TEST.csv. The classical smoothers know the equations of motion
//
//   dx1 = s (x2 - x1)    dx2 = x1 (r - x3) - x2    dx3 = x1 x2 - b x3
//
// either as the expert map that Kalmia was given (second-order Taylor series of A(x) x with A
// frozen at x, which is a rough model), or exactly, as a flow. Their process noise is the
// covariance of least error on the truth of TRAINING.csv, which Kalmia never sees: the smoothers
// `eks` and `eks-flow` of `kalmia reproduce lorenz`.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "kalmia/classical.hpp"
#include "kalmia/data.hpp"

namespace {

constexpr double kSigma = 10, kRho = 28, kBeta = 8.0 / 3;
constexpr double kNoise = 0.5;
constexpr int kSubsteps = 5;
// Clean steps that a process noise is tuned on, at most.
constexpr int kTuning = 4096;

using Vector = std::array<double, 3>;
using Matrix = std::array<double, 9>;

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t p = 0; p < 3; ++p) c[i * 3 + j] += a[i * 3 + p] * b[p * 3 + j];
  return c;
}

// x = F(x) x with F = I + dt A + (dt A)^2 / 2; the Jacobian is taken to be F.
void taylor_map(double dt, std::span<const double> x, std::span<double> value,
                std::span<double> jacobian) {
  const Matrix A = {-kSigma, kSigma, 0, kRho - x[2], -1, 0, x[1], 0, -kBeta};
  const Matrix AA = product(A, A);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const double F = (i == j ? 1 : 0) + dt * A[i * 3 + j] + dt * dt / 2 * AA[i * 3 + j];
      jacobian[i * 3 + j] = F;
      value[i] += F * x[j];
    }
}

// A point with the derivative of its flow by the starting point.
struct Tangent {
  Vector x{};
  Matrix J{};
};

Tangent derivative(const Tangent& at) {
  const Vector& x = at.x;
  const Matrix A = {-kSigma, kSigma, 0, kRho - x[2], -1, -x[0], x[1], x[0], -kBeta};
  return {{kSigma * (x[1] - x[0]), x[0] * (kRho - x[2]) - x[1], x[0] * x[1] - kBeta * x[2]},
          product(A, at.J)};
}

Tangent moved(const Tangent& from, double step, const Tangent& rate) {
  Tangent to = from;
  for (std::size_t i = 0; i < 3; ++i) to.x[i] += step * rate.x[i];
  for (std::size_t i = 0; i < 9; ++i) to.J[i] += step * rate.J[i];
  return to;
}

// The flow over dt, by Runge and Kutta's fourth-order rule.
void flow_map(double dt, std::span<const double> x, std::span<double> value,
              std::span<double> jacobian) {
  Tangent at{{x[0], x[1], x[2]}, {1, 0, 0, 0, 1, 0, 0, 0, 1}};
  const double h = dt / kSubsteps;
  for (int s = 0; s < kSubsteps; ++s) {
    const Tangent a = derivative(at), b = derivative(moved(at, h / 2, a)),
                  c = derivative(moved(at, h / 2, b)), d = derivative(moved(at, h, c));
    at = moved(moved(moved(moved(at, h / 6, a), h / 3, b), h / 3, c), h / 6, d);
  }
  for (std::size_t i = 0; i < 3; ++i) value[i] = at.x[i];
  for (std::size_t i = 0; i < 9; ++i) jacobian[i] = at.J[i];
}

using Map = void (*)(double, std::span<const double>, std::span<double>, std::span<double>);

kalmia::NonlinearModel lorenz(Map map, double dt, const Matrix& Q) {
  kalmia::NonlinearModel model;
  model.state_dim = model.meas_dim = 3;
  model.transition = [map, dt](std::span<const double> x, int, std::span<double> value,
                               std::span<double> jacobian) {
    for (double& v : value) v = 0;
    map(dt, x, value, jacobian);
  };
  model.emission = [](std::span<const double> x, int, std::span<double> value,
                      std::span<double> jacobian) {
    for (std::size_t i = 0; i < 3; ++i) {
      value[i] = x[i];
      jacobian[i * 3 + i] = 1;
    }
  };
  const double r = kNoise * kNoise;
  model.Q = {Q.begin(), Q.end()};
  model.R = {r, 0, 0, 0, r, 0, 0, 0, r};
  model.x0 = {0, 0, 25};
  model.P0 = {100, 0, 0, 0, 100, 0, 0, 0, 100};
  return model;
}

double mean_square(std::span<const double> truth, const double* estimate) {
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i)
    sum += (estimate[i] - truth[i]) * (estimate[i] - truth[i]);
  return sum / static_cast<double>(truth.size());
}

// A process noise as variables that may have any value:
//
//   Q = D U U' D,   D = diag(exp v0, exp v1, exp v2),   U = [1, 0, 0; v3, 1, 0; v4, v5, 1].
using Variables = std::array<double, 6>;

Matrix covariance(const Variables& v) {
  const Matrix U = {1, 0, 0, v[3], 1, 0, v[4], v[5], 1};
  Matrix Q{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t p = 0; p < 3; ++p)
        Q[i * 3 + j] += std::exp(v[i] + v[j]) * U[i * 3 + p] * U[j * 3 + p];
  return Q;
}

// The error of the extended smoother over the first steps of a series; infinite where the process
// noise is too small for the filter to hold the trajectory.
double extended_error(const kalmia::Series& series, int steps, Map map, double dt,
                      const Matrix& Q) {
  const kalmia::MeasurementsView y{series.y.data(), 1, steps, 3, {}};
  try {
    const kalmia::FilterResult result = kalmia::extended_rts_smoother(lorenz(map, dt, Q), y);
    const double error = mean_square({series.x.data(), static_cast<std::size_t>(3 * steps)},
                                     result.smoothed.mean.data());
    if (std::isfinite(error)) return error;
  } catch (const kalmia::NumericalError&) {
  }
  return std::numeric_limits<double>::infinity();
}

// The process noise of least error on a clean series: from the best multiple of the identity on
// over all covariances. Of all steps in one variable the best is taken; where none helps, steps get
// smaller.
Matrix tuned_noise(const kalmia::Series& clean, Map map, double dt) {
  constexpr double kSmallestStep = 0.05, kGain = 1e-3;
  const int steps = clean.steps < kTuning ? clean.steps : kTuning;
  Variables best{};
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](const Variables& v) {
    const double error = extended_error(clean, steps, map, dt, covariance(v));
    if (!(error < least)) return;
    least = error;
    best = v;
  };
  for (int power = -7; power <= 1; ++power) {
    const double deviation = 0.5 * power * std::log(10.0);
    consider({deviation, deviation, deviation, 0, 0, 0});
  }
  for (double step = 1; step > kSmallestStep;) {
    const Variables from = best;
    const double before = least;
    for (std::size_t i = 0; i < from.size(); ++i)
      for (const double way : {step, -step}) {
        Variables v = from;
        v[i] += way;
        consider(v);
      }
    if (!(least < (1 - kGain) * before)) step /= 2;
  }
  return covariance(best);
}

// The error on the test with the process noise that clean data give.
double tuned_error(const kalmia::Series& clean, const kalmia::Series& test, Map map, double dt) {
  return extended_error(test, test.steps, map, dt, tuned_noise(clean, map, dt));
}

// The error of the iterated smoother, which finds the most likely path: on windows that overlap by
// 2 kMargin, since over a long chaotic path the search gets lost. Only the middle of each counts.
double iterated_error(const kalmia::Series& series, double dt) {
  constexpr int kWindow = 256, kMargin = 64, kMiddle = kWindow - 2 * kMargin;
  std::vector<double> y, truth;
  const int windows = (series.steps - 2 * kMargin) / kMiddle;
  for (int w = 0; w < windows; ++w) {
    const auto from = series.y.begin() + static_cast<std::ptrdiff_t>(w) * kMiddle * 3;
    y.insert(y.end(), from, from + kWindow * 3);
  }
  constexpr double q = 1e-7;
  const kalmia::MeasurementsView view{y.data(), windows, kWindow, 3, {}};
  const kalmia::FilterResult result =
      kalmia::iterated_extended_smoother(lorenz(flow_map, dt, {q, 0, 0, 0, q, 0, 0, 0, q}), view);
  double sum = 0;
  for (int w = 0; w < windows; ++w)
    for (int i = 3 * kMargin; i < 3 * (kWindow - kMargin); ++i) {
      const double estimate = result.smoothed.mean[static_cast<std::size_t>(w * kWindow * 3 + i)];
      const double error = estimate - series.x[static_cast<std::size_t>(w * kMiddle * 3 + i)];
      sum += error * error;
    }
  return sum / (windows * kMiddle * 3);
}

void row(const char* name, double error) { std::printf("  %-58s %8.4f\n", name, error); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: lorenz_limits TRAINING.csv TEST.csv FILTERED.csv SMOOTHED.csv\n");
    return 2;
  }
  try {
    const kalmia::Dataset training = kalmia::read_dataset(argv[1]);
    const kalmia::Dataset test = kalmia::read_dataset(argv[2]);
    kalmia::DataOptions states;
    states.measure = {"y1", "y2", "y3"};
    const kalmia::Dataset filtered = kalmia::read_dataset(argv[3], states);
    const kalmia::Dataset smoothed = kalmia::read_dataset(argv[4], states);
    const kalmia::Series &clean = training.series.at(0), &series = test.series.at(0);
    const double dt = test.step_size();
    std::printf("Mean squared error of %d steps that the model had not seen:\n\n", series.steps);
    row("raw measurements", mean_square(series.x, series.y.data()));
    row("extended Kalman smoother, same map, tuned on clean data",
        tuned_error(clean, series, taylor_map, dt));
    row("Kalmia, filtered (learned from noise alone)",
        mean_square(series.x, filtered.series.at(0).y.data()));
    row("Kalmia, smoothed (learned from noise alone)",
        mean_square(series.x, smoothed.series.at(0).y.data()));
    row("extended smoother, exact equations, tuned on clean data",
        tuned_error(clean, series, flow_map, dt));
    row("iterated smoother, exact equations, 256 steps at a time", iterated_error(series, dt));
  } catch (const kalmia::Error& error) {
    std::fprintf(stderr, "lorenz_limits: %s\n", error.what());
    return 1;
  }
}
