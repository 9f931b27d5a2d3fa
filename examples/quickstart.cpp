// Filters and smooths a noisy track with gaps.
//
// A vehicle moves in the plane with slowly changing velocity. A sensor gives its position once per
// second, 3 m off on average in each direction, and twice loses it for half a minute. State:
// position and velocity in each direction,
//
//   x = [p1, v1, p2, v2]      p' = p + dt v      v' = v + N(0, q dt)      y = [p1, p2] + N(0, R)
//
// Missing measurements are NaN; nothing else has to be said about the gaps.
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

#include "kalmia/classical.hpp"
#include "kalmia/error.hpp"

namespace {

constexpr int kSteps = 600;
constexpr double kDt = 1.0;          // s
constexpr double kNoise = 3.0;       // m, standard deviation of the sensor
constexpr double kManoeuvre = 0.02;  // m^2/s^3, how quickly the velocity wanders

kalmia::LinearModel constant_velocity() {
  kalmia::LinearModel model;
  model.state_dim = 4;
  model.meas_dim = 2;
  model.F = {1, kDt, 0, 0,    //
             0, 1,   0, 0,    //
             0, 0,   1, kDt,  //
             0, 0,   0, 1};
  // White acceleration of density q between measurements.
  const double a = kManoeuvre * kDt * kDt * kDt / 3, b = kManoeuvre * kDt * kDt / 2,
               c = kManoeuvre * kDt;
  model.Q = {a, b, 0, 0,  //
             b, c, 0, 0,  //
             0, 0, a, b,  //
             0, 0, b, c};
  model.H = {1, 0, 0, 0,  //
             0, 0, 1, 0};
  model.R = {kNoise * kNoise, 0,  //
             0, kNoise * kNoise};
  model.x0 = {0, 0, 0, 0};
  model.P0 = {100, 0,  0,   0,  //
              0,   25, 0,   0,  //
              0,   0,  100, 0,  //
              0,   0,  0,   25};
  return model;
}

bool in_gap(int k) { return (k >= 150 && k < 180) || (k >= 400 && k < 430); }

struct Track {
  std::vector<double> truth;     // (steps, 2)
  std::vector<double> measured;  // (steps, 2)
};

// Many small steps between measurements: the truth does not know the filter's matrices.
Track simulate() {
  std::mt19937_64 generator(7);
  std::normal_distribution<double> normal;
  constexpr int kSubsteps = 20;
  const double h = kDt / kSubsteps;
  double position[2] = {0, 0}, velocity[2] = {4, -2};
  Track track;
  for (int k = 0; k < kSteps; ++k) {
    for (int axis = 0; axis < 2; ++axis) {
      track.truth.push_back(position[axis]);
      const double y = position[axis] + kNoise * normal(generator);
      track.measured.push_back(in_gap(k) ? std::numeric_limits<double>::quiet_NaN() : y);
      for (int s = 0; s < kSubsteps; ++s) {
        position[axis] += h * velocity[axis];
        velocity[axis] += std::sqrt(kManoeuvre * h) * normal(generator);
      }
    }
  }
  return track;
}

struct Score {
  double squares = 0;
  int covered = 0;
  int count = 0;
  double rmse() const { return std::sqrt(squares / count); }
};

// Error of the estimated positions against the truth, inside or outside the gaps, and how many of
// them lie within the estimate's own 95 % interval.
Score score(const Track& track, const kalmia::Moments& moments, bool gaps) {
  Score result;
  for (int k = 0; k < kSteps; ++k) {
    if (in_gap(k) != gaps) continue;
    for (int axis = 0; axis < 2; ++axis) {
      const int i = 2 * axis;  // the position's place in the state
      const double mean = moments.mean[static_cast<std::size_t>(4 * k + i)];
      const double variance = moments.covariance[static_cast<std::size_t>(16 * k + 5 * i)];
      const double error = mean - track.truth[static_cast<std::size_t>(2 * k + axis)];
      result.squares += error * error;
      result.covered += std::abs(error) < 1.96 * std::sqrt(variance);
      ++result.count;
    }
  }
  return result;
}

double raw_rmse(const Track& track) {
  double squares = 0;
  int count = 0;
  for (std::size_t i = 0; i < track.truth.size(); ++i) {
    if (std::isnan(track.measured[i])) continue;
    const double error = track.measured[i] - track.truth[i];
    squares += error * error;
    ++count;
  }
  return std::sqrt(squares / count);
}

void print_row(const char* name, const Track& track, const kalmia::Moments& moments) {
  const Score measured = score(track, moments, false), gaps = score(track, moments, true);
  std::printf("%-10s %18.2f m %13.2f m %16.0f %%\n", name, measured.rmse(), gaps.rmse(),
              100.0 * (measured.covered + gaps.covered) / (measured.count + gaps.count));
}

}  // namespace

int main() {
  const Track track = simulate();
  const kalmia::MeasurementsView y{track.measured.data(), 1, kSteps, 2, {}};
  try {
    const kalmia::FilterResult result = kalmia::rts_smoother(constant_velocity(), y);
    std::printf("A track of %d s, sensor noise %.0f m, two gaps of 30 s.\n\n", kSteps, kNoise);
    std::printf("%-10s %20s %15s %18s\n", "", "error where measured", "in the gaps",
                "within 95 % bars");
    std::printf("%-10s %18.2f m %15s %18s\n", "raw", raw_rmse(track), "-", "-");
    print_row("filtered", track, result.filtered);
    print_row("smoothed", track, result.smoothed);
    std::printf("\nErrors are root mean squares of the position in metres. Log-likelihood %.1f.\n",
                result.log_likelihood[0]);
  } catch (const kalmia::Error& error) {
    std::fprintf(stderr, "quickstart: %s\n", error.what());
    return 1;
  }
}
