// Models for tests, from their members.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "infer/model_impl.hpp"
#include "model/model_file.hpp"

namespace kalmia::test {

using Member = std::shared_ptr<const model::LearnedModel<float>>;

/// A model alone, which it does not own.
inline model::Ensemble ensemble_of(const model::LearnedModel<float>& model) {
  model::Ensemble ensemble;
  ensemble.members.emplace_back(std::shared_ptr<void>(), &model);
  return ensemble;
}

/// The file of a model alone.
inline std::string file_bytes(const model::LearnedModel<float>& model) {
  return model::model_file_bytes(ensemble_of(model));
}

inline Model model_of(std::vector<Member> members,
                      std::optional<model::Calibration> calibration = {}) {
  model::Ensemble ensemble;
  ensemble.members = std::move(members);
  ensemble.calibration = calibration;
  return Model(std::make_shared<Model::Impl>(std::move(ensemble)));
}
inline Model model_of(std::unique_ptr<model::LearnedModel<float>> model,
                      std::optional<model::Calibration> calibration = {}) {
  return model_of(std::vector<Member>{std::move(model)}, calibration);
}

}  // namespace kalmia::test
