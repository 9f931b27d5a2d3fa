// The first stage of training: the expert's learned parameters, constant process noise, and
// measurement noise if it is to be learned, by maximum likelihood. No networks.
//
// The static model is of the same family as the learned one: networks of one unit whose weights are
// zero, so that the decoder puts out its bias. What is learned here is what the networks start
// from.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "model/noise.hpp"
#include "train/constant_errors.hpp"
#include "train/static_likelihood.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

struct StaticResult {
  model::ModelDescription description;  ///< with the learned parameters
  /// The decoder's output: F (a residual, zero), e (zero), L; then initial.e and initial.L.
  std::vector<double> output, initial_e, initial_L;
  std::vector<double> R;            ///< in the model's units
  std::vector<double> noise_floor;  ///< that a learned R stays above, M x M
  double training_loss = 0;  ///< mean negative log-likelihood of a value, in the user's units
  int free_parameters = 0;
  bool interrupted = false;
  /// How well the data determine the learned constants of a user's equations; empty where none are
  /// learned, or the search was interrupted.
  std::vector<ConstantError> constants;

  /// A model of any size of networks that computes this: the last layer's weights are zero.
  template <typename T>
  std::unique_ptr<model::LearnedModel<T>> with_networks(int hidden, const std::vector<int>& decoder,
                                                        std::uint64_t seed) const;
  /// The model without networks.
  template <typename T>
  std::unique_ptr<model::LearnedModel<T>> alone() const {
    return with_networks<T>(1, {}, 0);
  }
};

struct StaticOptions {
  /// Process noise below this share of the usual step is suspiciously small (StaticLikelihood).
  /// Measured on `lorenz` with its flow, 128 steps, 16 seeds: with 0 filters of four are lost, with
  /// 0.05 none. Data that say more are not moved: nowhere is learned noise as small.
  double small_noise = 0.05;
  /// The iterations of a search, at most; 0: 150, or more where there are many variables.
  int max_iterations = 0;
  /// A search ends when steps lower the loss by less than this share of it.
  double value_tolerance = 1e-8;
  /// Long data are thinned out to so many steps, evenly.
  int most_steps = 1 << 16;
  /// Where the search begins; null: where begin_static does. Of the same states.
  const StaticResult* from = nullptr;
  Constants constants = Constants::Learned;
  /// Values of all the map's parameters where constants begin, found before; empty: as given, or
  /// where a search of many starts ends (search_constants).
  std::vector<double> theta;
  /// Asked after every iteration with its number, the most there may be, and the loss; false ends
  /// the fit.
  std::function<bool(int iteration, int most, double loss)> go_on;
};

/// Where fit_static begins.
StaticResult begin_static(const model::ModelDescription& description,
                          const std::vector<model::ChannelStatistics>& channels,
                          const model::NoiseSpec& noise, const ScaledData& data,
                          const std::vector<StepRange>& training);

/// A model for Gaussian noise under Student's t: R is the scale of its core, as it was, and some
/// process noise keeps a filter that has lost its way from staying lost.
StaticResult with_tails(StaticResult fitted, double degrees_of_freedom,
                        const std::vector<model::ChannelStatistics>& channels,
                        const model::NoiseSpec& noise);

/// Fits the static model of `description` (whose network sizes do not matter) to the training
/// stretches. Constants of a user's equations, where there are few, are searched for from many
/// starts, on a part of the data; the best maxima are followed on all of them. Throws
/// NumericalError if the likelihood is not finite from the start.
StaticResult fit_static(const model::ModelDescription& description,
                        const std::vector<model::ChannelStatistics>& channels,
                        const model::NoiseSpec& noise, const ScaledData& data,
                        const std::vector<StepRange>& training, ThreadTeam& team,
                        const StaticOptions& options = {});

}  // namespace kalmia::train
