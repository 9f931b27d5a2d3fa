// Whether networks are worth having under Student-t noise, by held-out measurements.
#pragma once

#include <string>

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

}  // namespace kalmia::train
