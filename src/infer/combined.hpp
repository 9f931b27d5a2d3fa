// What a model says of data: one member's results as they are, those of several as a mixture.
#pragma once

#include <vector>

#include "infer/distances.hpp"
#include "infer/model_impl.hpp"

namespace kalmia::infer {

/// Which results an analysis is asked for.
struct RequestedResults {
  bool filtered = false;
  bool smoothed = false;
  bool innovations = false;
  bool left_out = false;  ///< with smoothed
  bool noise = false;     ///< the noise parts and distances that a calibration needs
};

/// Moments as computed, before any calibration, in the user's units.
struct RawAnalysis {
  Analysis analysis;
  /// K R K' of each series (steps, N, N), as RequestedResults::noise asks for; see calibrated.hpp.
  std::vector<std::vector<double>> filtered_noise, smoothed_noise;
  std::vector<Distances> distances;  ///< of each series, likewise
  /// y[k] minus what the smoother says of it from all other measurements, and its covariance, with
  /// the noise of its update; components that are missing are NaN, their rows and columns 0.
  std::vector<Innovations> left_out;
  bool by_networks = false;  ///< smoothed is of the smoother with networks of its own
};

/// Runs all members over the data. The log-likelihood of several is that of the mixture of their
/// predictions, with equal weights at every step.
RawAnalysis analyse_members(const Model::Impl& model, const Dataset& data, int threads,
                            const RequestedResults& parts, const SmoothOptions& smoothing);

/// The smoother that `smoothing` asks for has networks of its own. They do not know the noise of
/// each value (`weighted`): `auto` is then linearized.
bool smooths_by_networks(const Model::Impl& model, const SmoothOptions& smoothing, bool weighted);

/// The results with the model's calibration: its factors in the covariances, and the log-likelihood
/// that of the innovations (under Student-t noise, that of the model). If there is one, `raw` must
/// have innovations, and noise parts of what is asked for.
Analysis calibrated(const Model& model, RawAnalysis raw, const SmoothOptions& smoothing);

/// Does both in one call; its result is what users get.
Analysis analyse(const Model& model, const Dataset& data, int threads, RequestedResults parts,
                 const SmoothOptions& smoothing = {});

}  // namespace kalmia::infer
