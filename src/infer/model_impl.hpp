// What the public Model holds.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "kalmia/model.hpp"
#include "model/learned_model.hpp"

namespace kalmia {

/// One model, or several whose networks come from different seeds: an ensemble. Its members share
/// all but the numbers of their networks, of their smoothers and of a learned R.
struct Model::Impl {
  std::unique_ptr<const model::LearnedModel<float>> learned;  ///< the first member
  std::vector<std::unique_ptr<const model::LearnedModel<float>>> others = {};

  std::vector<const model::LearnedModel<float>*> members() const {
    std::vector<const model::LearnedModel<float>*> all{learned.get()};
    for (const auto& each : others) all.push_back(each.get());
    return all;
  }
  /// Some member has networks that read the future.
  bool has_fusion() const {
    return std::ranges::any_of(members(),
                               [](const auto* member) { return member->fusion() != nullptr; });
  }
  const std::optional<model::Calibration>& calibration() const {
    return learned->description().calibration;
  }
  /// Results are not those of one model as they come.
  bool is_combined() const { return !others.empty() || calibration().has_value(); }
};

}  // namespace kalmia
