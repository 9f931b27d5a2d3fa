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

void choose_smoother(model::LearnedModel<float>& model, const ScaledData& data, const Split& split,
                     bool keep, ThreadTeam& team, FitSummary& summary) {
  if (!summary.smoother) return;
  const std::vector<infer::Piece> pieces = pieces_with_future(data, split.held_out);
  summary.smoother_leak = unless_it_fails([&] { return infer::measure_leak(model, pieces, team); });
  std::vector<infer::Counted> counted;
  for (const HeldOut& each : split.held_out)
    counted.push_back({each.score_from - each.stretch.begin, each.stretch.steps()});
  const auto risk = [&](infer::RiskOf smoother) {
    return unless_it_fails(
        [&] { return infer::estimated_risk(model, pieces, counted, smoother, team).error; });
  };
  summary.smoother_risk = risk(infer::RiskOf::Networks);
  summary.linearized_risk = risk(infer::RiskOf::Linearized);
  // Networks that fail where the linearized smoother does not are no better.
  summary.smoother = keep || std::isnan(summary.linearized_risk) ||
                     summary.smoother_risk < summary.linearized_risk;
  if (!summary.smoother) model.set_smoother({}, {});
}

}  // namespace kalmia::train
