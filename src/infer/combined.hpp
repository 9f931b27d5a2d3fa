// What a model says of data: one member's results as they are, those of several as a mixture.
#pragma once

#include <vector>

#include "infer/model_impl.hpp"

namespace kalmia::infer {

/// Which results an analysis is asked for.
struct RequestedResults {
  bool filtered = false;
  bool smoothed = false;
  bool innovations = false;
  bool left_out = false;  ///< with smoothed
  double response = 1;    ///< of left_out, as `leave_out` takes it
};

/// Moments as computed, before any calibration, in the user's units.
struct RawAnalysis {
  Analysis analysis;
  /// K R K' of each series (steps, N, N), if the model is calibrated; see calibrated.hpp.
  std::vector<std::vector<double>> filtered_noise, smoothed_noise;
  /// y[k] minus what the smoother says of it from all other measurements, and its covariance;
  /// components that are missing are NaN, and their rows and columns 0.
  std::vector<Innovations> left_out;
  /// With left_out, for each step: the trace of d (H z) / dy that the covariances stand for.
  std::vector<std::vector<double>> own_gain;
};

/// Runs all members over the data. The log-likelihood of several is that of the mixture of their
/// predictions, with equal weights at every step.
RawAnalysis analyse_members(const Model::Impl& model, const Dataset& data, int threads,
                            const RequestedResults& parts, const SmoothOptions& smoothing);

/// The factors of a calibrated model were found for one noise. Throws ConfigError if the model is
/// calibrated and the data say how noisy each value is.
void check_one_noise(const Model::Impl& model, const Dataset& data);

/// The smoother that `smoothing` asks for has networks of its own. They do not know the noise of
/// each value (`weighted`): `auto` is then linearized.
bool smooths_by_networks(const Model::Impl& model, const SmoothOptions& smoothing, bool weighted);

/// The results with the model's calibration: its factors in the covariances, and the log-likelihood
/// that of the innovations. `raw` must have what is asked for, with innovations if there is one.
Analysis calibrated(const Model& model, RawAnalysis raw, const SmoothOptions& smoothing);

/// Does both in one call; its result is what users get.
Analysis analyse(const Model& model, const Dataset& data, int threads, RequestedResults parts,
                 const SmoothOptions& smoothing = {});

}  // namespace kalmia::infer
