// Where the coefficients of autoregressions begin: those that the data's autocovariances imply.
#pragma once

#include <span>
#include <vector>

#include "kalmia/data.hpp"
#include "prior/expert.hpp"

namespace kalmia::train {

/// The autocovariances of a measured column at lags 0..lags, about its mean. Pairs with a missing
/// value are left out; what is found of the others counts as that of all.
std::vector<double> autocovariances(const Dataset& data, std::size_t channel, int lags);

/// a of the Yule-Walker equations,   sum over j of a_j c_|i-j| = c_i,   i = 1..p, of p + 1
/// autocovariances c, by Levinson's recursion. It ends where c stops to be that of a series (values
/// that are missing may make it so): further coefficients are 0.
/// Cost: p^2.
std::vector<double> yule_walker(std::span<const double> c);

/// Where learning begins: as the expert says, but for autoregressions that are all of a channel,
/// whose coefficients follow from the data.
std::vector<double> starting_constants(const prior::ExpertSpec& spec, const prior::Expert& expert,
                                       const Dataset& data);

}  // namespace kalmia::train
