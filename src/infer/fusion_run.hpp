// The leak-free smoother over whole series: what the future says, fused with the filter's
// predictions.
#pragma once

#include <functional>
#include <span>

#include "infer/run.hpp"

namespace kalmia::infer {

/// The same with the filter's predictions, for the fused smoother.
struct FusionView {
  const double* y = nullptr;       ///< steps x M, NaN = missing
  const double* x_pred = nullptr;  ///< x[k|<k], steps x N
  const double* P_pred = nullptr;  ///< P[k|<k], steps x N N
  int steps = 0;
  const double* dt_ratio = nullptr;  ///< length of the step to k over the usual one; null: 1
  const double* u = nullptr;         ///< inputs, steps x U; null where there are none
};

/// Makes room for windows of `steps` x `lanes`.
void prepare_fusion_group(const model::LearnedModel<float>& model, int steps, int lanes,
                          heads::FusionGroup<float>& group);

/// Fills step i of a lane with step k of a piece. A lane walks backwards: the step before it was
/// k + 1, or there is none at the piece's end, where it starts. The networks read y[k+1], and the
/// length and the inputs of the step that leads there: what y[k+1] says of x[k] depends on them.
void fill_fusion_step(const model::LearnedModel<float>& model, int i, int lane,
                      const FusionView& piece, int k, LaneMemory& memory,
                      heads::FusionGroup<float>& group);

/// Smooths all pieces, each from its end on. `sink` takes windows of a piece, last steps first:
/// step j of its moments is step last - j of the piece, x_pred and P_pred are those of the fused
/// prediction, x_filt and P_filt the smoothed state's. Throws NumericalError, naming the piece.
using FusionSink = std::function<void(int piece, int last, int count, const LaneMoments& moments)>;
void run_fusion(const model::LearnedModel<float>& model, std::span<const FusionView> pieces,
                const RequestedMoments& wanted, ThreadTeam& team, const FusionSink& sink,
                const std::function<std::string(int piece)>& name);

}  // namespace kalmia::infer
