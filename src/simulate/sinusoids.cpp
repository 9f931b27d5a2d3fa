#include "simulate/sinusoids.hpp"

#include <cmath>
#include <numbers>

namespace kalmia::simulation {
namespace {

constexpr double kLowest = 0.005, kHighest = 0.05;

}  // namespace

Sinusoids::Sinusoids(const SimulatedSystemOptions& options)
    : SimulatedSystem({"y1"}, {0}), dt_(options.dt) {
  RandomStream random(options.seed, "sinusoids system");
  for (std::size_t i = 0; i < kTerms; ++i) {
    const double place = (static_cast<double>(i) + random.uniform()) / kTerms;
    frequencies_[i] = kLowest * std::pow(kHighest / kLowest, place);
  }
}

// From the number of the step, not from the last value: no error piles up.
double Sinusoids::value() const {
  double sum = 0;
  for (std::size_t i = 0; i < kTerms; ++i) {
    const double turns = frequencies_[i] * step_ * dt_;
    sum += std::sin(2 * std::numbers::pi * (turns - std::floor(turns)) + phases_[i]);
  }
  return sum;
}

void Sinusoids::start(RandomStream& random, std::span<double> x) {
  step_ = 0;
  for (double& phase : phases_) phase = random.uniform(0, 2 * std::numbers::pi);
  x[0] = value();
}

void Sinusoids::advance(RandomStream&, std::span<double> x) {
  step_ += 1;
  x[0] = value();
}

}  // namespace kalmia::simulation
