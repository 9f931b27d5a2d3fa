// What all that is trained by gradients has in common: a step of Adam, the average of the
// parameters, and the best of them.
#pragma once

#include <optional>
#include <span>

#include "engine/batch.hpp"
#include "train/averaged_adam.hpp"
#include "train/training_data.hpp"
#include "train/training_loop.hpp"

namespace kalmia::train {

/// Parameters under training.
struct Parameters {
  std::span<const float> networks;
  std::span<const double> noise;  ///< of the measurement noise; empty where it is not learned
};

/// States what it trains by `begin`, the gradient of its data, and how it is scored.
class GradientTrainee : public Trainee {
 public:
  std::optional<double> train_once(double rate) final;
  double check() final;
  void keep() final;
  void go_back() final;

 protected:
  /// Where training starts, with Adam's step size and clipping as `options` say.
  void begin(const Parameters& start, const TrainOptions& options);
  /// What was kept last, or the start.
  Parameters best() const;
  /// The noise's parameters as they are now.
  std::span<const double> current_noise() const;

  /// Goes on to the next data, and sets the gradients of their loss. Returns it as train_once does.
  virtual std::optional<double> next_gradient(std::span<float> networks,
                                              std::span<double> noise) = 0;
  /// Changes the networks' parameters after a step at `rate`.
  virtual void after_step(std::span<float> /*networks*/, double /*rate*/) {}
  /// Sets what the next gradient is taken at.
  virtual void set(const Parameters& parameters) = 0;
  /// The held-out loss of `parameters`; afterwards the next gradient is taken where it was.
  virtual double held_out(const Parameters& parameters) = 0;
  /// Parameters have jumped back: what goes on from step to step begins again.
  virtual void restart() {}

 private:
  Parameters current() const;

  std::optional<AveragedAdam<float>> networks_;
  std::optional<AveragedAdam<double>> noise_;
};

/// What the gradient of a batch's negative log-likelihoods is multiplied by to be that of its loss.
double loss_scale(const Measured& measured);

/// The mean loss of a measured value, as train_once returns it: nothing if none was measured, NaN
/// if it is not finite or more than a quarter of the lanes failed.
std::optional<double> batch_loss(const Measured& measured, const engine::BatchResult& result,
                                 int lanes);

}  // namespace kalmia::train
