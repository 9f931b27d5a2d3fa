#include "model/smoother_networks.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::model {

SmootherNetworks::SmootherNetworks(const heads::ArchitectureOptions& options,
                                   std::span<const float> parameters)
    : architecture_(options) {
  set_parameters(parameters);
}

void SmootherNetworks::set_parameters(std::span<const float> parameters) {
  const auto needed = static_cast<std::size_t>(architecture_.parameters.size());
  if (parameters.size() != needed)
    throw ConfigError("model: the smoother has " + std::to_string(parameters.size()) +
                      " parameters, but " + std::to_string(needed) + " are needed");
  if (!std::ranges::all_of(parameters, [](float value) { return std::isfinite(value); }))
    throw ConfigError("model: a parameter of the smoother is not finite");
  parameters_.resize(needed);
  std::ranges::copy(parameters, parameters_.data());
  network_.pack(architecture_, parameters_.data());
}

}  // namespace kalmia::model
