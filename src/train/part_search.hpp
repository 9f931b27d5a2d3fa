// Which parts a channel is the sum of: a search over sums, judged by all uses of a model.
#pragma once

#include <span>
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

/// Whether a part returns to its mean over about the length of the data, of which the longest
/// series has so many steps: a memory of more than a quarter of it, a motion unless it hardly
/// returns at all. It tells what a trend tells, but bends every forecast to where the data happen
/// to stop. `rates`: those of the parts, in their order (ModelDescription::theta).
bool ends_with_the_data(const std::vector<prior::Part>& parts, std::span<const double> rates,
                        int longest);

/// Searches the parts of the only channel of `channel`: single ones first; then one is added or
/// replaced at a time, as long as the sum becomes better; the noise of the best sum, and of the
/// best that begins with another part, is tuned for use (use_tuning.hpp). No part of a sum ends
/// with the data. Sums are fitted to at most `most_steps` steps, and scored with `runs` (UseData).
/// Throws NumericalError if none could be.
FoundSum search_parts(const FitContext& channel, int most_steps, const std::vector<int>& runs);

}  // namespace kalmia::train
