// One step of the classical filters on one line of lanes, with run-time choice of the instruction
// set. Every lane's result depends on that lane's data only, bit for bit.
#pragma once

#include "kalman/classical/covariance_schedule.hpp"
#include "kalman/classical/line_state.hpp"

namespace kalmia::kalman {

/// Predicts (but for the first step) and updates with state.y. `active`: lanes that hold a series
/// still running; `missing`: lanes with a missing component, whose `state.observed` flags count.
/// Returns the lanes whose innovation covariance is not positive definite.
///
/// A lane whose P_pred changes by no more than 16 eps (relative to the standard deviations) between
/// two steps without missing data is settled: it keeps that P_pred until data go missing. When all
/// active lanes are, the step does the mean's arithmetic only.
[[nodiscard]] lanes::LaneBits advance_linear(const ModelLines& model, FilterState& state,
                                             lanes::LaneBits active, lanes::LaneBits missing);

/// The same for a step without missing data whose covariances are known: the mean's arithmetic
/// only. Leaves state.P_pred and state.P_filt alone.
void advance_mean(const ModelLines& model, FilterState& state,
                  const CovarianceSchedule::Step& step);

/// The two halves of a step of a linearised model: predict with state.F, state.e and Q (lines),
/// then update with state.H, R (lines) and state.y, from which the emission's offset has been
/// taken. Neither may be skipped; the first step's prediction is set by the caller.
void predict_linearised(const double* Q, FilterState& state);
[[nodiscard]] lanes::LaneBits update_linearised(const double* R, FilterState& state,
                                                lanes::LaneBits missing);

/// One backward step from k to k-1 of the lanes in `live`; F and Q in lines. `same`: lanes whose
/// P_filt and P_pred are, bit for bit, those of the previous call, with the same F: they keep their
/// gain and, once it has stopped changing (16 eps), their P_smooth. Returns the lanes whose P_pred
/// is not positive semi-definite.
[[nodiscard]] lanes::LaneBits smooth_back(const double* F, const double* Q, SmootherState& state,
                                          lanes::LaneBits live, lanes::LaneBits same);

}  // namespace kalmia::kalman
