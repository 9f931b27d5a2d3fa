// The windows that a fused smoother is trained on: stretches of data with the filter's predictions
// of them, and the lanes that are filled from these.
#pragma once

#include <span>
#include <vector>

#include "base/threads.hpp"
#include "infer/filter_pass.hpp"
#include "infer/fusion_run.hpp"
#include "train/lane_feed.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

/// Stretches of the data, with a share of the values hidden, and the filter's predictions of them.
class FusionData {
 public:
  /// Long data are thinned out to kMostFusionSteps, whole stretches at a time.
  FusionData(const model::LearnedModel<float>& model, const ScaledData& data,
             std::vector<StepRange> stretches, double gaps, std::uint64_t seed, ThreadTeam& team);

  int count() const { return static_cast<int>(stretches_.size()); }
  const StepRange& stretch(int index) const { return stretches_[static_cast<std::size_t>(index)]; }
  /// The place of this stretch among those that were given.
  std::size_t given_index(int index) const { return static_cast<std::size_t>(index) * every_; }
  infer::FusionView view(int index) const;
  std::vector<infer::FusionView> views() const;
  std::ptrdiff_t steps() const;

 private:
  int meas_dim_;
  std::size_t every_ = 1;  // stretch that was given is kept
  std::vector<StepRange> stretches_;
  std::vector<std::vector<double>> y_;
  std::vector<infer::SeriesView> pieces_;
  infer::FilterPass pass_;
};

inline constexpr std::ptrdiff_t kMostFusionSteps = std::ptrdiff_t{1} << 19;

/// Lanes start spread evenly over the data. A lane that comes to the beginning of a stretch goes on
/// with the end of the next one.
class FusionFeed {
 public:
  using Group = heads::FusionGroup<float>;

  /// `lanes`: at most; fewer where the data are short. All must outlive the feed.
  FusionFeed(const model::LearnedModel<float>& model, const ScaledData& scaled,
             const FusionData& data, int window, int lanes);

  std::span<heads::FusionGroup<float>> groups() { return groups_; }
  int lanes() const { return static_cast<int>(cursors_.size()); }
  /// Fills the next window of every lane. Returns what there is in it.
  Measured next(ThreadTeam& team);
  /// Time steps in the last window, all lanes.
  int steps() const { return steps_; }
  /// Restarts all lanes where they stand.
  void restart();

 private:
  struct Cursor {
    int piece = 0;
    int at = 0;  // the next step, counted down
    bool fresh = true;
    infer::LaneMemory memory;
  };
  void fill(int group, FedWindow& part);

  const model::LearnedModel<float>& model_;
  const ScaledData& scaled_;
  const FusionData& data_;
  int window_;
  std::vector<Cursor> cursors_;
  std::vector<heads::FusionGroup<float>> groups_;
  int steps_ = 0;
};

}  // namespace kalmia::train
