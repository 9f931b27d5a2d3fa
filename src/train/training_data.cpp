#include "train/training_data.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/random.hpp"
#include "infer/two_sided_run.hpp"
#include "kalmia/error.hpp"

namespace kalmia::train {
namespace {

// Held-out ends are cut into pieces of this length: enough to score, and many run side by side.
constexpr int kPiece = 256;

// The steps from `from` on of series s, held out in pieces.
void hold_out(int s, int from, int steps, std::vector<HeldOut>& held_out) {
  for (; from < steps; from += kPiece)
    held_out.push_back({{s, std::max(0, from - kSettling), std::min(steps, from + kPiece)}, from});
}

}  // namespace

std::size_t total_steps(const std::vector<StepRange>& stretches) {
  std::size_t steps = 0;
  for (const StepRange& each : stretches) steps += static_cast<std::size_t>(each.steps());
  return steps;
}

Split split_data(const std::vector<int>& lengths, double share, std::uint64_t seed) {
  Split split;
  const int count = static_cast<int>(lengths.size());
  double total = 0, longest = 0;
  for (const int steps : lengths) {
    total += steps;
    longest = std::max<double>(longest, steps);
  }
  const bool whole_series = count - std::count(lengths.begin(), lengths.end(), 0) >= kManySeries &&
                            longest <= kLongestShare * total;
  std::vector<bool> held(lengths.size(), false);
  if (whole_series && share > 0) {
    std::vector<int> order(lengths.size());
    std::iota(order.begin(), order.end(), 0);
    RandomStream random(seed, "held-out series");
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    // Series that bring the share nearer to what it should be; one at least.
    double chosen = 0;
    for (const int s : order) {
      const int steps = lengths[static_cast<std::size_t>(s)];
      if (steps == 0 || (chosen > 0 && chosen + 0.5 * steps > share * total)) continue;
      held[static_cast<std::size_t>(s)] = true;
      chosen += steps;
    }
  }
  for (int s = 0; s < count; ++s) {
    const int steps = lengths[static_cast<std::size_t>(s)];
    if (steps == 0) continue;
    if (held[static_cast<std::size_t>(s)]) {
      split.held_out.push_back({{s, 0, steps}, 0});
      continue;
    }
    const int end = whole_series ? steps : steps - static_cast<int>(std::lround(share * steps));
    if (end > 0) split.training.push_back({s, 0, end});
    hold_out(s, end, steps, split.held_out);
  }
  return split;
}

Split split_series(const std::vector<int>& lengths, int first_held_out) {
  Split split;
  for (int s = 0; s < static_cast<int>(lengths.size()); ++s) {
    const int steps = lengths[static_cast<std::size_t>(s)];
    if (s >= first_held_out)
      hold_out(s, 0, steps, split.held_out);
    else if (steps > 0)
      split.training.push_back({s, 0, steps});
  }
  return split;
}

std::vector<infer::SeriesView> views_with_future(const ScaledData& data,
                                                 const std::vector<HeldOut>& held_out) {
  std::vector<infer::SeriesView> pieces;
  for (const HeldOut& each : held_out) {
    StepRange stretch = each.stretch;
    stretch.end = std::min(data.series(stretch.series).end, stretch.end + infer::kMargin);
    pieces.push_back(data.view(stretch));
  }
  return pieces;
}

template <typename T>
double held_out_loss(const model::LearnedModel<T>& model, const ScaledData& data,
                     const std::vector<HeldOut>& held_out, ThreadTeam& team) {
  std::vector<infer::SeriesView> pieces;
  Measured measured;
  for (const HeldOut& each : held_out) {
    pieces.push_back(data.view(each.stretch));
    measured.add(data.measured({each.stretch.series, each.score_from, each.stretch.end}));
  }
  std::vector<double> nll(held_out.size());
  const auto sink = [&](int index, int first, int count, const infer::LaneMoments& moments) {
    const auto piece = static_cast<std::size_t>(index);
    const int from = held_out[piece].score_from - held_out[piece].stretch.begin;
    for (int i = std::max(0, from - first); i < count; ++i) nll[piece] += moments.nll(i);
  };
  try {
    infer::run_filter(model, pieces, {}, team, sink, [](int) { return std::string(); });
  } catch (const NumericalError&) {
    return std::numeric_limits<double>::infinity();
  }
  return measured.loss(std::accumulate(nll.begin(), nll.end(), 0.0));
}

template double held_out_loss<float>(const model::LearnedModel<float>&, const ScaledData&,
                                     const std::vector<HeldOut>&, ThreadTeam&);
template double held_out_loss<double>(const model::LearnedModel<double>&, const ScaledData&,
                                      const std::vector<HeldOut>&, ThreadTeam&);

}  // namespace kalmia::train
