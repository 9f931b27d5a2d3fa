#include "train/smoother_choice.hpp"

#include <cmath>
#include <functional>
#include <limits>

#include "infer/leak.hpp"
#include "infer/risk.hpp"
#include "kalmia/error.hpp"

namespace kalmia::train {
namespace {

// A value moved for a measurement of the smoother may be too much for it.
double unless_it_fails(const std::function<double()>& measure) {
  try {
    return measure();
  } catch (const NumericalError&) {
    return std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace

FitSmootherSummary choose_smoother(const TrainingContext& context,
                                   model::LearnedModel<float>& model, FitSmootherSummary trained) {
  if (!trained.kept) return trained;
  const std::vector<HeldOut>& held_out = context.split.held_out;
  const std::vector<infer::Piece> pieces = pieces_with_future(context.data, held_out);
  trained.leak = unless_it_fails([&] { return infer::measure_leak(model, pieces, context.team); });
  std::vector<infer::Counted> counted;
  for (const HeldOut& each : held_out)
    counted.push_back({each.score_from - each.stretch.begin, each.stretch.steps()});
  const auto risk = [&](infer::RiskOf smoother) {
    return unless_it_fails([&] {
      return infer::estimated_risk(model, pieces, counted, smoother, context.team).error;
    });
  };
  trained.risk = risk(infer::RiskOf::Networks);
  trained.linearized_risk = risk(infer::RiskOf::Linearized);
  // Networks that fail where the linearized smoother does not are no better.
  trained.kept = context.spec.model.keep_smoother || std::isnan(trained.linearized_risk) ||
                 trained.risk < trained.linearized_risk;
  if (!trained.kept) model.set_smoother({}, {});
  return trained;
}

}  // namespace kalmia::train
