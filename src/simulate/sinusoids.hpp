// A sum of sinusoids: the simplest signal whose dynamics nobody wrote down.
#pragma once

#include <array>

#include "simulate/simulated_system.hpp"

namespace kalmia::simulation {

/// signal(t) = sum over i of sin(2 pi f_i t + phase_i), three terms. The frequencies belong to the
/// seed: one from each third of [0.005, 0.05] on a logarithmic scale, in cycles per unit of time.
/// The phases belong to the series.
class Sinusoids : public SimulatedSystem {
 public:
  static constexpr std::size_t kTerms = 3;

  explicit Sinusoids(const SimulatedSystemOptions& options);
  const std::array<double, kTerms>& frequencies() const { return frequencies_; }
  void start(RandomStream& random, std::span<double> x) override;
  void advance(RandomStream& random, std::span<double> x) override;

 private:
  double value() const;

  double dt_;
  double step_ = 0;
  std::array<double, kTerms> frequencies_{};
  std::array<double, kTerms> phases_{};
};

}  // namespace kalmia::simulation
