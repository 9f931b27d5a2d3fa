// Which measurements are for learning and which for choosing.
#pragma once

#include <cstdint>
#include <vector>

#include "infer/scaled_data.hpp"

namespace kalmia::train {

using infer::Measured;
using infer::ScaledData;
using infer::StepRange;

/// A stretch to be filtered, of which only the steps from `score_from` on count: the filter has
/// settled by then.
struct HeldOut {
  StepRange stretch;
  int score_from = 0;
};

/// How a data set is divided. Held out are whole series where there are at least kManySeries of
/// them and none has more than kLongestShare of the steps, else the end of each.
struct Split {
  std::vector<StepRange> training;
  std::vector<HeldOut> held_out;
};

/// Time steps of all stretches.
std::size_t total_steps(const std::vector<StepRange>& stretches);

inline constexpr int kManySeries = 10;
inline constexpr double kLongestShare = 0.25;
/// Steps a filter runs before held-out steps count.
inline constexpr int kSettling = 64;

/// `share` of the steps are held out (0: none). Held-out ends are cut into pieces that run side by
/// side. Series that are empty take part in nothing.
Split split_data(const std::vector<int>& lengths, double share, std::uint64_t seed);

/// The same where the series from `first_held_out` on are held out, all of them, and the others are
/// trained on. Long ones are cut into pieces as well.
Split split_series(const std::vector<int>& lengths, int first_held_out);

/// The held-out stretches with as much of what follows as smoothers need to have settled at their
/// ends. It is read, as it will be in use, but should not count.
std::vector<infer::SeriesView> views_with_future(const ScaledData& data,
                                                 const std::vector<HeldOut>& held_out);

/// Mean negative log-likelihood of a held-out measured value, in the user's units (nats).
template <typename T>
double held_out_loss(const model::LearnedModel<T>& model, const ScaledData& data,
                     const std::vector<HeldOut>& held_out, ThreadTeam& team);

}  // namespace kalmia::train
