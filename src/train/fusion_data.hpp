// What the leak-free smoother learns from: measurements with the finished filter's predictions.
#pragma once

#include <vector>

#include "infer/filter_pass.hpp"
#include "infer/fusion_run.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

/// Stretches of the data, with a share of the values hidden, and the filter's predictions of them.
class FusionData {
 public:
  /// Long data are thinned out to kMostFusionSteps, whole stretches at a time.
  FusionData(const model::LearnedModel<float>& model, const ScaledData& data,
             std::vector<Stretch> stretches, double gaps, std::uint64_t seed, ThreadTeam& team);

  int count() const { return static_cast<int>(stretches_.size()); }
  const Stretch& stretch(int index) const { return stretches_[static_cast<std::size_t>(index)]; }
  /// The place of this stretch among those that were given.
  std::size_t given_index(int index) const { return static_cast<std::size_t>(index) * every_; }
  infer::FusionPiece piece(int index) const;
  std::vector<infer::FusionPiece> pieces() const;
  std::ptrdiff_t steps() const;

 private:
  int meas_dim_;
  std::size_t every_ = 1;  // stretch that was given is kept
  std::vector<Stretch> stretches_;
  std::vector<std::vector<double>> y_;
  std::vector<infer::Piece> pieces_;
  infer::FilterPass pass_;
};

inline constexpr std::ptrdiff_t kMostFusionSteps = std::ptrdiff_t{1} << 19;

}  // namespace kalmia::train
