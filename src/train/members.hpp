// Networks from several seeds on one static model.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/fit_context.hpp"
#include "train/static_stage.hpp"

namespace kalmia::train {

/// One of them: which, its model, and its held-out loss.
struct Member {
  int index = 0;
  std::unique_ptr<model::LearnedModel<float>> model;
  double held_out = 0;
};

/// Mean negative log-likelihood of a held-out value under the mixture of the members' predictions,
/// with equal weights at every step. Infinite if one breaks down.
double mixture_held_out_loss(std::span<const Member> members, const ScaledData& data,
                             const std::vector<HeldOut>& held_out, ThreadTeam& team);

struct TrainedMembers {
  /// All that beat the static model if their mixture predicts held-out measurements better than the
  /// best of them alone, else that one; empty if none was better.
  std::vector<Member> members;
  double held_out = 0;  ///< of these together; of the static model if there are none
  FitNetworksSummary networks;
  std::optional<FitEnsembleSummary> ensemble;  ///< where several were asked for
  std::vector<std::string> notes;
};

/// Trains spec.model.networks.members networks, one after another. Under Student-t noise those that
/// other things speak against (network_choice.hpp) are left out, and a note says why. A user may
/// end training: what there is by then is what counts. `static_held_out`: the loss of `start`.
TrainedMembers train_members(const TrainingContext& context, const StaticResult& start,
                             const model::NoiseSpec& noise, double static_held_out);

}  // namespace kalmia::train
