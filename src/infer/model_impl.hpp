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
  /// How the smoother that was trained is called; empty if no member has one.
  std::string trained_smoother() const {
    for (const auto* member : members())
      if (member->smoother() != nullptr)
        return model::smoother_name(member->description().smoother.kind);
    return {};
  }
  const std::optional<model::Calibration>& calibration() const {
    return learned->description().calibration;
  }
  /// Results are not those of one model as they come.
  bool is_combined() const { return !others.empty() || calibration().has_value(); }
};

}  // namespace kalmia
