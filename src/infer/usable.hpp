// What leaves the library: finite means, and variances that are finite and not negative.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kalmia/model.hpp"

namespace kalmia::infer {

/// Throws NumericalError unless mean (N) and the diagonal of covariance (N x N, or empty) are what
/// moments can be. The message is `<place>: the variance of <name> is <value>, but ...`; without a
/// place it begins with `the`.
void require_usable(const std::string& place, std::span<const std::string> names,
                    std::span<const double> mean, std::span<const double> covariance);

/// The same of all steps. `source`: where the data came from, or empty.
void require_usable(const std::string& source, const Estimates& estimates);

/// The covariances of innovations, of `names`; what was not measured is left out.
void require_usable(const std::string& source, std::span<const std::string> names,
                    const Dataset& data, std::span<const Innovations> innovations);

}  // namespace kalmia::infer
