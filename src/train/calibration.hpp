// Honest covariances: factors found on held-out measurements, without truth.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kalmia/fit.hpp"
#include "model/ensemble.hpp"
#include "train/fit_context.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

/// The factor s of the predictions' covariances A[k] = S[k] - R that makes the measurements most
/// likely, R held:
///
///   sum over k of log det (s A[k] + R) + r[k]' (s A[k] + R)^-1 r[k]  =  min.
///
/// With R = L L' and L^-1 A L^-T = U d U', u = U' L^-1 r, it is the minimum in one variable of
///
///   sum of log(1 + s d) + u^2 / (1 + s d).
///
/// The standard error of log s is that of the expected information, sum of (s d / (1 + s d))^2 / 2.
/// `first[i]`: the first step of series i that counts. Components that are NaN do not.
/// `further_error` is added to it, as if independent.
FitFactor find_factor(std::span<const Innovations> innovations, std::span<const int> first,
                      std::span<const double> R, double further_error = 0);

/// A mean over random probes and its standard error.
struct Response {
  double mean = 1;
  double error = 0;
};

/// By how much more a smoothed state follows its own measurement than its covariance says:
///
///   sum over k of tr d (H z[k]) / dy[k],  over  sum over k of tr V[k] R^-1,   V = H G H'.
///
/// 1 if y[k] reaches z[k] by the update alone; more if networks read it as well. The derivative is
/// that of random changes b of all measurements at once, each entry +-1 of the noise's deviation:
/// the mean of b' d(Hz)/dy b is the trace (Hutchinson), so a few `probes`, at least two, are
/// enough. `gain`: the denominator. Steps from first[i] on count.
Response own_response(const Model& model, const Dataset& data, std::span<const int> first,
                      const SmoothOptions& smoothing, double gain, int probes, int threads);

/// The factors of a model's filter and of the smoothers it has. The filter's come from its
/// innovations, a smoother's from what it says of each measurement given all others. From a
/// linearized smoother over networks, a measurement is taken out by its own_response.
std::vector<FitFactor> find_factors(const Model& model, const Dataset& data,
                                    const std::vector<HeldOut>& held_out, int threads);

/// The last stage of a fit, if it is asked for.
struct FoundCalibration {
  std::vector<FitFactor> factors;
  std::optional<model::Calibration> calibration;  ///< nothing if no factors could be found
  std::vector<std::string> notes;                 ///< what is not calibrated, and why
};

/// The factors of the covariances of a finished model, which has none yet.
FoundCalibration calibrate(const FitContext& fit, const Model& finished);

}  // namespace kalmia::train
