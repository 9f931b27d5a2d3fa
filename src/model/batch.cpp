#include "model/batch.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::model {
namespace {

std::size_t volume(int steps, int rows, int lanes) {
  return static_cast<std::size_t>(steps) * static_cast<std::size_t>(rows) *
         static_cast<std::size_t>(lanes);
}

template <typename T>
BatchResult result_of(const Workspace<T>& ws, double nll, const WindowInput<T>& input) {
  BatchResult result{.nll = nll};
  for (int lane = 0; lane < input.lanes; ++lane) {
    if (ws.lane_ok[static_cast<std::size_t>(lane)] != 0) continue;
    if (result.failed_lanes++ > 0) continue;
    result.failed_sequence = lane;
    result.failed_step = ws.failed_step[static_cast<std::size_t>(lane)];
    result.failed_covariance = ws.failed_covariance[static_cast<std::size_t>(lane)] != 0;
  }
  return result;
}

// The groups' results together; lanes are counted through the groups.
template <typename T>
BatchResult total(const std::vector<BatchResult>& parts, std::span<const LaneGroup<T>> groups) {
  BatchResult sum;
  int first_lane = 0;
  for (std::size_t g = 0; g < parts.size(); ++g) {
    const BatchResult& part = parts[g];
    if (sum.failed_lanes == 0 && part.failed_lanes > 0) {
      sum.failed_sequence = first_lane + part.failed_sequence;
      sum.failed_step = part.failed_step;
      sum.failed_covariance = part.failed_covariance;
    }
    sum.nll += part.nll;
    sum.failed_lanes += part.failed_lanes;
    first_lane += groups[g].lanes;
  }
  return sum;
}

}  // namespace

void BatchResult::require_success() const {
  if (failed_lanes == 0) return;
  const std::string others =
      failed_lanes > 1 ? " (and " + std::to_string(failed_lanes - 1) + " more sequences)" : "";
  const std::string place = "step " + std::to_string(failed_step) + ", sequence " +
                            std::to_string(failed_sequence) + ": ";
  if (failed_covariance)
    throw NumericalError(place + "innovation covariance H P H' + R is not positive definite" +
                         others +
                         "; check that Q and the carried P are covariances of a sane size");
  throw NumericalError(place + "the likelihood is not finite" + others +
                       "; measurements must be finite, or marked as missing");
}

template <typename T>
void LaneGroup<T>::resize(const Architecture& architecture, int num_steps, int num_lanes) {
  steps = num_steps;
  lanes = num_lanes;
  input_fwd.resize(volume(steps, architecture.options.input_dim, lanes));
  if (architecture.options.two_sided)
    input_bwd.resize(volume(steps, architecture.options.input_dim, lanes));
  y.resize(volume(steps, architecture.meas_dim(), lanes));
  for (Buffer<T>* each : {&gain_offset, &gain_square, &gain_product})
    each->resize(volume(steps, architecture.options.gains, lanes));
  carry.resize(architecture, lanes);
}

template <typename T>
WindowInput<T> LaneGroup<T>::view() const {
  WindowInput<T> input;
  input.steps = steps;
  input.lanes = lanes;
  input.input_fwd = input_fwd.data();
  input.input_bwd = input_bwd.data();
  input.y = y.data();
  input.observed = observed.data();
  input.centre = centre.data();
  input.trust = trust.data();
  input.lost = lost.data();
  input.dt = dt.data();
  input.weight = weight.data();
  input.score = score.data();
  input.linearise = linearise.data();
  input.prior_x = prior_x.data();
  input.prior_P = prior_P.data();
  input.gain_offset = gain_offset.data();
  input.gain_square = gain_square.data();
  input.gain_product = gain_product.data();
  input.u = u.data();
  input.length = length.empty() ? nullptr : length.data();
  input.fresh = fresh.empty() ? nullptr : fresh.data();
  return input;
}

