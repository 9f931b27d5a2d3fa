// The data of a fit: checked, with long steps cut up, and divided into what is trained on and what
// is held out.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kalmia/data.hpp"
#include "model/channels.hpp"
#include "model/drive.hpp"
#include "model/even_steps.hpp"
#include "model/model_spec.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

/// With fewer measured values held out, or left for training, there is nothing to choose by.
inline constexpr double kFewestHeldOut = 20;

class FitData {
 public:
  /// Throws DataError or ConfigError for data that cannot be used. They must outlive this object.
  FitData(const Dataset& data, const model::ModelSpec& spec);
  /// With other series, to choose the model by. Throws DataError unless both have the same columns,
  /// and `validation` at least kFewestHeldOut measured values.
  FitData(const Dataset& data, const Dataset& validation, const model::ModelSpec& spec);

  /// The same steps with one measured channel alone, and without its outliers if `outliers` is
  /// false: they are missing.
  FitData of_channel(std::size_t channel, bool outliers) const;

  /// Trained on, except for what is held out of it.
  const Dataset& training() const { return channel_ ? *channel_ : even_.data(); }
  /// The same, and after it the series of the validation data.
  const Dataset& all() const { return joined_ ? *joined_ : training(); }
  bool has_validation() const { return joined_.has_value(); }
  /// Inputs and step lengths of the training data as they were given.
  const model::DriveStatistics& drive() const { return drive_; }
  /// Steps after the last measured value of a series, of all data as they were given.
  std::size_t empty_end_steps() const { return empty_end_steps_; }

 private:
  model::DriveStatistics drive_;
  model::EvenSteps even_;
  std::optional<Dataset> joined_;
  std::optional<Dataset> channel_;
  std::size_t empty_end_steps_;
};

/// Names in a message: "a, b", as names are printed; "none" if there are none.
std::string name_list(const std::vector<std::string>& names);

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
