// Parameters under training: Adam's, their running average, and the best average so far.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "nn/adam.hpp"

namespace kalmia::train {

/// The average is over about kAveraged of the last updates: its held-out loss is that of a run with
/// a smaller rate, without the wait.
template <typename T>
class AveragedAdam {
 public:
  static constexpr double kAveraged = 200;

  AveragedAdam(std::span<const T> start, const nn::AdamOptions& options)
      : options_(options),
        adam_(static_cast<std::ptrdiff_t>(start.size()), options),
        parameters_(start.size()),
        gradient_(start.size()),
        average_(start.begin(), start.end()),
        best_(average_) {
    std::copy(start.begin(), start.end(), parameters_.data());
  }

  std::span<T> parameters() { return parameters_.span(); }
  std::span<const T> parameters() const { return parameters_.span(); }
  /// The caller sets it before a step.
  std::span<T> gradient() { return gradient_.span(); }
  const std::vector<T>& average() const { return average_; }
  const std::vector<T>& best() const { return best_; }

  /// One step of Adam at `rate` times its step size. False, and nothing changed, if the gradient is
  /// not finite.
  bool step(double rate) { return adam_.step(gradient_.span(), parameters_.span(), rate).applied; }
  /// Takes the parameters into the average.
  void add_to_average() {
    ++averaged_;
    const auto weight = static_cast<T>(1 / std::min(kAveraged, 0.2 * averaged_ + 1));
    for (std::size_t i = 0; i < average_.size(); ++i)
      average_[i] += weight * (parameters_[i] - average_[i]);
  }
  void keep() { best_ = average_; }
  /// Restarts from the best parameters.
  void go_back() {
    std::copy(best_.begin(), best_.end(), parameters_.data());
    average_ = best_;
    averaged_ = 0;
    adam_ = nn::Adam<T>(static_cast<std::ptrdiff_t>(best_.size()), options_);
  }

 private:
  nn::AdamOptions options_;
  nn::Adam<T> adam_;
  Buffer<T> parameters_, gradient_;
  std::vector<T> average_, best_;
  double averaged_ = 0;
};

}  // namespace kalmia::train
