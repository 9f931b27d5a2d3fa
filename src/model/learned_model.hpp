// A fitted model: its description, its numbers, and the parts the engine runs on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "heads/fusion/fusion.hpp"
#include "heads/state_window.hpp"
#include "kalman/emission.hpp"
#include "kalmia/data.hpp"
#include "model/channels.hpp"
#include "model/drive.hpp"
#include "model/features.hpp"
#include "model/smoother_networks.hpp"
#include "prior/expert.hpp"

namespace kalmia::model {

/// Between the user's units and those the model computes in: user = offset + scale * model.
struct Units {
  std::vector<double> y_scale, y_offset;  ///< M
  std::vector<double> x_scale, x_offset;  ///< N

  /// A state's moments in the user's units.
  void to_user(const double* x, const double* P, double* mean, double* covariance) const;
};

/// How the states of the training data are spread and follow each other (heads::Climate), and
/// how the values that they stand for are. All empty: not known.
struct StateClimate {
  std::vector<double> mean, spread;     ///< N
  std::vector<double> A, Q;             ///< N x N
  std::vector<double> measured_spread;  ///< M, without noise; infinity of channels that wander
};

/// Everything about a model but its numbers.
struct ModelDescription {
  std::vector<std::string> measured_names;
  std::vector<std::string> input_names;
  prior::ExpertSpec prior;
  std::vector<double> theta;       ///< values of the expert's parameters; empty: where they start
  TimeKind time = TimeKind::None;  ///< what the times of the data were
  double dt = 1;                   ///< usual time between steps, in the unit of the data
  Units units;
  FeatureSpec features;
  nn::EncoderKind encoder = nn::EncoderKind::Gru;
  int taps = 16;  ///< of encoders that read them
  /// What the networks of the filter compute: a recursive filter has an expert map, others say of
  /// the state what they have read.
  heads::HeadKind head = heads::HeadKind::Recursion;
  bool recursive() const { return head == heads::HeadKind::Recursion; }
  int hidden = 1;
  std::vector<int> decoder;  ///< widths; empty and hidden 1: a static model, without networks
  SmootherSizes smoother;    ///< networks of a trained smoother
  std::string noise;         ///< as the user stated it
  /// Of a model fitted to data that say how noisy each value is: the deviations that R stands for
  /// (M, in the user's units). Empty: R is the noise of every step.
  std::vector<double> noise_std;
  double tails = 0;      ///< degrees of freedom of Student-t noise; 0: Gaussian
  StateClimate climate;  ///< of the training data
  /// In the networks where values are missing, 0..1; 0: they are shown nothing of them, and rest.
  double gap_trust = 1;
  double iterated_noise = 1;  ///< process noise of iterated smoothing over the filter's
};

/// The scaling that suits an expert and channels: none for a map in physical units, else each
/// channel by its step, about its mean.
Units make_units(const prior::Expert& expert, const std::vector<ChannelStatistics>& channels,
                 double dt);

/// The features that suit them.
FeatureSpec make_features(const prior::Expert& expert,
                          const std::vector<ChannelStatistics>& channels,
                          const DriveStatistics& drive, const Units& units);

/// A description with its numbers, ready to run. T: float in use, double while the static stage is
/// fitted.
template <typename T>
class LearnedModel {
 public:
  /// Throws ConfigError if the description contradicts itself, or numbers do not fit it.
  LearnedModel(ModelDescription description, std::vector<T> parameters, std::vector<double> R);
  LearnedModel(const LearnedModel&) = delete;
  LearnedModel& operator=(const LearnedModel&) = delete;

  const ModelDescription& description() const { return description_; }
  const prior::Expert& expert() const { return expert_; }
  const heads::Architecture& architecture() const { return architecture_; }
  const kalman::Emission& emission() const { return emission_; }
  std::span<const T> parameters() const { return parameters_.span(); }
  int state_dim() const { return architecture_.state_dim(); }
  int meas_dim() const { return architecture_.meas_dim(); }

