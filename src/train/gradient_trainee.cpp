#include "train/gradient_trainee.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::train {

void GradientTrainee::begin(const Parameters& start, const TrainOptions& options) {
  nn::AdamOptions adam;
  adam.learning_rate = options.learning_rate;
  adam.clip_norm = options.clip_norm;
  networks_.emplace(start.networks, adam);
  if (!start.noise.empty()) noise_.emplace(start.noise, adam);
}

std::optional<double> GradientTrainee::train_once(double rate) {
  const std::optional<double> loss =
      next_gradient(networks_->gradient(), noise_ ? noise_->gradient() : std::span<double>{});
  if (!loss || !std::isfinite(*loss)) return loss;
  if (!networks_->step(rate)) return std::nan("");
  after_step(networks_->parameters(), rate);
  networks_->add_to_average();
  if (noise_) {
    noise_->step(rate);
    noise_->add_to_average();
  }
  set(current());
  return loss;
}

double GradientTrainee::check() {
  return held_out({networks_->average(),
                   noise_ ? std::span<const double>(noise_->average()) : current_noise()});
}

void GradientTrainee::keep() {
  networks_->keep();
  if (noise_) noise_->keep();
}

void GradientTrainee::go_back() {
  networks_->go_back();
  if (noise_) noise_->go_back();
  set(current());
  restart();
}

Parameters GradientTrainee::best() const {
  return {networks_->best(), noise_ ? std::span<const double>(noise_->best()) : current_noise()};
}

std::span<const double> GradientTrainee::current_noise() const {
  return noise_ ? noise_->parameters() : std::span<const double>{};
}

Parameters GradientTrainee::current() const { return {networks_->parameters(), current_noise()}; }

double loss_scale(const Measured& measured) { return 0.5 / std::max(measured.values, 1.0); }

std::optional<double> batch_loss(const Measured& measured, const engine::BatchResult& result,
                                 int lanes) {
  if (measured.values == 0) return std::nullopt;
  const double loss = measured.loss(result.nll);
  return std::isfinite(loss) && result.failed_lanes <= lanes / 4 ? loss : std::nan("");
}

}  // namespace kalmia::train
