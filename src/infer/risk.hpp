// How far an estimate is from the truth, estimated without it.
#pragma once

#include <span>
#include <vector>

#include "infer/run.hpp"

namespace kalmia::infer {

/// Steps begin..end-1 of a piece.
struct ScoredSteps {
  int begin = 0;
  int end = 0;
};

enum class RiskOf { Filtered, Linearized, Networks };

/// An estimator's error where something is measured, over the square of the noise's scale (R).
struct Risk {
  double error = 0;    ///< estimated mean square
  double claimed = 0;  ///< mean variance that the estimator states
  /// The part of the estimate that each counted value has, in order; their mean is `error`.
  std::vector<double> parts;
};

/// How well the difference of two estimates, of the same values, is known: its standard error, from
/// means over blocks of values, within which they may depend on each other. Infinite for fewer
/// values than two blocks.
inline constexpr std::size_t kRiskBlock = 32;
double difference_error(const Risk& a, const Risk& b);

/// Stein's unbiased estimate of the error of the filter or a smoother, without truth: the mean over
/// measured values that are `counted`, of
///
///   ((y - y_s)^2 - R + 2 sum_j R_j dy_s / dy_j) / R,   y_s = h(x[k] given all y),
///
/// whose expectation is that of (y_s - h(x[k]))^2 / R for Gaussian noise and any estimator, leaking
/// ones included. The sum is n (y_s(y + s n) - y_s(y - s n)) / (2 s), for a small s and noise n
/// drawn for all values at once: what one does to another's place has no expectation. The same n
/// are drawn for all estimators, so that their estimates compare better than each is known.
///
/// For Student-t noise, u = (y - y_s) / R^1/2 and w(u) = (nu + 1) / (nu + u^2), it is the mean of
///
///   (w(u) u^2 - 1 + 2 nu / (nu + 3) w(u) sum_j R_j dy_s / dy_j / R) / c,
///   c = (nu + 1) (nu + 2) / ((nu + 3) (nu + 5)),
///
/// which no outlier can carry away: every term is bounded. With e the noise, d = y_s - h and
/// f(u) = w(u) u^2, f(e - d) = f(e) - f'(e) d + f''(e) d^2 / 2 + ...; the mean of f(e) is 1, that
/// of f'(e) d is, by parts, that of 2 nu / (nu + 3) w(e) dd / dy, and that of f''(e) / 2 is c. So
/// it is right to second order in errors that are small beside the noise, and exact as nu grows.
/// Larger errors come out too small: for estimates that are the measurements it is
/// (nu - 1) (nu + 5) / ((nu + 1) (nu + 2)), which is 0.8 for nu = 3.
///
/// NaN if nothing that counts is measured. Of long data the first kMostRiskSteps count. May throw
/// NumericalError.
inline constexpr int kRiskProbes = 4;
inline constexpr int kMostRiskSteps = 1 << 15;
Risk estimated_risk(const model::LearnedModel<float>& model, std::span<const SeriesView> pieces,
                    std::span<const ScoredSteps> counted, RiskOf estimator, ThreadTeam& team,
                    int probes = kRiskProbes);

}  // namespace kalmia::infer
