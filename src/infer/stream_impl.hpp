// What the public Stream holds.
#pragma once

#include "infer/member_stream.hpp"
#include "infer/model_impl.hpp"

namespace kalmia {

struct Stream::Impl {
  explicit Impl(std::shared_ptr<const Model::Impl> shared_model);

  /// Loads and stores the working states of all members.
  void load(const State& state);
  void store(State& state) const;
  /// Sets mean, covariance and log_likelihood from the members' last step.
  void combine();

  Model model;
  std::vector<infer::MemberStream> members;
  std::vector<double> R;       ///< M x M, in the user's units
  std::vector<double> y;       ///< M, in the model's units
  std::vector<double> weight;  ///< of the noise, M
  std::vector<double> mean, covariance;
  std::vector<double> nll;  ///< of the last measurement, what each member's engine gave
  double log_likelihood = 0;

 private:
  // A member's moments and a mixture's, with their K R K' and predicted measurement.
  std::vector<double> one_mean_, one_covariance_, one_noise_, noise_;
  std::vector<double> one_y_pred_, one_S_, y_pred_, S_, residual_;
};

}  // namespace kalmia
