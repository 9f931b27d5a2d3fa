// Expert knowledge in the header of a model file.
#pragma once

#include <nlohmann/json.hpp>

#include "prior/expert.hpp"

namespace kalmia::model {

/// Only what differs from its default.
nlohmann::ordered_json expert_json(const prior::ExpertSpec& spec);

/// Throws nlohmann::json::exception if an entry is missing or of a wrong type, ConfigError if a
/// number that must be whole is not.
prior::ExpertSpec expert_from_json(const nlohmann::ordered_json& json);

}  // namespace kalmia::model
