// Feeds the leak-free smoother's training windows: every lane walks backwards through the data,
// window after window, and goes on where it left off.
#pragma once

#include <span>
#include <vector>

#include "base/threads.hpp"
#include "train/fusion_data.hpp"
#include "train/lane_feed.hpp"

namespace kalmia::train {

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
