#include "train/fusion_data.hpp"

#include <algorithm>

#include "kalman/classical/batch.hpp"
#include "train/gap_maker.hpp"

namespace kalmia::train {

FusionData::FusionData(const model::LearnedModel<float>& model, const ScaledData& data,
                       std::vector<Stretch> stretches, double gaps, std::uint64_t seed,
                       ThreadTeam& team)
    : meas_dim_(data.meas_dim()) {
  std::ptrdiff_t total = 0;
  for (const Stretch& stretch : stretches) total += stretch.steps();
  every_ = static_cast<std::size_t>(
      std::max<std::ptrdiff_t>((total + kMostFusionSteps - 1) / kMostFusionSteps, 1));
  for (std::size_t i = 0; i < stretches.size(); i += every_) stretches_.push_back(stretches[i]);
  for (std::size_t i = 0; i < stretches_.size(); ++i) {
    infer::Piece piece = data.piece(stretches_[i]);
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

infer::FusionPiece FusionData::piece(int index) const {
  const FilterResult& result = pass_.moments;
  const int N = result.state_dim;
  const infer::Piece& piece = pieces_[static_cast<std::size_t>(index)];
  return {piece.y,
          result.predicted.mean.data() + kalman::row_at(result, index, 0, N),
          result.predicted.covariance.data() + kalman::row_at(result, index, 0, N * N),
          piece.steps,
          piece.dt_ratio,
          piece.u};
}

std::vector<infer::FusionPiece> FusionData::pieces() const {
  std::vector<infer::FusionPiece> all;
  for (int i = 0; i < count(); ++i) all.push_back(piece(i));
  return all;
}

std::ptrdiff_t FusionData::steps() const {
  std::ptrdiff_t total = 0;
  for (const Stretch& each : stretches_) total += each.steps();
  return total;
}

}  // namespace kalmia::train
