#include "infer/step_factors.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kalmia::infer {
namespace {

void scale(std::span<const double> roots, std::span<const double> noise,
           std::span<double> covariance) {
  const std::size_t size = roots.size();
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = 0; j < size; ++j) {
      double& entry = covariance[i * size + j];
      const double kept = noise.empty() ? 0 : noise[i * size + j];
      entry = roots[i] * roots[j] * (entry - kept) + kept;
    }
}

}  // namespace

std::vector<int> channels_of_states(const model::LearnedModel<float>& model) {
  const prior::Expert& expert = model.expert();
  const auto N = static_cast<std::size_t>(model.state_dim());
  std::vector<int> channels;
  for (const prior::StateKind& state : expert.states) channels.push_back(state.channel);
  bool own = expert.emission == nullptr;
  for (std::size_t i = 0; own && i < expert.H.size(); ++i)
    own = expert.H[i] == 0 || channels[i % N] == static_cast<int>(i / N);
  if (!own) channels.assign(N, -1);
  return channels;
}

StepFactors::StepFactors(const model::LearnedModel<float>& model,
                         const model::DistanceFactors& factors)
    : factors_(factors),
      channel_(channels_of_states(model)),
      alike_(std::ranges::all_of(channel_, [](int channel) { return channel < 0; })),
      state_(channel_.size(), 1),
      measured_(static_cast<std::size_t>(model.meas_dim()), 1) {}

void StepFactors::set(std::span<const double> distances) {
  const std::size_t M = measured_.size();
  for (std::size_t m = 0; m < M; ++m) measured_[m] = factors_.log_factor(m, distances[m]);
  const double mean =
      std::accumulate(measured_.begin(), measured_.end(), 0.0) / static_cast<double>(M);
  for (std::size_t n = 0; n < state_.size(); ++n)
    state_[n] =
        std::exp(0.5 * (channel_[n] < 0 ? mean : measured_[static_cast<std::size_t>(channel_[n])]));
  for (double& each : measured_) each = std::exp(0.5 * (alike_ ? mean : each));
}

void StepFactors::scale_states(std::span<const double> noise, std::span<double> covariance) const {
  scale(state_, noise, covariance);
}

void StepFactors::scale_measured(std::span<const double> noise,
                                 std::span<double> covariance) const {
  scale(measured_, noise, covariance);
}

}  // namespace kalmia::infer