template <typename T>
BatchEngine<T>::BatchEngine(const WindowModel<T>& model, ThreadTeam& team, int max_steps,
                            int max_lanes, bool training)
    : model_(model),
      team_(team),
      training_(training),
      workspaces_(static_cast<std::size_t>(team.size())) {
  for (Workspace<T>& workspace : workspaces_)
    workspace.prepare(model, max_steps, max_lanes, training);
}

template <typename T>
BatchResult BatchEngine<T>::gradient(std::span<LaneGroup<T>> groups, double scale,
                                     std::span<T> gradient, std::span<double> d_R,
                                     std::span<double> d_theta) {
  if (!training_) throw ConfigError("BatchEngine::gradient needs an engine made for training");
  const auto parameters = static_cast<std::size_t>(model_.architecture->parameters.size());
  if (gradient.size() != parameters)
    throw ConfigError("BatchEngine::gradient: gradient has " + std::to_string(gradient.size()) +
                      " numbers, but the model has " + std::to_string(parameters) + " parameters");
  group_results_.resize(groups.size());
  group_gradients_.resize(std::max(group_gradients_.size(), groups.size()));
  group_d_R_.resize(group_gradients_.size());
  group_d_theta_.resize(group_gradients_.size());
  team_.run(static_cast<int>(groups.size()), [&](int index, int thread) {
    const auto g = static_cast<std::size_t>(index);
    Workspace<T>& ws = workspaces_[static_cast<std::size_t>(thread)];
    const WindowInput<T> input = groups[g].view();
    const double nll = window_forward(model_, input, groups[g].carry, {}, ws);
    group_results_[g] = result_of(ws, nll, input);
    window_backward(model_, input, scale, ws);
    if (group_gradients_[g].empty()) {
      group_gradients_[g].resize(parameters);
      group_d_R_[g].resize(ws.d_R.size());
      group_d_theta_[g].resize(ws.d_theta.size());
    }
    std::copy_n(ws.gradient.data(), parameters, group_gradients_[g].data());
    std::copy_n(ws.d_R.data(), ws.d_R.size(), group_d_R_[g].data());
    std::copy_n(ws.d_theta.data(), ws.d_theta.size(), group_d_theta_[g].data());
  });
  std::fill(gradient.begin(), gradient.end(), T(0));
  std::fill(d_R.begin(), d_R.end(), 0.0);
  std::fill(d_theta.begin(), d_theta.end(), 0.0);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const T* part = group_gradients_[g].data();
    for (std::size_t i = 0; i < parameters; ++i) gradient[i] += part[i];
    for (std::size_t i = 0; i < d_R.size(); ++i) d_R[i] += group_d_R_[g][i];
    for (std::size_t i = 0; i < d_theta.size(); ++i) d_theta[i] += group_d_theta_[g][i];
  }
  return total<T>(group_results_, groups);
}

template <typename T>
BatchResult BatchEngine<T>::forward(std::span<LaneGroup<T>> groups,
                                    std::span<const WindowMoments> moments) {
  if (!moments.empty() && moments.size() != groups.size())
    throw ConfigError("BatchEngine::forward: " + std::to_string(moments.size()) +
                      " places for moments, but " + std::to_string(groups.size()) + " groups");
  group_results_.resize(groups.size());
  team_.run(static_cast<int>(groups.size()), [&](int index, int thread) {
    const auto g = static_cast<std::size_t>(index);
    Workspace<T>& ws = workspaces_[static_cast<std::size_t>(thread)];
    const WindowInput<T> input = groups[g].view();
    const double nll = window_forward(model_, input, groups[g].carry,
                                      moments.empty() ? WindowMoments{} : moments[g], ws);
    group_results_[g] = result_of(ws, nll, input);
  });
  return total<T>(group_results_, groups);
}

template struct LaneGroup<float>;
template struct LaneGroup<double>;
template class BatchEngine<float>;
template class BatchEngine<double>;

}  // namespace kalmia::model
