// What the stages of a fit read.
#pragma once

#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "base/threads.hpp"
#include "kalmia/fit.hpp"
#include "model/channels.hpp"
#include "model/noise.hpp"
#include "train/fit_data.hpp"
#include "train/fit_options.hpp"
#include "train/noise_bound.hpp"

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

/// It is made once, at the start of a fit, and no stage changes it; but its threads work, and its
/// report remembers whether the user has stopped the fit. All that it refers to must outlive it.
struct FitContext {
  const FitData& data;
  const FitSpec& spec;
  const DataOptions& data_options;
  ThreadTeam& team;
  /// Under heavy tails they are those of the measurements without their outliers.
  std::vector<model::ChannelStatistics> channels;
  model::NoiseSpec noise;
  Holdout holdout;
  ProgressReport& report;

  /// Throws DataError for data, ConfigError for options that cannot be used.
  FitContext(const FitData& fit_data, const FitSpec& fit_spec, const DataOptions& columns,
             ThreadTeam& threads, ProgressReport& progress);

  /// The context of one channel of another: its data alone, with the same steps held out.
  FitContext(const FitContext& whole, const FitData& channel_data, std::size_t channel);

  bool little_data() const { return holdout.little_data; }
  const Split& split() const { return holdout.split; }
};

/// What the training of networks reads, once the static model is chosen; changed by nothing.
struct TrainingContext {
  const ScaledData& data;  ///< in the units of the static model
  const Split& split;
  FitSpec spec;
  ThreadTeam& team;
  Report progress;   ///< may be empty
  NoiseBound bound;  ///< of the held-out loss

  /// The same for member `index` with a seed of its own, as number `number` of `count` in training.
  TrainingContext of_member(int index, int number, int count) const;
};

/// The seed of member k; the first has the seed itself.
std::uint64_t member_seed(std::uint64_t seed, int member);

}  // namespace kalmia::train
