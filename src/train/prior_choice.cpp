#include "train/prior_choice.hpp"

#include <fmt/format.h>

#include <utility>

#include "kalmia/error.hpp"
#include "train/first_description.hpp"
#include "train/state_climate.hpp"

namespace kalmia::train {
namespace {

std::vector<prior::PriorKind> candidates_of(const model::ModelSpec& spec, std::size_t channels) {
  if (std::holds_alternative<model::AutomaticPrior>(spec.prior))
    return prior::automatic_priors(channels);
  if (const auto* named = std::get_if<model::NamedPrior>(&spec.prior)) return {named->kind};
  return {prior::PriorKind::System};
}

}  // namespace

ChosenPrior choose_prior(const FitContext& fit) {
  const std::vector<prior::PriorKind> candidates =
      candidates_of(fit.spec.model, fit.data.training().y_names.size());
  ChosenPrior chosen;
  chosen.automatic = std::holds_alternative<model::AutomaticPrior>(fit.spec.model.prior);
  for (const prior::PriorKind kind : candidates) {
    if (fit.report.stopped()) break;
    const std::string name = prior::prior_name(kind);
    const model::ModelDescription description = first_description(fit, kind);
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
      if (first && (fit.report.stopped() || kind == candidates.back())) throw;
      chosen.comparison += name + " broke down";
    }
  }
  chosen.fitted.description.climate =
      find_climate(*chosen.fitted.alone<float>(), *chosen.data, fit.split().training, fit.team);
  return chosen;
}

}  // namespace kalmia::train
