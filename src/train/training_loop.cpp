#include "train/training_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "nn/adam.hpp"

namespace kalmia::train {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kPasses = 250;
constexpr int kFewestUpdates = 400;
constexpr int kMostUpdates = 8000;
// Checks of the held-out data over a whole run.
constexpr int kChecks = 80;
// Checks before this update do not try the patience: the rate has hardly risen by then.
constexpr int kPatientUpdates = 150;
// An improvement of the held-out loss that counts as one.
constexpr double kImprovement = 1e-4;
// Updates in a row that may fail before the rate is halved, and how often that may happen.
constexpr int kFailuresInARow = 5;
constexpr int kMostRateCuts = 4;
// Where the start is good (equations that say nearly all), a rate that suits poor ones only leads
// away from it. So after a share of the patience without anything better than the start, training
// goes back there and on at a third of the rate. Measured on `lorenz` with a cubic departure: at
// 3e-3 nothing better than the static model's 0.7582 in 1,000 updates, at 1e-3 0.7505.
constexpr int kMostRestarts = 2;
constexpr int kRestartShare = 3;
constexpr double kRestartRate = 1.0 / 3;
constexpr std::int64_t kWarmup = 50;
constexpr double kSecondsBetweenReports = 0.1;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Loop {
 public:
  Loop(Trainee& trainee, const TrainOptions& options, const LoopOptions& loop,
       const std::function<bool(FitProgress&)>& progress)
      : trainee_(trainee),
        options_(options),
        loop_(loop),
        progress_(progress),
        schedule_{nn::Schedule::Kind::Cosine, std::min<std::int64_t>(kWarmup, loop.updates / 10),
                  loop.updates, 0.01} {
    now_.stage = loop.stage;
    now_.updates = loop.updates;
    now_.held_out = std::numeric_limits<double>::quiet_NaN();
    now_.best_held_out = result_.best_held_out = loop.start_loss;
  }

  LoopResult run() {
    const int every = std::max(1, loop_.updates / kChecks);
    for (int update = 1; update <= loop_.updates; ++update) {
      result_.updates = update;
      const bool goes_on = train(update) &&
                           ((update % every != 0 && update != loop_.updates) || check(update)) &&
                           report(update);
      if (!goes_on) break;
    }
    result_.seconds = seconds_since(start_);
    result_.steps_per_second = steps_ / std::max(result_.seconds, 1e-9);
    return result_;
  }

 private:
  // False: too many updates failed.
  bool train(int update) {
    const std::optional<double> loss = trainee_.train_once(rate_ * schedule_.factor(update - 1));
    steps_ += trainee_.steps();
    if (!loss) return true;
    if (std::isfinite(*loss)) {
      failures_ = 0;
      loss_sum_ += *loss;
      loss_count_ += 1;
      return true;
    }
    ++result_.skipped_updates;
    if (++failures_ < kFailuresInARow) return true;
    if (result_.rate_cuts == kMostRateCuts) {
      result_.stop_reason = StopReason::Failures;
      return false;
    }
    ++result_.rate_cuts;
    go_back(0.5);
    return true;
  }

  void go_back(double factor) {
    rate_ *= factor;
    failures_ = 0;
    trainee_.go_back();
  }

  // False: nothing better is to be expected.
  bool check(int update) {
    now_.held_out = trainee_.check();
    now_.loss = loss_count_ > 0 ? loss_sum_ / loss_count_ : std::nan("");
    loss_sum_ = loss_count_ = 0;
    result_.checks.push_back({update, now_.loss, now_.held_out,
                              rate_ * options_.learning_rate * schedule_.factor(update - 1)});
    if (loop_.too_good && loop_.too_good(now_.held_out)) {
      result_.stop_reason = StopReason::NoisePredicted;
      return false;
    }
    const bool better = now_.held_out < result_.best_held_out - kImprovement;
    if (better) {
      result_.best_held_out = now_.best_held_out = now_.held_out;
      result_.best_update = update;
      trainee_.keep();
    }
    if (better || (loop_.from_scratch && now_.held_out < reached_ - kImprovement)) {
      reached_ = now_.held_out;
      stale_ = 0;
      return true;
    }
    if (update <= kPatientUpdates) return true;
    ++stale_;
    if (result_.best_update == 0 && !loop_.from_scratch && result_.restarts < kMostRestarts &&
        stale_ >= std::max(1, options_.patience / kRestartShare)) {
      ++result_.restarts;
      stale_ = 0;
      go_back(kRestartRate);
    } else if (stale_ >= options_.patience) {
      result_.stop_reason = StopReason::Patience;
      return false;
    }
    return true;
  }

  // False: the user has had enough.
  bool report(int update) {
    if (!progress_ ||
        (seconds_since(reported_) < kSecondsBetweenReports && update != loop_.updates))
      return true;
    reported_ = Clock::now();
    now_.update = update;
    if (loss_count_ > 0) now_.loss = loss_sum_ / loss_count_;
    const double elapsed = seconds_since(start_);
    now_.steps_per_second = steps_ / elapsed;
    now_.seconds_left = elapsed / update * (loop_.updates - update);
    if (progress_(now_)) return true;
    result_.stop_reason = StopReason::Interrupted;
    return false;
  }

  Trainee& trainee_;
  const TrainOptions& options_;
  const LoopOptions& loop_;
  const std::function<bool(FitProgress&)>& progress_;
  nn::Schedule schedule_;
  LoopResult result_;
  FitProgress now_;
  Clock::time_point start_ = Clock::now(), reported_ = start_;
  double rate_ = 1;
  double steps_ = 0, loss_sum_ = 0, loss_count_ = 0;
  double reached_ = std::numeric_limits<double>::infinity();
  int stale_ = 0, failures_ = 0;
};

}  // namespace

int default_updates(std::size_t training_steps, int steps_per_update) {
  const double passes =
      kPasses * static_cast<double>(training_steps) / static_cast<double>(steps_per_update);
  return static_cast<int>(std::clamp<double>(passes, kFewestUpdates, kMostUpdates));
}

LoopResult run_training(Trainee& trainee, const TrainOptions& options, const LoopOptions& loop,
                        const std::function<bool(FitProgress&)>& progress) {
  return Loop(trainee, options, loop, progress).run();
}

}  // namespace kalmia::train
