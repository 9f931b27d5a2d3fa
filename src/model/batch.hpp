// A batch of lane groups: the engine's work shared among threads, with results that do not depend
// on how many there are.
#pragma once

#include <span>
#include <vector>

#include "base/threads.hpp"
#include "model/window.hpp"

namespace kalmia::model {

/// Lanes a group has in training and batched inference: two lines of float, the width the products'
/// register tiles are made for.
inline constexpr int kGroupLanes = 32;

/// One lane group's window with its data and its carried state.
template <typename T>
struct LaneGroup {
  int steps = 0;
  int lanes = 0;
  Buffer<T> input_fwd;              ///< [step][input_dim][lane]
  Buffer<T> input_bwd;              ///< [step][input_dim][lane], two-sided models only
  Buffer<double> y;                 ///< [step][meas_dim][lane]
  Buffer<double> observed;          ///< [step][meas_dim][lane], or empty: all measured
  Buffer<double> centre;            ///< [step][state_dim][lane], or empty: 0
  Buffer<double> trust;             ///< [step][state_dim][lane], or empty: 1
  Buffer<double> lost;              ///< [step][lane], or empty: 0
  Buffer<double> linearise;         ///< [step][2 N][lane], or empty: at the filter's states
  Buffer<double> prior_x, prior_P;  ///< [step][N][lane], [step][N N][lane]; fusion only
  Buffer<T> gain_offset, gain_square, gain_product;  ///< [step][gains][lane]; gains only
  Buffer<double> weight;                             ///< [step][meas_dim][lane], or empty: 1
  Buffer<double> score;                              ///< [step][lane], or empty: 1
  Buffer<double> dt;                                 ///< [step][lane], or empty: the model's
  Buffer<double> u;                                  ///< [step][inputs][lane], or empty: none
  std::vector<int> length;                           ///< [lane], or empty: all lanes have `steps`
  std::vector<std::uint8_t> fresh;                   ///< [lane], or empty: all lanes start here
  Carry<T> carry;

  /// Makes room for a window; lengths and fresh flags are left empty.
  void resize(const Architecture& architecture, int num_steps, int num_lanes);
  WindowInput<T> view() const;
};

/// What one pass over a batch gave.
struct BatchResult {
  double nll = 0;  ///< sum over all lanes that did not fail
  int failed_lanes = 0;
  /// The first lane that failed, counted through the groups, and how.
  int failed_sequence = -1;
  int failed_step = -1;
  bool failed_covariance = false;  ///< else a number was not finite

  /// Throws NumericalError that names sequence, step, matrix and rule, if a lane failed. For
  /// inference; training leaves such lanes out and goes on.
  void require_success() const;
};

/// Threads and workspaces for windows of up to `max_steps` x `max_lanes`. Memory: one tape per
/// thread and one gradient per group, independent of the length of the series.
template <typename T>
class BatchEngine {
 public:
  BatchEngine(const WindowModel<T>& model, ThreadTeam& team, int max_steps, int max_lanes,
              bool training);

  /// Forward and backward over all groups: `gradient` is set to that of scale * nll, `d_R` (if not
  /// empty, M x M) and `d_theta` (if not empty) likewise. Carries move on. Sums run in the order of
  /// the groups.
  BatchResult gradient(std::span<LaneGroup<T>> groups, double scale, std::span<T> gradient,
                       std::span<double> d_R = {}, std::span<double> d_theta = {});

  /// Forward only. `moments` is empty or has one entry per group.
  BatchResult forward(std::span<LaneGroup<T>> groups, std::span<const WindowMoments> moments = {});

 private:
  WindowModel<T> model_;
  ThreadTeam& team_;
  bool training_;
  std::vector<Workspace<T>> workspaces_;  // one per thread
  std::vector<Buffer<T>> group_gradients_;
  std::vector<Buffer<double>> group_d_R_, group_d_theta_;
  std::vector<BatchResult> group_results_;
};

}  // namespace kalmia::model
