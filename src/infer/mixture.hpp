// One posterior out of several: the moments of an equally weighted mixture.
#pragma once

#include <span>

namespace kalmia::infer {

/// Adds component number `count` (1 for the first) to the moments of a mixture, step by step:
///
///   mean        m = mean of m_j
///   covariance  C = mean of C_j + mean of (m_j - m)(m_j - m)'
///
/// by the running form, with n = count and d = m_n - m,
///
///   C <- C + (C_n - C) / n + d d' (n - 1) / n^2,   m <- m + d / n.
///
/// Shapes: means (steps, dim), covariances (steps, dim, dim).
void add_to_mixture(int count, int dim, std::span<const double> mean,
                    std::span<const double> covariance, std::span<double> mixed_mean,
                    std::span<double> mixed_covariance);

/// Adds number `count` to a mean, entry by entry.
void add_to_mean(int count, std::span<const double> values, std::span<double> mean);

/// The engine's nll (-2 log density, without constants) of an equally weighted mixture from those
/// of its components: -2 log mean of exp(-nll_j / 2).
double mixture_nll(std::span<const double> nll);

}  // namespace kalmia::infer
