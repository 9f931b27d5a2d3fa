// The loop that every stage of network training runs: updates with a falling rate, checks on
// held-out data, the best kept, failures skipped.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kalmia/fit.hpp"

namespace kalmia::train {

/// What is trained.
class Trainee {
 public:
  virtual ~Trainee() = default;
  /// One update at `rate` times the highest step size. Returns the loss of its data: NaN if the
  /// update was left out, nothing if no value was measured in them.
  virtual std::optional<double> train_once(double rate) = 0;
  /// Time steps of the last update.
  virtual int steps() const = 0;
  /// The held-out loss.
  virtual double check() = 0;
  /// Remembers what was checked last, and goes back to what is remembered.
  virtual void keep() = 0;
  virtual void go_back() = 0;
};

struct LoopOptions {
  std::string stage;
  int updates = 0;
  /// Held-out loss before training, which a kept one must beat.
  double start_loss = 0;
  /// What is trained begins worse than that: patience is for its own best loss.
  bool from_scratch = false;
  /// Whether a held-out loss is too good to be honest, which ends training.
  std::function<bool(double held_out)> too_good;
};

struct LoopResult {
  StopReason stop_reason = StopReason::Finished;
  int updates = 0;
  int best_update = 0;  ///< 0: none was better
  int skipped_updates = 0;
  int rate_cuts = 0;
  int restarts = 0;  ///< from the start, at a smaller rate
  double best_held_out = 0;
  double seconds = 0;
  double steps_per_second = 0;
  std::vector<FitCheck> checks;
};

/// Updates that suit the amount of data: kPasses over it, within bounds.
int default_updates(std::size_t training_steps, int steps_per_update);

LoopResult run_training(Trainee& trainee, const TrainOptions& options, const LoopOptions& loop,
                        const std::function<bool(FitProgress&)>& progress);

}  // namespace kalmia::train
