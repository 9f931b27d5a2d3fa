// The filter as it runs inside a program: one member of a model, one measurement at a time, and
// what the public Stream holds, which is all of them.
#pragma once

#include <optional>
#include <vector>

#include "heads/state_stream.hpp"
#include "infer/gap_step.hpp"
#include "infer/model_impl.hpp"
#include "infer/step_factors.hpp"
#include "kalmia/model.hpp"
#include "model/learned_model.hpp"

namespace kalmia::infer {

/// What a series remembers of one member is floats (h and the features) and doubles (whether the
/// series has started, the last values and how far away they are, the inputs, the centre and its
/// trust, x and P, and how far the filter has lost its way).
struct MemberStream {
  /// The model must outlive the stream.
  explicit MemberStream(const model::LearnedModel<float>& model);

  /// Predicts and updates with y (in the model's units, NaN = missing). `dt_ratio`: the length of
  /// the step over the usual one; `u`: the inputs that act during it, null at the first step;
  /// `weight`: of the components' noise, M numbers, null: 1.
  heads::StreamResult step(const double* y, double dt_ratio, const double* u,
                           const double* weight = nullptr);
  /// Notes what the networks read next: y of the last step, with predictions in place of missing
  /// values (gap_step.hpp).
  void show(const double* y);
  /// Whether the moments are numbers: in a gap no likelihood tells.
  bool finite() const;
  /// Back to the state before a series' first measurement.
  void restart();

  std::size_t floats() const { return state.h.size() + state.features.size(); }
  std::size_t doubles() const {
    return 2 + last.size() + since.size() + u.size() + 2 * state.centre.size() + state.x.size() +
           state.P.size();
  }
  /// Writes the state before a series' first measurement, loads a state, stores the working one.
  void start(float* network, double* numbers) const;
  void load(const float* network, const double* numbers);
  void store(float* network, double* numbers) const;

  const model::LearnedModel<float>& model;
  heads::StateStream<float> filter;
  heads::StreamState<float> state;
  std::vector<double> last;  ///< last value of each channel, NaN until there is one
  /// From the last value of each channel before the last step to that step (Distances::since), and
  /// on from it once the step is shown.
  std::vector<double> since;
  std::vector<double> u;          ///< inputs that act during the next step, U
  std::vector<double> noise_std;  ///< deviations of weight 1, M, in the user's units

 private:
  // A step that is not cut up.
  heads::StreamResult one_step(const double* now, double dt_ratio, const double* inputs,
                               const double* weight);

  std::vector<double> missing_;
  GapStep gap_;
  int most_empty_steps_;
};

}  // namespace kalmia::infer

namespace kalmia {

struct Stream::Impl {
  explicit Impl(std::shared_ptr<const Model::Impl> shared_model);

  /// Loads and stores the working states of all members.
  void load(const State& state);
  void store(State& state) const;
  /// Sets mean, covariance and log_likelihood from the members' last step.
  /// `weighted`: the last measurement had weights of its noise.
  void combine(bool weighted);

  Model model;
  std::vector<infer::MemberStream> members;
  std::vector<double> y;       ///< M, in the model's units
  std::vector<double> weight;  ///< of the last measurement's noise, M of each member
  std::vector<double> mean, covariance;
  std::vector<double> nll;  ///< of the last measurement, what each member's engine gave
  double log_likelihood = 0;

 private:
  // A member's moments and a mixture's, with their K R K' and predicted measurement.
  std::vector<double> one_mean_, one_covariance_, one_noise_, noise_;
  std::vector<double> one_y_pred_, one_S_, one_R_, y_pred_, S_, R_, residual_;
  std::optional<infer::StepFactors> factors_;  // of a calibrated model
};

}  // namespace kalmia
