// Where a fit stands, told to the user, who may have had enough.
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "kalmia/fit.hpp"

namespace kalmia::train {

/// What stages call now and then; false: training is to end.
using Report = std::function<bool(FitProgress&)>;

/// Passes on what stages report. It is all that changes while a fit runs: once the user's function
/// has said no, the fit is stopped.
class ProgressReport {
 public:
  /// An empty function is never asked, and never stops a fit.
  explicit ProgressReport(std::function<bool(const FitProgress&)> progress)
      : progress_(std::move(progress)) {}

  /// Adds the time since the fit began. False: the fit is stopped.
  bool operator()(FitProgress& now) {
    now.seconds = seconds();
    if (progress_ && !progress_(now)) stopped_ = true;
    return !stopped_;
  }

  bool stopped() const { return stopped_; }
  /// Since this object was made.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  std::function<bool(const FitProgress&)> progress_;
  Clock::time_point start_ = Clock::now();
  bool stopped_ = false;
};

}  // namespace kalmia::train
