// How far a smoother is from the truth, estimated without it.
#pragma once

#include <span>

#include "infer/run.hpp"

namespace kalmia::infer {

/// Steps begin..end-1 of a piece.
struct Counted {
  int begin = 0;
  int end = 0;
};

enum class RiskOf { Linearized, Networks };

/// Stein's unbiased estimate of a smoother's error where it is measured, over the noise's variance:
/// the mean over measured values that are `counted`, of
///
///   ((y - y_s)^2 - R + 2 sum_j R_j dy_s / dy_j) / R,   y_s = h(x[k] given all y),
///
/// whose expectation is that of (y_s - h(x[k]))^2 / R for Gaussian noise and any smoother, leaking
/// ones included. The sum is n (y_s(y + s n) - y_s(y - s n)) / (2 s), for a small s and noise n
/// drawn for all values at once: what one does to another's place has no expectation. The same n
/// are drawn for both smoothers, so that their estimates compare better than each is known. The
/// model's tails must be Gaussian and the pieces unweighted. NaN if nothing that counts is
/// measured. Of long data the first kMostRiskSteps count. May throw NumericalError.
inline constexpr int kRiskProbes = 4;
inline constexpr int kMostRiskSteps = 1 << 15;
double estimated_risk(const model::LearnedModel<float>& model, std::span<const Piece> pieces,
                      std::span<const Counted> counted, RiskOf smoother, ThreadTeam& team,
                      int probes = kRiskProbes);

}  // namespace kalmia::infer
