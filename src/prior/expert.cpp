#include "prior/expert.hpp"

#include <algorithm>
#include <cmath>

#include "kalman/matrix_checks.hpp"
#include "kalmia/error.hpp"
#include "prior/expert_draft.hpp"

namespace kalmia::prior {
namespace {

constexpr int kHighestDegree = 8;
constexpr int kMostLatent = 64;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void require_at_most(const std::string& prior, std::size_t count, const char* what) {
  if (count > kMostStates)
    throw ConfigError("prior " + prior + ": " + std::to_string(count) + " " + what +
                      ", but a model has at most " + std::to_string(kMostStates) +
                      "; measure fewer columns, or take a prior of fewer states");
}

}  // namespace

std::vector<double> Expert::theta() const {
  std::vector<double> values;
  for (const ExpertParameter& parameter : parameters) values.push_back(parameter.value);
  return values;
}

const std::vector<std::string>& expert_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"none",
                                    "constant-position",
                                    "mean-reverting",
                                    "constant-velocity",
                                    "damped-velocity",
                                    "constant-acceleration",
                                    "oscillator",
                                    "ar"};
    const std::vector<std::string> physical = physical_names();
    all.insert(all.end(), physical.begin(), physical.end());
    return all;
  }();
  return names;
}

bool is_linear_flow(const std::string& name) {
  return contains(expert_names(), name) && !contains(physical_names(), name) && name != "none" &&
         name != "ar";
}

std::vector<std::string> automatic_experts(std::size_t channels) {
  std::vector<std::string> names = {"constant-position", "mean-reverting"};
  // These have a rate for each channel.
  if (2 * channels <= kMostStates)
    names.insert(names.end(), {"constant-velocity", "damped-velocity"});
  return names;
}

Expert make_expert(const ExpertSpec& spec, const std::vector<std::string>& channels,
                   const std::vector<std::string>& inputs) {
  check_ranges(spec.integration, "", 0);
  check_order(spec.lags, "", 0);  // users call the number of lags the order
  if (spec.degree < 1 || spec.degree > kHighestDegree)
    throw ConfigError("degree = " + std::to_string(spec.degree) + ", but it must be in 1.." +
                      std::to_string(kHighestDegree));
  if (!(spec.departure >= 0) || !std::isfinite(spec.departure))
    throw ConfigError("departure = " + kalman::number_text(spec.departure) +
                      ", but it must be finite and >= 0");
  if (spec.latent < 0 || spec.latent > kMostLatent)
    throw ConfigError("latent = " + std::to_string(spec.latent) + ", but it must be in 0.." +
                      std::to_string(kMostLatent));
  if (spec.latent > 0 && spec.name != "none")
    throw ConfigError("latent = " + std::to_string(spec.latent) + ", but prior = \"" + spec.name +
                      "\" has states of its own; latent states are for none");
  require_at_most(spec.name, channels.size(), "measured columns");
  const auto draft = [&] {
    if (spec.name == "none") return draft_free(channels, spec.latent);
    if (spec.name == "system") return draft_system(spec.system, channels, inputs);
    if (contains(physical_names(), spec.name)) return draft_physical(spec, channels);
    if (contains(expert_names(), spec.name)) return draft_motion(spec.name, channels, spec.lags);
    std::string known;
    for (const std::string& each : expert_names()) known += ", " + each;
    throw ConfigError("prior = \"" + spec.name + "\", but it must be one of auto" + known +
                      ", or equations in [system]");
  };
  ExpertDraft made = draft();
  require_at_most(spec.name, static_cast<std::size_t>(made.symbols.states), "states");
  return finish(made, spec);
}

}  // namespace kalmia::prior
