#include "train/lane_feed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "infer/two_sided_run.hpp"
#include "infer/window_run.hpp"

namespace kalmia::train {
namespace {

// A lane has at least this many windows of its own: with fewer, lanes would repeat each other.
constexpr int kWindowsPerLane = 2;
// Where the filter has to run ahead for the sake of gaps, one window in so many has them, if they
// are as rare as this.
constexpr int kGapWindows = 8;
constexpr double kRareGaps = 0.06;

// The share to ask a GapMaker for, which takes it as that of what it does not hide, so that `share`
// of all is hidden in one window of so many.
double hidden_share(double share, int windows) {
  return windows == 1 ? share : windows * share / (1 - windows * share);
}

heads::StateCarry<float> copy_of(const heads::StateCarry<float>& carry) {
  heads::StateCarry<float> copy;
  const auto take = [](const auto& from, auto& to) {
    to.resize(from.size());
    std::ranges::copy(from.span(), to.data());
  };
  take(carry.h, copy.h);
  take(carry.x, copy.x);
  take(carry.P, copy.P);
  return copy;
}

}  // namespace

int lanes_for(std::ptrdiff_t steps, int window, int most) {
  const auto wanted =
      static_cast<int>(std::clamp<std::ptrdiff_t>(steps / (kWindowsPerLane * window), 1, most));
  const int padded = lanes::padded_lanes(wanted);
  return padded <= engine::kGroupLanes
             ? padded
             : (padded + engine::kGroupLanes - 1) / engine::kGroupLanes * engine::kGroupLanes;
}

FedWindow fill_groups(ThreadTeam& team, std::size_t groups,
                      const std::function<void(int group, FedWindow& part)>& fill) {
  std::vector<FedWindow> parts(groups);
  team.run(static_cast<int>(groups),
           [&](int group, int) { fill(group, parts[static_cast<std::size_t>(group)]); });
  FedWindow total;
  for (const FedWindow& part : parts) {
    total.measured.add(part.measured);
    total.steps += part.steps;
  }
  return total;
}

LaneFeed::LaneFeed(const model::LearnedModel<float>& model, const ScaledData& data,
                   std::vector<StepRange> training, const FeedOptions& options)
    : model_(model),
      data_(data),
      training_(std::move(training)),
      options_(options),
      gap_windows_(
          !options.two_sided && model.minds_gaps() && options.gaps <= kRareGaps ? kGapWindows : 1) {
  std::ptrdiff_t total = 0;
  for (const StepRange& stretch : training_) total += stretch.steps();
  const int lanes = lanes_for(total, options.window, options.lanes);
  const bool many = static_cast<int>(training_.size()) >= 2 * lanes;
  std::size_t stretch = 0;
  std::ptrdiff_t passed = 0;  // steps in the stretches before
  for (int lane = 0; lane < lanes; ++lane) {
    Cursor cursor{
        .memory = infer::empty_memory(data.meas_dim()),
        .before = std::vector<double>(static_cast<std::size_t>(data.meas_dim())),
        .gaps = GapMaker(hidden_share(options.gaps, gap_windows_),
                         RandomStream(options.seed, "gaps", static_cast<std::uint64_t>(lane))),
        .blind = RandomStream(options.seed, "blind steps", static_cast<std::uint64_t>(lane)),
        .starts = RandomStream(options.seed, "first windows", static_cast<std::uint64_t>(lane))};
    if (many) {
      cursor.stretch = draw_stretch();
      cursor.at = training_[static_cast<std::size_t>(cursor.stretch)].begin;
    } else {
      const std::ptrdiff_t offset = total * lane / lanes;
      while (offset - passed >= training_[stretch].steps()) passed += training_[stretch++].steps();
      cursor.stretch = static_cast<int>(stretch);
      cursor.at = training_[stretch].begin + static_cast<int>(offset - passed);
    }
    cursors_.push_back(std::move(cursor));
  }
  const int group_lanes = std::min(lanes, engine::kGroupLanes);
  groups_.resize(static_cast<std::size_t>(lanes / group_lanes));
  workspaces_.resize(groups_.size());
  for (auto& group : groups_) {
    infer::prepare_group(
        model, options.two_sided ? model.smoother()->architecture() : model.architecture(),
        options.window, group_lanes, data.irregular(), group);
    if (data.weighted()) infer::prepare_weights(group);
    if (options.blind > 0)
      group.score.resize(static_cast<std::size_t>(options.window) *
                         static_cast<std::size_t>(group_lanes));
  }
}

int LaneFeed::draw_stretch() {
  if (drawn_ == order_.size()) {
    order_.resize(training_.size());
    std::iota(order_.begin(), order_.end(), 0);
    RandomStream random(options_.seed, "order of series", passes_++);
    for (std::size_t i = order_.size(); i > 1; --i)
      std::swap(order_[i - 1], order_[random.below(i)]);
    drawn_ = 0;
  }
  return order_[drawn_++];
}

// Steps of a lane's next window, if its stretch has as many.
int LaneFeed::window_of(Cursor& cursor) const {
  if (!options_.two_sided || !cursor.fresh) return options_.window;
  return options_.window -
         static_cast<int>(cursor.starts.below(static_cast<std::uint64_t>(options_.window)));
}

// Whether values are hidden in the next window of a group.
bool LaneFeed::hides_values(int group) const {
  return gap_windows_ == 1 || (windows_ + group) % gap_windows_ == 0;
}

void LaneFeed::fill(int index, FedWindow& part) {
  heads::StateGroup<float>& group = groups_[static_cast<std::size_t>(index)];
  for (int lane = 0; lane < group.lanes; ++lane)
    cut_window(index, lane, cursors_[static_cast<std::size_t>(index * group.lanes + lane)], part);
  if (options_.two_sided)
    for (int lane = 0; lane < group.lanes; ++lane) {
      Cursor& cursor = cursors_[static_cast<std::size_t>(index * group.lanes + lane)];
      infer::fill_two_sided(model_, lane, cursor.window, cursor.memory, group);
    }
  else
    fill_features(index);
  for (int lane = 0; lane < group.lanes; ++lane) {
    Cursor& cursor = cursors_[static_cast<std::size_t>(index * group.lanes + lane)];
    const std::vector<double>& seen = options_.blind > 0 ? cursor.shown : cursor.y;
    if (!seen.empty()) cursor.before.assign(seen.end() - data_.meas_dim(), seen.end());
    cursor.at += cursor.window.steps;
    cursor.fresh = false;
  }
}

// The next window of a lane: what is measured in it, and what is hidden of that.
void LaneFeed::cut_window(int index, int lane, Cursor& cursor, FedWindow& part) {
  heads::StateGroup<float>& group = groups_[static_cast<std::size_t>(index)];
  const auto M = static_cast<std::size_t>(data_.meas_dim());
  const auto row = [&](std::vector<double>& of, int k) {
    return of.data() + static_cast<std::ptrdiff_t>(k) * data_.meas_dim();
  };
  const StepRange& stretch = training_[static_cast<std::size_t>(cursor.stretch)];
  const int length = std::min(window_of(cursor), stretch.end - cursor.at);
  group.length[static_cast<std::size_t>(lane)] = length;
  group.fresh[static_cast<std::size_t>(lane)] = cursor.fresh ? 1 : 0;
  const double* from = data_.at(stretch.series, cursor.at);
  cursor.y.assign(from, from + static_cast<std::size_t>(length) * M);
  for (int k = 0; k < length && hides_values(index); ++k)
    cursor.gaps.hide(data_.meas_dim(), row(cursor.y, k));
  const bool blind = options_.blind > 0;
  if (blind) cursor.shown = cursor.y;
  for (int k = 0; k < length; ++k) {
    const bool scored = !blind || cursor.blind.uniform() < options_.blind;
    if (scored) part.measured.add(data_.measured(row(cursor.y, k)));
    if (!blind) continue;
    if (scored) std::fill_n(row(cursor.shown, k), M, std::numeric_limits<double>::quiet_NaN());
    group.score.data()[static_cast<std::ptrdiff_t>(k) * group.lanes + lane] = scored ? 1 : 0;
  }
  cursor.window = {cursor.y.data(),
                   cursor.fresh ? nullptr : cursor.before.data(),
                   data_.dt_ratio(stretch.series, cursor.at),
                   data_.inputs(stretch.series, cursor.at),
                   data_.weight(stretch.series, cursor.at),
                   length,
                   blind ? cursor.shown.data() : nullptr};
  part.steps += length;
}

// What the networks read in a group's window. Where values are missing they read nothing in every
// other window, for a model may turn out to do better so (use_settings.hpp). In the others the
// filter runs ahead, so that they read its predictions, as they will in use; no gradient goes
// through these.
void LaneFeed::fill_features(int index) {
  heads::StateGroup<float>& group = groups_[static_cast<std::size_t>(index)];
  Cursor* cursors = cursors_.data() + index * group.lanes;
  int steps = 0;
  for (int lane = 0; lane < group.lanes; ++lane)
    steps = std::max(steps, cursors[lane].window.steps);
  infer::WindowFilling filling;
  filling.waits = [&](int k) {
    for (int lane = 0; lane < group.lanes; ++lane) {
      const infer::LaneWindow& window = cursors[lane].window;
      if (k < window.steps &&
          infer::waits_for_state(model_, window.shown_before(k, data_.meas_dim())))
        return true;
    }
    return false;
  };
  const bool predicts = (windows_ + index) / gap_windows_ % 2 == 0;
  const heads::StateCarry<float>* carry = predicts ? &group.carry : nullptr;
  filling.fill = [&](int k) {
    for (int lane = 0; lane < group.lanes; ++lane)
      if (k < cursors[lane].window.steps)
        infer::fill_forwards(model_, k, lane, cursors[lane].window, cursors[lane].memory, carry,
                             group);
  };
  int last = 0;  // the last step that waits
  for (int k = 1; k < steps && predicts; ++k)
    if (filling.waits(k)) last = k;
  if (last > 0) {
    heads::StateWorkspace<float>& workspace = workspaces_[static_cast<std::size_t>(index)];
    if (workspace.max_steps == 0)
      workspace.prepare(model_.window(), options_.window, group.lanes, false);
    heads::StateCarry<float> ahead = copy_of(group.carry);
    carry = &ahead;
    infer::run_steps(model_.window(), group, last, filling, {}, ahead, workspace);
    for (int k = last; k < steps; ++k) filling.fill(k);
    return;
  }
  for (int k = 0; k < steps; ++k) filling.fill(k);
}

Measured LaneFeed::next(ThreadTeam& team) {
  // Lanes at the end of their series move on, in the order of the lanes.
  for (Cursor& cursor : cursors_) {
    if (cursor.at < training_[static_cast<std::size_t>(cursor.stretch)].end) continue;
    cursor.stretch = draw_stretch();
    cursor.at = training_[static_cast<std::size_t>(cursor.stretch)].begin;
    cursor.fresh = true;
    cursor.memory = infer::empty_memory(data_.meas_dim());
  }
  const FedWindow window =
      fill_groups(team, groups_.size(), [&](int group, FedWindow& part) { fill(group, part); });
  steps_ = window.steps;
  ++windows_;
  return window.measured;
}

void LaneFeed::restart() {
  for (Cursor& cursor : cursors_) {
    cursor.fresh = true;
    cursor.memory = infer::empty_memory(data_.meas_dim());
  }
}

void LaneFeed::restart_broken() {
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const heads::StateGroup<float>& group = groups_[g];
    for (int lane = 0; lane < group.lanes; ++lane) {
      double sum = 0;
      for (std::size_t i = static_cast<std::size_t>(lane); i < group.carry.x.size();
           i += static_cast<std::size_t>(group.lanes))
        sum += group.carry.x[i];
      for (std::size_t i = static_cast<std::size_t>(lane); i < group.carry.P.size();
           i += static_cast<std::size_t>(group.lanes))
        sum += group.carry.P[i];
      if (std::isfinite(sum)) continue;
      Cursor& cursor =
          cursors_[g * static_cast<std::size_t>(group.lanes) + static_cast<std::size_t>(lane)];
      cursor.fresh = true;
      cursor.memory = infer::empty_memory(data_.meas_dim());
    }
  }
}

}  // namespace kalmia::train
