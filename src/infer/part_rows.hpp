// What each part of a sum adds to each channel.
#pragma once

#include <string>
#include <vector>

#include "model/learned_model.hpp"

namespace kalmia::infer {

/// What a part adds to a channel, as a function of the states x (N), in the user's units:
/// offset + row x.
struct PartRow {
  std::string name;  ///< "<channel>:<part>"
  double offset = 0;
  std::vector<double> row;  ///< N
  /// The channel whose h(x) is added to that, or kNone: equations add what parts leave of it.
  int channel = kNone;

  static constexpr int kNone = -1;
};

/// The parts of each channel in their order, whose rows add up to what the channel measures, h(x).
/// The channel's mean is in the first part that carries a level. Where there is none, the parts
/// vary about zero, and a constant before them, "<channel>:mean", has the mean. Of parts that are
/// added to equations, what these add comes first, under their name, "<channel>:lorenz".
///
/// Throws ConfigError if the prior is no sum of parts, or if the filter's networks put out states
/// that no map moves.
std::vector<PartRow> part_rows(const model::LearnedModel<float>& model);

}  // namespace kalmia::infer
