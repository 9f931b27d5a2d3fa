#include "train/members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "base/random.hpp"
#include "infer/mixture.hpp"
#include "kalmia/error.hpp"
#include "train/network_choice.hpp"
#include "train/smoother_choice.hpp"
#include "train/smoother_trainer.hpp"
#include "train/trainer.hpp"

namespace kalmia::train {
namespace {

using Report = std::function<bool(FitProgress&)>;

// Says which of how many is in training.
Report numbered(const Report& progress, int number, int count) {
  if (count == 1 || !progress) return progress;
  return [=, &progress](FitProgress& now) {
    FitProgress named = now;
    named.stage += ' ' + std::to_string(number) + '/' + std::to_string(count);
    return progress(named);
  };
}

FitOptions options_of(const FitOptions& options, int member) {
  FitOptions own = options;
  own.train.seed = member_seed(options.train.seed, member);
  return own;
}

// The engine's nll of every step of every held-out stretch, one after another.
std::vector<double> step_nll(const model::LearnedModel<float>& model, const ScaledData& data,
                             const std::vector<HeldOut>& held_out, ThreadTeam& team) {
  std::vector<infer::Piece> pieces;
  std::vector<std::size_t> begin;
  std::size_t steps = 0;
  for (const HeldOut& each : held_out) {
    pieces.push_back(data.piece(each.stretch));
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

}  // namespace

std::uint64_t member_seed(std::uint64_t seed, int member) {
  return member == 0 ? seed
                     : RandomStream(seed, "member", static_cast<std::uint64_t>(member)).bits();
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

std::vector<Member> train_members(const StaticResult& start, const model::NoiseSpec& noise,
                                  const ScaledData& data, const Split& split,
                                  const FitOptions& options, ThreadTeam& team,
                                  const Report& progress, FitSummary& summary) {
  const int count = options.model.members;
  std::vector<Member> members;
  FitSummary best = summary;
  double seconds = 0, steps = 0;
  int skipped = 0, cuts = 0;
  for (int k = 0; k < count; ++k) {
    FitSummary own = summary;
    auto trained = train_networks(start, noise, data, split, options_of(options, k), team,
                                  numbered(progress, k + 1, count), own);
    seconds += own.network_seconds;
    steps += own.network_seconds * own.steps_per_second;
    skipped += own.skipped_updates;
    cuts += own.rate_cuts;
    const StopReason reason = own.stop_reason;
    if (trained)
      if (const std::string against =
              against_networks(*start.alone<float>(), *trained, data, split, team);
          !against.empty()) {
        trained.reset();
        own.networks = false;
        own.notes.push_back(fmt::format(
            "networks predict better (held-out loss {:.4f}, without {:.4f}) but were left out: {}",
            own.best_held_out, own.static_held_out, against));
        own.best_held_out = own.static_held_out;
      }
    if (count > 1)
      summary.members.push_back(
          {reason, own.networks, own.best_held_out, own.updates, own.best_update, false});
    if (k == 0 || own.best_held_out < best.best_held_out) best = own;
    if (trained) members.push_back({k, std::move(trained), own.best_held_out});
    // The others would predict the noise as well.
    const bool ends = reason == StopReason::Interrupted || reason == StopReason::NoisePredicted;
    if (ends) best.stop_reason = reason;
    if (ends) break;
  }
  best.members = summary.members;
  summary = best;
  summary.network_seconds = seconds;
  summary.steps_per_second = steps / std::max(seconds, 1e-9);
  summary.skipped_updates = skipped;
  summary.rate_cuts = cuts;
  if (count == 1) return members;

  summary.combined_held_out = std::numeric_limits<double>::quiet_NaN();
  if (members.size() < 2) return members;
  summary.combined_held_out = mixture_held_out_loss(members, data, split.held_out, team);
  summary.combined = summary.combined_held_out < summary.best_held_out;
  if (summary.combined) {
    summary.best_held_out = summary.combined_held_out;
    return members;
  }
  const auto alone = std::ranges::min_element(members, {}, &Member::held_out);
  std::vector<Member> one;
  one.push_back(std::move(*alone));
  return one;
}

void train_smoothers(std::span<const Member> members, const ScaledData& data, const Split& split,
                     const FitOptions& options, ThreadTeam& team, const Report& progress,
                     FitSummary& summary) {
  FitSummary best = summary;
  double seconds = 0;
  bool first = true, goes_on = true;
  const Report watched = [&](FitProgress& now) { return goes_on = progress(now); };
  for (std::size_t j = 0; j < members.size() && goes_on; ++j) {
    const Member& member = members[j];
    FitSummary own = summary;
    own.best_held_out = member.held_out;
    try {
      train_smoother(*member.model, data, split, options_of(options, member.index), team,
                     numbered(watched, static_cast<int>(j) + 1, static_cast<int>(members.size())),
                     own);
      choose_smoother(*member.model, data, split, options.model.keep_smoother, team, own);
    } catch (const NumericalError& error) {
      member.model->set_smoother({}, {});
      own.smoother = false;
      summary.notes.push_back(
          "the " + options.model.smoother +
          " smoother could not be trained, so that the linearized one serves (" + error.what() +
          ")");
    }
    seconds += own.smoother_seconds;
    const auto index = static_cast<std::size_t>(member.index);
    if (index < summary.members.size()) summary.members[index].smoother = own.smoother;
    if (first ||
        (own.smoother && (!best.smoother || own.smoother_held_out < best.smoother_held_out)))
      best = own;
    first = false;
  }
  best.best_held_out = summary.best_held_out;
  best.members = summary.members;
  best.notes = summary.notes;
  best.smoother_seconds = seconds;
  summary = best;
}

}  // namespace kalmia::train
