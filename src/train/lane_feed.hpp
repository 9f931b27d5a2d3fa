// Feeds training windows: every lane walks through the training data, window after window, and
// goes on where it left off.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "base/threads.hpp"
#include "infer/lane_fill.hpp"
#include "train/gap_maker.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

struct FeedOptions {
  int window = 32;
  int lanes = 128;  ///< at most; fewer where the data are short
  /// Share of the measurements hidden (gap_maker.hpp): the networks learn what a gap is, also from
  /// data without any. Where gaps are fed predictions, which takes a run of the filter, some
  /// windows have them all.
  double gaps = 0;
  std::uint64_t seed = 1;
  /// Windows of the model's two-sided smoother, which reads the future within them. Lanes begin
  /// with a shorter one, so that a step is now at the end of a window, now in the middle.
  bool two_sided = false;
  /// Share of the steps that the networks are not shown; if it is not 0, these alone are scored.
  double blind = 0;
};

/// Lanes that suit so many steps of data: `most` at most; whole groups, or one small one.
int lanes_for(std::ptrdiff_t steps, int window, int most);

/// What a window of all lanes holds.
struct FedWindow {
  Measured measured;
  int steps = 0;  ///< time steps
};

/// Fills groups side by side; the parts are summed in the order of the groups.
FedWindow fill_groups(ThreadTeam& team, std::size_t groups,
                      const std::function<void(int group, FedWindow& part)>& fill);

/// Lanes start spread evenly over the data. A lane that comes to the end of a series goes on with
/// the next one, in an order that is drawn for each pass. What a lane gets depends on the seed
/// and the lane alone, not on threads.
class LaneFeed {
 public:
  using Group = heads::StateGroup<float>;

  /// `model` and `data` must outlive the feed.
  LaneFeed(const model::LearnedModel<float>& model, const ScaledData& data,
           std::vector<StepRange> training, const FeedOptions& options);

  std::span<heads::StateGroup<float>> groups() { return groups_; }
  int lanes() const { return static_cast<int>(cursors_.size()); }

  /// Fills the next window of every lane. Returns what there is in it.
  Measured next(ThreadTeam& team);
  /// Time steps in the last window, all lanes.
  int steps() const { return steps_; }

  /// Restarts all lanes where they stand, after their carried states were lost.
  void restart();
  /// Restarts the lanes of `group` whose carried state is not finite.
  void restart_broken();

 private:
  struct Cursor {
    int stretch = 0;
    int at = 0;
    bool fresh = true;
    infer::LaneMemory memory;
    std::vector<double> before;              // y of the step before, as it was shown
    std::vector<double> y = {}, shown = {};  // of the window; what the networks are shown of it
    infer::LaneWindow window = {};
    GapMaker gaps;
    RandomStream blind;
    RandomStream starts;
  };

  int draw_stretch();
  int window_of(Cursor& cursor) const;
  bool hides_values(int group) const;
  void fill(int group, FedWindow& part);
  void cut_window(int group, int lane, Cursor& cursor, FedWindow& part);
  void fill_features(int group);

  const model::LearnedModel<float>& model_;
  const ScaledData& data_;
  std::vector<StepRange> training_;
  FeedOptions options_;
  int gap_windows_ = 1;  // one window in so many has values hidden
  std::vector<Cursor> cursors_;
  std::vector<heads::StateGroup<float>> groups_;
  std::vector<heads::StateWorkspace<float>> workspaces_;  // of the groups; made ready when needed
  int windows_ = 0;                                       // fed so far
  std::vector<int> order_;
  std::size_t drawn_ = 0;
  std::uint64_t passes_ = 0;
  int steps_ = 0;
};

}  // namespace kalmia::train
