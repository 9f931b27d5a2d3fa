// A batch of lane groups: the engine's work shared among threads, with results that do not depend
// on how many there are.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "base/threads.hpp"
#include "engine/window.hpp"
#include "kalmia/error.hpp"

namespace kalmia::engine {

/// Lanes a group has in training and batched inference: two lines of float, the width the products'
/// register tiles are made for.
inline constexpr int kGroupLanes = 32;

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

/// What a window of `lanes` lanes gave.
template <typename T>
BatchResult result_of(const NetworkWorkspace<T>& workspace, double nll, int lanes);
/// The results of groups of so many lanes each, together; lanes are counted through the groups.
BatchResult total_of(std::span<const BatchResult> groups, std::span<const int> lanes);

/// Threads and workspaces for windows of up to `max_steps` x `max_lanes`, of a head whose groups
/// are of the type Group (which has `lanes`, `view()` and `carry`). Memory: one tape per thread and
/// one gradient per group, independent of the length of the series.
template <typename Group>
class BatchEngine {
 public:
  using Head = typename Group::Head;
  using T = typename Head::Scalar;

  BatchEngine(const typename Head::Model& model, ThreadTeam& team, int max_steps, int max_lanes,
              bool training)
      : model_(model),
        team_(team),
        training_(training),
        workspaces_(static_cast<std::size_t>(team.size())) {
    for (auto& workspace : workspaces_) workspace.prepare(model, max_steps, max_lanes, training);
  }

  /// Forward and backward over all groups: `gradient` is set to that of scale * nll, and of heads
  /// that have them `d_R` (if not empty, M x M) and `d_theta` (if not empty) likewise. Carries move
  /// on. Sums run in the order of the groups.
  BatchResult gradient(std::span<Group> groups, double scale, std::span<T> gradient,
                       std::span<double> d_R = {}, std::span<double> d_theta = {}) {
    check_gradient(gradient.size());
    group_gradients_.resize(std::max(group_gradients_.size(), groups.size()));
    group_d_R_.resize(group_gradients_.size());
    group_d_theta_.resize(group_gradients_.size());
    const BatchResult result = run(groups, {}, [&](std::size_t g, auto& ws) {
      window_backward(model_, groups[g].view(), scale, ws);
      keep(ws.gradient, group_gradients_[g]);
      if constexpr (requires { ws.d_R; }) {
        keep(ws.d_R, group_d_R_[g]);
        keep(ws.d_theta, group_d_theta_[g]);
      }
    });
    const auto sum = [&]<typename S>(const std::vector<Buffer<S>>& parts, std::span<S> into) {
      std::fill(into.begin(), into.end(), S(0));
      for (std::size_t g = 0; g < groups.size(); ++g)
        for (std::size_t i = 0; i < into.size(); ++i) into[i] += parts[g][i];
    };
    sum(group_gradients_, gradient);
    sum(group_d_R_, d_R);
    sum(group_d_theta_, d_theta);
    return result;
  }

  /// Forward only. `moments` is empty or has one entry per group.
  BatchResult forward(std::span<Group> groups,
                      std::span<const typename Head::Moments> moments = {}) {
    if (!moments.empty() && moments.size() != groups.size())
      throw ConfigError("BatchEngine::forward: " + std::to_string(moments.size()) +
                        " places for moments, but " + std::to_string(groups.size()) + " groups");
    return run(groups, moments, [](std::size_t, auto&) {});
  }

 private:
  void check_gradient(std::size_t size) const {
    if (!training_) throw ConfigError("BatchEngine::gradient needs an engine made for training");
    const auto parameters = static_cast<std::size_t>(model_.architecture->parameters.size());
    if (size != parameters)
      throw ConfigError("BatchEngine::gradient: gradient has " + std::to_string(size) +
                        " numbers, but the model has " + std::to_string(parameters) +
                        " parameters");
  }

  template <typename S>
  static void keep(const Buffer<S>& from, Buffer<S>& to) {
    if (to.empty()) to.resize(from.size());
    std::copy_n(from.data(), from.size(), to.data());
  }

  // Runs all groups forward, and then `after` on each; the totals.
  template <typename After>
  BatchResult run(std::span<Group> groups, std::span<const typename Head::Moments> moments,
                  const After& after) {
    group_results_.resize(groups.size());
    group_lanes_.resize(groups.size());
    team_.run(static_cast<int>(groups.size()), [&](int index, int thread) {
      const auto g = static_cast<std::size_t>(index);
      auto& ws = workspaces_[static_cast<std::size_t>(thread)];
      const double nll =
          window_forward(model_, groups[g].view(), groups[g].carry,
                         moments.empty() ? typename Head::Moments{} : moments[g], ws);
      group_results_[g] = result_of<T>(ws, nll, groups[g].lanes);
      group_lanes_[g] = groups[g].lanes;
      after(g, ws);
    });
    return total_of(group_results_, group_lanes_);
  }

  typename Head::Model model_;
  ThreadTeam& team_;
  bool training_;
  std::vector<typename Head::Workspace> workspaces_;  // one per thread
  std::vector<Buffer<T>> group_gradients_;
  std::vector<Buffer<double>> group_d_R_, group_d_theta_;
  std::vector<BatchResult> group_results_;
  std::vector<int> group_lanes_;
};

}  // namespace kalmia::engine
