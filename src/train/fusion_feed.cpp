#include "train/fusion_feed.hpp"

#include <algorithm>

#include "engine/batch.hpp"

namespace kalmia::train {

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
    const infer::FusionPiece piece = data_.piece(cursor.piece);
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