  /// New numbers for the same model.
  void set_parameters(std::span<const T> parameters);
  void set_R(std::vector<double> R) { emission_.set_R(std::move(R)); }
  /// New values of the expert's parameters.
  void set_theta(const std::vector<double>& theta);
  void set_gap_trust(double share) { description_.gap_trust = share; }
  void set_iterated_noise(double share) { description_.iterated_noise = share; }
  const std::vector<double>& theta() const { return description_.theta; }

  /// The deviations (M, in the user's units) that R stands for: a value whose own is s has the
  /// weight (noise_std / s)^2.
  std::vector<double> noise_std() const;
  /// The usual step in the unit of the expert's map.
  double map_dt() const { return expert_.physical ? description_.dt : 1.0; }
  /// How many empty steps a long one becomes (even_steps.hpp).
  int most_empty_steps() const;
  /// What a state should measure, without noise: y (M) at x (N), in the model's units.
  void measure(const double* x, double* y) const;
  /// H at x (M x N).
  std::vector<double> emission_at(const double* x) const;

  /// The trained smoother's networks, or null.
  const SmootherNetworks* smoother() const { return smoother_.get(); }
  /// Gives the model a smoother of description().smoother's sizes, or takes it away (no numbers).
  void set_smoother(const SmootherSizes& sizes, std::span<const float> parameters);
  /// New numbers for the smoother it has.
  void set_smoother_parameters(std::span<const float> parameters) {
    smoother_->set_parameters(parameters);
  }
  /// What the engine runs to smooth from both sides; needs such a smoother, and T = float.
  heads::StateModel<T> smoother_window() const;
  /// The same of a fused one, on series in reverse.
  heads::FusionModel<T> fusion_window() const;

  /// What the engine runs; valid as long as this object.
  heads::StateModel<T> window() const {
    return {.architecture = &architecture_,
            .network = &network_,
            .emission = &emission_,
            .map = expert_.map.get(),
            .theta = description_.theta.data(),
            .dt = map_dt(),
            .emission_map = expert_.emission.get(),
            .robust = description_.tails > 0 ? &robust_ : nullptr,
            .climate = climate()};
  }
  /// There are no networks: the decoder's bias is all there is.
  bool is_static() const { return description_.hidden == 1 && description_.decoder.empty(); }
  /// In a gap it matters how certain the state is (infer/gap_step.hpp): the networks are shown
  /// predictions, or what is predicted tends to the climate. A recurrent filter has no state that
  /// would grow less certain.
  bool minds_gaps() const {
    return description_.recursive() && (!is_static() || climate().spread != nullptr);
  }
  /// What the engine runs where nothing is trained.
  heads::StateModel<T> inference_window() const {
    heads::StateModel<T> result = window();
    result.steady = is_static();
    return result;
  }

 private:
  std::vector<double> emission_lines(const double* x) const;
  /// A linear map alone needs none: theory says how it spreads.
  heads::Climate climate() const {
    const StateClimate& c = description_.climate;
    if (c.spread.empty() || (is_static() && expert_.linear && !departs())) return {};
    return {c.mean.data(), c.spread.data(), c.A.data(), c.Q.data()};
  }
  bool departs() const;

  ModelDescription description_;
  prior::Expert expert_;
  heads::Architecture architecture_;
  kalman::Emission emission_;
  Buffer<T> parameters_;
  heads::PackedModel<T> network_;
  std::unique_ptr<SmootherNetworks> smoother_;
  kalman::RobustOptions robust_;
};

/// The expert model a description names.
prior::Expert expert_of(const ModelDescription& description);

/// The architecture a description stands for.
heads::ArchitectureOptions architecture_options(const ModelDescription& description,
                                                const prior::Expert& expert);
/// That of its smoother with networks of these sizes.
heads::ArchitectureOptions smoother_options(const ModelDescription& description,
                                            const prior::Expert& expert,
                                            const SmootherSizes& sizes);

}  // namespace kalmia::model
