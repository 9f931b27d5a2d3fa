#include "train/fusion_feed.hpp"

#include <algorithm>

#include "engine/batch.hpp"
#include "kalman/classical/batch.hpp"
#include "train/gap_maker.hpp"

namespace kalmia::train {

FusionData::FusionData(const model::LearnedModel<float>& model, const ScaledData& data,
                       std::vector<StepRange> stretches, double gaps, std::uint64_t seed,
                       ThreadTeam& team)
    : meas_dim_(data.meas_dim()) {
  std::ptrdiff_t total = 0;
  for (const StepRange& stretch : stretches) total += stretch.steps();
  every_ = static_cast<std::size_t>(
      std::max<std::ptrdiff_t>((total + kMostFusionSteps - 1) / kMostFusionSteps, 1));
  for (std::size_t i = 0; i < stretches.size(); i += every_) stretches_.push_back(stretches[i]);
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    infer::SeriesView piece = data.view(stretches_[i]);
    const auto M = static_cast<std::size_t>(meas_dim_);
    std::vector<double>& y =
        y_.emplace_back(piece.y, piece.y + static_cast<std::size_t>(piece.steps) * M);
    GapMaker maker(gaps, RandomStream(seed, "gaps of the smoother", i));
    for (std::size_t k = 0; k < static_cast<std::size_t>(piece.steps); ++k)
      maker.hide(meas_dim_, y.data() + k * M);
    piece.y = y.data();
    pieces_.push_back(piece);
  }
  pass_ = infer::run_pass(model, pieces_, {.predicted = true}, team,
                          [](int) { return std::string("the smoother's training data"); });
}

infer::FusionView FusionData::view(int index) const {
  const FilterResult& result = pass_.moments;
  const int N = result.state_dim;
  const infer::SeriesView& piece = pieces_[static_cast<std::size_t>(index)];
  return {piece.y,
          result.predicted.mean.data() + kalman::row_at(result, index, 0, N),
          result.predicted.covariance.data() + kalman::row_at(result, index, 0, N * N),
          piece.steps,
          piece.dt_ratio,
          piece.u};
}

std::vector<infer::FusionView> FusionData::views() const {
  std::vector<infer::FusionView> all;
  for (int i = 0; i < count(); ++i) all.push_back(view(i));
  return all;
}

std::ptrdiff_t FusionData::steps() const {
  std::ptrdiff_t total = 0;
  for (const StepRange& each : stretches_) total += each.steps();
  return total;
}

FusionFeed::FusionFeed(const model::LearnedModel<float>& model, const ScaledData& scaled,
                       const FusionData& data, int window, int lanes)
    : model_(model), scaled_(scaled), data_(data), window_(window) {
  const std::ptrdiff_t total = data.steps();
  const int count = lanes_for(total, window, lanes);
  int piece = 0;
  std::ptrdiff_t passed = 0;  // steps in the pieces before
  for (int lane = 0; lane < count; ++lane) {
    const std::ptrdiff_t offset = (total - 1) - (total * (count - 1 - lane)) / count;
    while (offset - passed >= data.stretch(piece).steps()) passed += data.stretch(piece++).steps();
    cursors_.push_back(
        {piece, static_cast<int>(offset - passed), true, infer::empty_memory(model.meas_dim())});
  }
  const int group_lanes = std::min(count, engine::kGroupLanes);
  groups_.resize(static_cast<std::size_t>(count / group_lanes));
  for (auto& group : groups_) infer::prepare_fusion_group(model, window, group_lanes, group);
}

void FusionFeed::fill(int index, FedWindow& part) {
  heads::FusionGroup<float>& group = groups_[static_cast<std::size_t>(index)];
  for (int lane = 0; lane < group.lanes; ++lane) {
    Cursor& cursor = cursors_[static_cast<std::size_t>(index * group.lanes + lane)];
    if (cursor.at < 0) {
      const int next = (cursor.piece + 1) % data_.count();
      cursor = {next, data_.stretch(next).steps() - 1, true,
                infer::empty_memory(model_.meas_dim())};
    }
    const infer::FusionView piece = data_.view(cursor.piece);
    const int length = std::min(window_, cursor.at + 1);
    group.length[static_cast<std::size_t>(lane)] = length;
    group.fresh[static_cast<std::size_t>(lane)] = cursor.fresh ? 1 : 0;
    for (int i = 0; i < length; ++i) {
      const int k = cursor.at - i;
      infer::fill_fusion_step(model_, i, lane, piece, k, cursor.memory, group);
      part.measured.add(
          scaled_.measured(piece.y + static_cast<std::ptrdiff_t>(k) * model_.meas_dim()));
    }
    part.steps += length;
    cursor.at -= length;
    cursor.fresh = false;
  }
}

Measured FusionFeed::next(ThreadTeam& team) {
  const FedWindow window =
      fill_groups(team, groups_.size(), [&](int group, FedWindow& part) { fill(group, part); });
  steps_ = window.steps;
  return window.measured;
}

void FusionFeed::restart() {
  for (Cursor& cursor : cursors_) {
    cursor.fresh = true;
    cursor.memory = infer::empty_memory(model_.meas_dim());
  }
}

}  // namespace kalmia::train
