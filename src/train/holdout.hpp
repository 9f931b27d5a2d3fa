// What is trained on, and what is held out to choose by.
#pragma once

#include <vector>

#include "model/channels.hpp"
#include "train/fit_data.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

struct Holdout {
  Split split;
  double values = 0;  ///< measured in the training data, with what is held out of them
  /// Too little data to hold any out: the static model is fitted to all of them, priors are
  /// compared by Akaike's criterion, and networks are not tried. With validation data: too little
  /// to train on.
  bool little_data = false;

  std::size_t training_steps() const { return total_steps(split.training); }
  std::size_t held_out_steps() const;
};

/// Holds out the validation data, or TrainOptions::holdout of the data. `channels`: of the training
/// data.
Holdout choose_holdout(const FitData& data, const std::vector<model::ChannelStatistics>& channels,
                       const TrainOptions& options);

}  // namespace kalmia::train
