// The data of a fit: checked, with their long steps cut up.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "kalmia/data.hpp"
#include "model/drive.hpp"
#include "model/even_steps.hpp"
#include "model/model_spec.hpp"

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

  /// Trained on, except for what is held out of it.
  const Dataset& training() const { return even_.data(); }
  /// The same, and after it the series of the validation data.
  const Dataset& all() const { return joined_ ? *joined_ : even_.data(); }
  bool has_validation() const { return joined_.has_value(); }
  /// Inputs and step lengths of the training data as they were given.
  const model::DriveStatistics& drive() const { return drive_; }
  /// Steps after the last measured value of a series, of all data as they were given.
  std::size_t empty_end_steps() const { return empty_end_steps_; }

 private:
  model::DriveStatistics drive_;
  model::EvenSteps even_;
  std::optional<Dataset> joined_;
  std::size_t empty_end_steps_;
};

/// Names in a message: "a, b", as names are printed; "none" if there are none.
std::string name_list(const std::vector<std::string>& names);

}  // namespace kalmia::train
