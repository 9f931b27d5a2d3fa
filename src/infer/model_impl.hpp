// What the public Model holds.
#pragma once

#include <utility>

#include "kalmia/model.hpp"
#include "model/ensemble.hpp"

namespace kalmia {

struct Model::Impl : model::Ensemble {
  explicit Impl(model::Ensemble ensemble) : model::Ensemble(std::move(ensemble)) {}
};

}  // namespace kalmia
