#include "train/fit_options.hpp"

#include "base/option_rules.hpp"
#include "kalmia/error.hpp"

namespace kalmia {
namespace {

train::FitSpec parse(const FitOptions& options, std::vector<std::string>& violations) {
  train::FitSpec spec{model::parse_model(options.model, violations), options.train};
  add_range_violations(options.train, "train.", violations);
  return spec;
}

}  // namespace

std::vector<std::string> FitOptions::violations() const {
  std::vector<std::string> found;
  parse(*this, found);
  return found;
}

void FitOptions::validate() const { train::parse_options(*this); }

namespace train {

FitSpec parse_options(const FitOptions& options) {
  std::vector<std::string> violations;
  FitSpec spec = parse(options, violations);
  if (violations.empty()) return spec;
  std::string message = "invalid options:";
  for (const std::string& each : violations) message += "\n  " + each;
  throw ConfigError(message);
}

}  // namespace train
}  // namespace kalmia
