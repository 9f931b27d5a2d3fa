// Puts Kalmia's estimates of a Lorenz trajectory beside what classical smoothers reach.
//
//   lorenz_limits TEST.csv FILTERED.csv SMOOTHED.csv
//
// TEST.csv comes from `kalmia simulate lorenz`, with truth; the others from `kalmia filter` and
// `kalmia smooth`. The classical smoothers know the equations of motion
//
//   dx1 = s (x2 - x1)    dx2 = x1 (r - x3) - x2    dx3 = x1 x2 - b x3
//
// either as the expert map that Kalmia was given (second-order Taylor series of A(x) x with A
// frozen at x, which is a rough model), or exactly, as a flow. Their process noise is tuned on the
// truth, which Kalmia never sees.
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

kalmia::NonlinearModel lorenz(Map map, double dt, double q) {
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
  model.Q = {q, 0, 0, 0, q, 0, 0, 0, q};
  model.R = {r, 0, 0, 0, r, 0, 0, 0, r};
  model.x0 = {0, 0, 25};
  model.P0 = {100, 0, 0, 0, 100, 0, 0, 0, 100};
  return model;
}

double mean_square(const std::vector<double>& truth, const double* estimate) {
  double sum = 0;
  for (std::size_t i = 0; i < truth.size(); ++i)
    sum += (estimate[i] - truth[i]) * (estimate[i] - truth[i]);
  return sum / static_cast<double>(truth.size());
}

// The error of the extended smoother with the best of many process noises.
double extended_error(const kalmia::Series& series, Map map, double dt) {
  const kalmia::MeasurementsView y{series.y.data(), 1, series.steps, 3, {}};
  double best = std::numeric_limits<double>::infinity();
  for (double q = 1e-4; q < 2; q *= 2) {
    try {
      const kalmia::FilterResult result = kalmia::extended_rts_smoother(lorenz(map, dt, q), y);
      best = std::fmin(best, mean_square(series.x, result.smoothed.mean.data()));
    } catch (const kalmia::NumericalError&) {
      continue;  // this process noise is too small for the filter to hold the trajectory
    }
  }
  return best;
}

// The error of the iterated smoother, which finds the most likely path: on windows that overlap by
// 2 kMargin, since over a long chaotic path the search gets lost. Only the middle of each counts.
double best_possible_error(const kalmia::Series& series, double dt) {
  constexpr int kWindow = 256, kMargin = 64, kMiddle = kWindow - 2 * kMargin;
  std::vector<double> y, truth;
  const int windows = (series.steps - 2 * kMargin) / kMiddle;
  for (int w = 0; w < windows; ++w) {
    const auto from = series.y.begin() + static_cast<std::ptrdiff_t>(w) * kMiddle * 3;
    y.insert(y.end(), from, from + kWindow * 3);
  }
  const kalmia::MeasurementsView view{y.data(), windows, kWindow, 3, {}};
  const kalmia::FilterResult result =
      kalmia::iterated_extended_smoother(lorenz(flow_map, dt, 1e-7), view);
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
  if (argc != 4) {
    std::fprintf(stderr, "usage: lorenz_limits TEST.csv FILTERED.csv SMOOTHED.csv\n");
    return 2;
  }
  try {
    const kalmia::Dataset test = kalmia::read_dataset(argv[1]);
    kalmia::DataOptions states;
    states.measure = {"y1", "y2", "y3"};
    const kalmia::Dataset filtered = kalmia::read_dataset(argv[2], states);
    const kalmia::Dataset smoothed = kalmia::read_dataset(argv[3], states);
    const kalmia::Series& series = test.series.at(0);
    const double dt = test.step_size();
    std::printf("Mean squared error of %d steps that the model had not seen:\n\n", series.steps);
    row("raw measurements", mean_square(series.x, series.y.data()));
    row("extended Kalman smoother, same map, tuned on the truth",
        extended_error(series, taylor_map, dt));
    row("Kalmia, filtered (learned from noise alone)",
        mean_square(series.x, filtered.series.at(0).y.data()));
    row("Kalmia, smoothed (learned from noise alone)",
        mean_square(series.x, smoothed.series.at(0).y.data()));
    row("extended Kalman smoother, exact equations", extended_error(series, flow_map, dt));
    row("best possible: iterated smoother, exact equations", best_possible_error(series, dt));
  } catch (const kalmia::Error& error) {
    std::fprintf(stderr, "lorenz_limits: %s\n", error.what());
    return 1;
  }
}
