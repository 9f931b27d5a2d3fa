#include "train/prior_choice.hpp"

#include <fmt/format.h>

#include <utility>

#include "kalmia/error.hpp"
#include "train/first_description.hpp"
#include "train/state_climate.hpp"

namespace kalmia::train {

ChosenPrior choose_prior(const FitContext& fit) {
  const ModelOptions& options = fit.options.model;
  const bool any = options.prior == "auto";
  ChosenPrior chosen;
  chosen.automatic = any && options.system.empty();
  const std::vector<std::string> candidates =
      chosen.automatic ? prior::automatic_experts(fit.data.training().y_names.size())
                       : std::vector<std::string>{any ? "system" : options.prior};
  for (const std::string& name : candidates) {
    if (fit.report.stopped()) break;
    const model::ModelDescription description = first_description(fit, name);
    auto scaled = std::make_unique<ScaledData>(fit.data.all(), description.units, description.dt);
    scaled->set_weights(fit.data.all(), description.noise_std);
    if (!chosen.comparison.empty()) chosen.comparison += ", ";
    const bool first = chosen.data == nullptr;
    try {
      BestStatic best = fit_best_static(fit, description, *scaled);
      chosen.comparison += fmt::format("{} {:.4f}", name, best.score);
      if (!first && !(best.score < chosen.score)) continue;
      chosen.fitted = std::move(best.fitted);
      chosen.data = std::move(scaled);
      chosen.score = best.score;
      chosen.kept = std::move(best.kept);
    } catch (const NumericalError&) {
      if (first && (fit.report.stopped() || name == candidates.back())) throw;
      chosen.comparison += name + " broke down";
    }
  }
  chosen.fitted.description.climate =
      find_climate(*chosen.fitted.alone<float>(), *chosen.data, fit.split().training, fit.team);
  return chosen;
}

}  // namespace kalmia::train
