#include "train/members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "infer/mixture.hpp"
#include "infer/risk.hpp"
#include "kalmia/error.hpp"
#include "train/trainer.hpp"
#include "train/use_scores.hpp"
#include "train/use_settings.hpp"

namespace kalmia::train {

using infer::Risk;
using infer::RiskOf;

std::string against_networks(const model::LearnedModel<float>& fixed,
                             const model::LearnedModel<float>& trained, const ScaledData& data,
                             const Split& split, ThreadTeam& team) {
  if (trained.description().tails == 0) return {};
  const std::vector<infer::SeriesView> pieces = views_with_future(data, split.held_out);
  std::vector<infer::ScoredSteps> counted;
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

namespace {

// The engine's nll of every step of every held-out stretch, one after another.
std::vector<double> step_nll(const model::LearnedModel<float>& model, const ScaledData& data,
                             const std::vector<HeldOut>& held_out, ThreadTeam& team) {
  std::vector<infer::SeriesView> pieces;
  std::vector<std::size_t> begin;
  std::size_t steps = 0;
  for (const HeldOut& each : held_out) {
    pieces.push_back(data.view(each.stretch));
    begin.push_back(steps);
    steps += static_cast<std::size_t>(each.stretch.steps());
  }
  std::vector<double> nll(steps);
  const auto sink = [&](int piece, int first, int count, const infer::LaneMoments& moments) {
    const std::size_t from = begin[static_cast<std::size_t>(piece)];
    for (int i = 0; i < count; ++i)
      nll[from + static_cast<std::size_t>(first + i)] = moments.nll(i);
  };
  infer::run_filter(model, pieces, {}, team, sink, [](int) { return std::string(); });
  return nll;
}

// What a search has against networks: over all uses, on values that no model was trained on, they
// are not better, or one use is worse.
std::string worse_in_use(const TrainingContext& context, const model::LearnedModel<float>& fixed,
                         model::LearnedModel<float>& trained) {
  if (!context.spec.model.searches()) return {};
  trained.set_gap_trust(find_gap_trust(trained, context.data, context.split, context.team));
  const UseData data(context.data, held_out_ranges(context.split),
                     fixed.expert().longest_period, usual_runs(context.data));
  const TriedModel before{"static", data.score(fixed, LeftOut::Hidden, context.team)};
  const TriedModel after{"networks", data.score(trained, LeftOut::Hidden, context.team)};
  const UseWeights weights = weights_of(before.scores, context.spec.model.purpose);
  if (is_better(after, before, weights)) return {};
  if (const std::optional<Use> worse = worse_use(after, before, weights))
    return fmt::format("in one use, {}, their loss is {:.4f}, without them {:.4f}",
                       use_name(*worse), after.scores.loss(*worse), before.scores.loss(*worse));
  const LossDifference all = difference(after.scores, before.scores, weights);
  return fmt::format("over all uses their loss is {:.4f}, without them {:.4f}, known to {:.4f}",
                     after.loss(weights), before.loss(weights), all.error);
}

// Takes networks away that other things than held-out likelihood speak against. Returns a note that
// says why, or nothing.
std::vector<std::string> leave_out_worse(const TrainingContext& context, const StaticResult& start,
                                         double static_held_out, TrainedNetworks& trained) {
  if (!trained.model) return {};
  const auto fixed = start.alone<float>();
  std::string against =
      against_networks(*fixed, *trained.model, context.data, context.split, context.team);
  if (against.empty()) against = worse_in_use(context, *fixed, *trained.model);
  if (against.empty()) return {};
  const std::string note = fmt::format(
      "networks predict better (held-out loss {:.4f}, without {:.4f}) but were left out: {}",
      trained.summary.held_out, static_held_out, against);
  trained.model.reset();
  trained.summary.kept = false;
  trained.summary.held_out = static_held_out;
  return {note};
}

// Keeps all members if they are better together, else the best alone.
void combine(const TrainingContext& context, TrainedMembers& trained) {
  if (trained.members.size() < 2) return;
  FitEnsembleSummary& ensemble = *trained.ensemble;
  ensemble.held_out =
      mixture_held_out_loss(trained.members, context.data, context.split.held_out, context.team);
  ensemble.combined = ensemble.held_out < trained.held_out;
  if (ensemble.combined) {
    trained.held_out = ensemble.held_out;
    return;
  }
  Member best = std::move(*std::ranges::min_element(trained.members, {}, &Member::held_out));
  trained.members.clear();
  trained.members.push_back(std::move(best));
}

}  // namespace

bool better_in_use(const TrainingContext& of_trained, const model::LearnedModel<float>& trained,
                   const TrainingContext& of_fixed, const StaticResult& fixed) {
  const auto before = fixed.alone<float>();
  const auto score = [&](const TrainingContext& context, const model::LearnedModel<float>& model) {
    const UseData data(context.data, held_out_ranges(context.split),
                       before->expert().longest_period,
                       usual_runs(of_fixed.data));
    return TriedModel{"", data.score(model, LeftOut::Hidden, context.team)};
  };
  const TriedModel simpler = score(of_fixed, *before);
  return is_better(score(of_trained, trained), simpler,
                   weights_of(simpler.scores, of_fixed.spec.model.purpose));
}

double mixture_held_out_loss(std::span<const Member> members, const ScaledData& data,
                             const std::vector<HeldOut>& held_out, ThreadTeam& team) {
  std::vector<std::vector<double>> nll;
  try {
    for (const Member& member : members)
      nll.push_back(step_nll(*member.model, data, held_out, team));
  } catch (const NumericalError&) {
    return std::numeric_limits<double>::infinity();
  }
  Measured measured;
  double sum = 0;
  std::size_t step = 0;
  std::vector<double> at_step(nll.size());
  for (const HeldOut& each : held_out) {
    measured.add(data.measured({each.stretch.series, each.score_from, each.stretch.end}));
    for (int k = each.stretch.begin; k < each.stretch.end; ++k, ++step) {
      if (k < each.score_from) continue;
      for (std::size_t j = 0; j < nll.size(); ++j) at_step[j] = nll[j][step];
      sum += infer::mixture_nll(at_step);
    }
  }
  return measured.loss(sum);
}

TrainedMembers train_members(const TrainingContext& context, const StaticResult& start,
                             const model::NoiseSpec& noise, double static_held_out) {
  const int count = context.spec.model.networks.members;
  TrainedMembers result;
  FitEnsembleSummary ensemble;
  double seconds = 0, steps = 0;
  int skipped = 0, cuts = 0;
  for (int k = 0; k < count; ++k) {
    TrainedNetworks trained =
        train_networks(context.of_member(k, k + 1, count), start, noise, static_held_out);
    std::vector<std::string> notes = leave_out_worse(context, start, static_held_out, trained);
    const FitNetworksSummary& own = trained.summary;
    seconds += own.seconds;
    steps += own.seconds * own.steps_per_second;
    skipped += own.skipped_updates;
    cuts += own.rate_cuts;
    ensemble.members.push_back(
        {own.stop_reason, own.kept, own.held_out, own.updates, own.best_update, false});
    if (trained.model) result.members.push_back({k, std::move(trained.model), own.held_out});
    if (k == 0 || own.held_out < result.networks.held_out) {
      result.networks = own;
      result.notes = std::move(notes);
    }
    // The others would predict the noise as well.
    if (own.stop_reason != StopReason::Interrupted && own.stop_reason != StopReason::NoisePredicted)
      continue;
    result.networks.stop_reason = own.stop_reason;
    break;
  }
  result.networks.seconds = seconds;
  result.networks.steps_per_second = steps / std::max(seconds, 1e-9);
  result.networks.skipped_updates = skipped;
  result.networks.rate_cuts = cuts;
  result.held_out = result.networks.held_out;
  if (count == 1) return result;
  result.ensemble = std::move(ensemble);
  combine(context, result);
  return result;
}

}  // namespace kalmia::train
