#include "model/smoother_networks.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::model {
namespace {

constexpr SmootherKind kKinds[] = {SmootherKind::Fused, SmootherKind::Recurrent,
                                   SmootherKind::Recursive, SmootherKind::RecursiveAlternative};

}  // namespace

const char* smoother_name(SmootherKind kind) {
  switch (kind) {
    case SmootherKind::Fused:
      return "fused";
    case SmootherKind::Recurrent:
      return "recurrent";
    case SmootherKind::Recursive:
      return "recursive";
    case SmootherKind::RecursiveAlternative:
      return "recursive-alternative";
  }
  return "";
}

SmootherKind smoother_of_name(const std::string& name) {
  for (const SmootherKind kind : kKinds)
    if (name == smoother_name(kind)) return kind;
  throw ConfigError("smoother = \"" + name +
                    "\", but it must be fused, recurrent, recursive or recursive-alternative");
}

SmootherNetworks::SmootherNetworks(const ArchitectureOptions& options,
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
