// Which parts a channel is the sum of: a search over sums, judged by all uses of a model.
#pragma once

#include <string>
#include <vector>

#include "train/fit_context.hpp"
#include "train/static_stage.hpp"
#include "train/use_scores.hpp"

namespace kalmia::train {

struct FoundSum {
  std::vector<prior::Part> parts;
  StaticResult fitted;
  std::vector<TriedModel> tried;  ///< in their order
  /// The single part that predicts best, with few states: what networks may learn most from.
  std::vector<prior::Part> predictor;
  StaticResult predictor_fitted;
};

/// Searches the parts of the only channel of `channel`: single ones first; then one is added or
/// replaced at a time, as long as the sum becomes better; the noise of the best is tuned for use
/// (use_tuning.hpp). Sums are fitted to at most `most_steps` steps, and scored with `runs`
/// (UseData). Throws NumericalError if none could be.
FoundSum search_parts(const FitContext& channel, int most_steps, const std::vector<int>& runs);

}  // namespace kalmia::train
