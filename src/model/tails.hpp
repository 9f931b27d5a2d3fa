// The tails of the measurement noise as a user states them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "kalmia/option_rules.hpp"

namespace kalmia::model {

struct GaussianTails {};
struct StudentTails {
  double degrees_of_freedom = 4;
};
/// Student's t with degrees of freedom that are learned.
struct LearnedTails {};

using Tails = std::variant<GaussianTails, StudentTails, LearnedTails>;

inline bool is_gaussian(const Tails& tails) { return std::holds_alternative<GaussianTails>(tails); }

/// `gaussian`, `learn` and the form of a number, with what they mean.
std::vector<Choice> tails_forms();

/// Reads ModelOptions::tails. Throws ConfigError.
Tails parse_tails(const std::string& text);

}  // namespace kalmia::model
