// What the public Model holds.
#pragma once

#include <memory>

#include "kalmia/model.hpp"
#include "model/learned_model.hpp"

namespace kalmia {

struct Model::Impl {
  std::unique_ptr<const model::LearnedModel<float>> learned;
};

}  // namespace kalmia
