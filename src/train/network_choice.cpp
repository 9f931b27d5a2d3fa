#include "train/network_choice.hpp"

#include <fmt/format.h>

#include "infer/risk.hpp"
#include "kalmia/error.hpp"

namespace kalmia::train {

using infer::Risk;
using infer::RiskOf;

std::string against_networks(const model::LearnedModel<float>& fixed,
                             const model::LearnedModel<float>& trained, const ScaledData& data,
                             const Split& split, ThreadTeam& team) {
  if (trained.description().tails == 0) return {};
  const std::vector<infer::Piece> pieces = pieces_with_future(data, split.held_out);
  std::vector<infer::Counted> counted;
  for (const HeldOut& each : split.held_out)
    counted.push_back({each.score_from - each.stretch.begin, each.stretch.steps()});
  bool better = false;
  const auto against = [&](RiskOf estimator, const char* what) -> std::string {
    const Risk theirs = infer::estimated_risk(trained, pieces, counted, estimator, team);
    const Risk before = infer::estimated_risk(fixed, pieces, counted, estimator, team);
    better = better || theirs.error < before.error;
    const double known_to = infer::difference_error(theirs, before);
    if (!(theirs.error - before.error + kSure * known_to <= kNoWorse * before.claimed))
      return fmt::format(
          "the estimated error of {} is {:.4f} of the noise's variance with them, {:.4f} without, "
          "and the difference is known to {:.4f}",
          what, theirs.error, before.error, known_to);
    const double expected = before.claimed + theirs.error - before.error;
    if (!(expected <= kHonest * theirs.claimed))
      return fmt::format(
          "with them the bars of {} claim an error of {:.4f} of the noise's variance, but {:.4f} "
          "is to be expected",
          what, theirs.claimed, expected);
    return {};
  };
  try {
    std::string reason = against(RiskOf::Linearized, "smoothing");
    if (reason.empty()) reason = against(RiskOf::Filtered, "filtering");
    if (reason.empty() && !better) reason = "the estimated error is the same without them";
    return reason;
  } catch (const NumericalError& error) {
    return std::string("they break down: ") + error.what();
  }
}

}  // namespace kalmia::train
