// Networks from several seeds on one static model.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kalmia/fit.hpp"
#include "train/static_stage.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

/// One of them: which, its model, and its held-out loss.
struct Member {
  int index = 0;
  std::unique_ptr<model::LearnedModel<float>> model;
  double held_out = 0;
};

/// The seed of member k; the first has the seed itself.
std::uint64_t member_seed(std::uint64_t seed, int member);

/// Mean negative log-likelihood of a held-out value under the mixture of the members' predictions,
/// with equal weights at every step. Infinite if one breaks down.
double mixture_held_out_loss(std::span<const Member> members, const ScaledData& data,
                             const std::vector<HeldOut>& held_out, ThreadTeam& team);

/// Trains options.model.members networks, one after another. All that beat the static model are
/// returned if their mixture predicts held-out measurements better than the best of them alone,
/// else that one; none if none was better. Under Student-t noise those that other things speak
/// against (network_choice.hpp) are left out, and a note says why. `progress` may end training:
/// what there is by then is what counts. Fills in what the summary says about networks.
std::vector<Member> train_members(const StaticResult& start, const model::NoiseSpec& noise,
                                  const ScaledData& data, const Split& split,
                                  const FitOptions& options, ThreadTeam& team,
                                  const std::function<bool(FitProgress&)>& progress,
                                  FitSummary& summary);

/// Trains a smoother for each of these members, and fills in what the summary says about them: of
/// the best one, and in summary.members. A smoother that breaks down (NumericalError) is left out,
/// and a note says so; the members themselves stay.
void train_smoothers(std::span<const Member> members, const ScaledData& data, const Split& split,
                     const FitOptions& options, ThreadTeam& team,
                     const std::function<bool(FitProgress&)>& progress, FitSummary& summary);

}  // namespace kalmia::train
