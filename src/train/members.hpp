// The members of an ensemble: networks trained from one seed each, and which of them are kept.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "train/fit_context.hpp"
#include "train/static_stage.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

/// What speaks against the networks of `trained`, in a sentence for the user; empty if nothing
/// does. Nothing does under Gaussian noise, where held-out likelihood decides.
///
/// Under Student-t noise it must not decide alone: a value that the filter takes for an outlier
/// costs little, so that networks may gain some likelihood by predictions that are worse for what
/// is asked of them. So the error of filtering and of linearized smoothing is estimated without
/// truth (infer/risk.hpp), on held-out values. Networks are worth having if neither is worse than
/// the static model's, two standard errors s of the difference allowed for, one is better, and
/// their error bars are not narrower than what they gain allows: with C the variance that is
/// claimed and E the estimated error,
///
///   E_networks - E_static + kSure s <= kNoWorse C_static,
///   C_static + (E_networks - E_static) <= kHonest C_networks.
///
/// Differences of E are known better than E itself, which depends on how well R and the degrees of
/// freedom describe the noise; so the static model's bars are taken for right. Where they are too
/// wide this asks too much, and networks that might help are left out.
inline constexpr double kSure = 2;
inline constexpr double kNoWorse = 0.05;
inline constexpr double kHonest = 1.5;  // of a Gaussian error, 0.89 is within its 95 % bars then
std::string against_networks(const model::LearnedModel<float>& fixed,
                             const model::LearnedModel<float>& trained, const ScaledData& data,
                             const Split& split, ThreadTeam& team);

/// Whether a trained model is better than a static one over all uses, on values that neither was
/// trained on, in the data's units.
bool better_in_use(const TrainingContext& of_trained, const model::LearnedModel<float>& trained,
                   const TrainingContext& of_fixed, const StaticResult& fixed);

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
/// other things speak against are left out, and a note says why. A user may end training: what
/// there is by then is what counts. `static_held_out`: the loss of `start`.
TrainedMembers train_members(const TrainingContext& context, const StaticResult& start,
                             const model::NoiseSpec& noise, double static_held_out);

}  // namespace kalmia::train
