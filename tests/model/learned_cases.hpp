// Learned models with numbers made by hand: a static one that is a linear Gaussian system, and one
// with random networks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "lanes/panel.hpp"
#include "model/learned_model.hpp"
#include "support/expert_spec.hpp"
#include "support/joint_posterior.hpp"

namespace kalmia::test {

/// What a LearnedModel is made from.
struct LearnedCase {
  model::ModelDescription description;
  std::vector<double> parameters;
  std::vector<double> R;  ///< in the model's units

  template <typename T>
  std::unique_ptr<model::LearnedModel<T>> make() const {
    return std::make_unique<model::LearnedModel<T>>(
        description, std::vector<T>(parameters.begin(), parameters.end()), R);
  }
};

inline heads::Architecture architecture_of(const model::ModelDescription& d) {
  return heads::Architecture(model::architecture_options(d, model::expert_of(d)));
}

/// Up to two channels of constant velocity; scales and dt are powers of two, so that changing units
/// does not round.
inline model::ModelDescription motion_description(int channels) {
  model::ModelDescription d;
  d.prior.kind = prior::PriorKind::ConstantVelocity;
  d.time = TimeKind::Number;
  d.dt = 0.5;
  d.noise = "learn";
  const char* names[] = {"north", "east"};
  const double scale[] = {0.25, 4}, offset[] = {100, -8};
  for (int c = 0; c < channels; ++c) {
    d.measured_names.push_back(names[c]);
    d.units.y_scale.push_back(scale[c]);
    d.units.y_offset.push_back(offset[c]);
    d.units.x_scale.insert(d.units.x_scale.end(), {scale[c], scale[c] / d.dt});
    d.units.x_offset.insert(d.units.x_offset.end(), {offset[c], 0});
    d.features.mean.push_back(0.5);
    d.features.spread.push_back(100);
    d.features.step.push_back(40);
    d.features.use_level.push_back(c == 0 ? 1 : 0);
  }
  return d;
}

/// The same where the user's units are the model's.
inline model::ModelDescription unscaled(model::ModelDescription d) {
  d.dt = 1;
  for (std::vector<double>* scale : {&d.units.y_scale, &d.units.x_scale})
    std::fill(scale->begin(), scale->end(), 1.0);
  for (std::vector<double>* offset : {&d.units.y_offset, &d.units.x_offset})
    std::fill(offset->begin(), offset->end(), 0.0);
  return d;
}

/// A packed triangle of small whole numbers with `diagonal` on the diagonal: softplus leaves such
/// large numbers as they are.
inline std::vector<double> whole_triangle(int N, double diagonal) {
  std::vector<double> L(static_cast<std::size_t>(lanes::triangle_size(N)));
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j)
      L[static_cast<std::size_t>(lanes::triangle_index(i, j))] =
          i == j ? diagonal + 2 * i : (3 * i + j) % 5 - 2;
  return L;
}

inline std::vector<double> whole_noise(int M) {
  std::vector<double> R(static_cast<std::size_t>(M * M), 150);
  for (int m = 0; m < M; ++m) R[static_cast<std::size_t>(m * M + m)] = 1600 + 400 * m;
  return R;
}

/// A static model: the decoder's bias is all there is; every number is exact in float.
inline LearnedCase static_case(const model::ModelDescription& description) {
  LearnedCase result;
  result.description = description;
  const heads::Architecture architecture = architecture_of(result.description);
  const int N = architecture.state_dim();
  result.parameters.resize(static_cast<std::size_t>(architecture.parameters.size()));
  // What the GRU computes must not matter.
  RandomStream random(31, "gru");
  for (double& p : result.parameters) p = std::floor(16 * random.uniform(-1, 1)) / 16;
  const auto put = [&](std::ptrdiff_t offset, const std::vector<double>& values) {
    std::copy(values.begin(), values.end(), result.parameters.begin() + offset);
  };
  put(architecture.decoder.weight.back(),
      std::vector<double>(static_cast<std::size_t>(architecture.output_rows())));
  put(architecture.decoder.bias.back(), std::vector<double>(static_cast<std::size_t>(N * N + N)));
  put(architecture.decoder.bias.back() + architecture.L_row(), whole_triangle(N, 32));
  std::vector<double> start;
  for (int n = 0; n < N; ++n) start.push_back(5 * n - 3);
  put(architecture.initial_e, start);
  put(architecture.initial_L, whole_triangle(N, 128));
  result.R = whole_noise(architecture.meas_dim());
  return result;
}
inline LearnedCase static_case(int channels) { return static_case(motion_description(channels)); }

/// A static model of a sum of parts, in the units of motion_description.
inline LearnedCase sum_case(const std::string& parts, int channels) {
  model::ModelDescription d = motion_description(channels);
  d.prior = sum_of_parts(parts, d.measured_names);
  std::vector<model::ChannelStatistics> statistics(d.measured_names.size());
  for (std::size_t m = 0; m < statistics.size(); ++m) {
    statistics[m].step = d.units.y_scale[m];
    statistics[m].mean = d.units.y_offset[m];
  }
  d.units = model::make_units(model::expert_of(d), statistics, d.dt);
  return static_case(d);
}

/// A driven mass on a spring, x'' = -4 x - damping x', whose two channels measure it in two ways,
/// with parts added to both; what one channel measures is linear or not. Its time is half a step's.
inline LearnedCase spring_case(const std::string& parts, bool linear = true) {
  model::ModelDescription d = motion_description(2);
  d.prior = equations({});
  System& system = d.prior.system;
  system.states = {"x", "v"};
  system.parameters = {{"damping", 0.5, true, 0}};
  system.ode = {{"x", "v"}, {"v", "-4*x - damping*v"}};
  system.measure = {{"north", linear ? "x" : "x + x^3 / 1000"}, {"east", "x - 2*v"}};
  system.initial = {{"x", 0, 30}, {"v", 0, 60}};
  system.integration.substeps = 16;
  d.prior.parts = prior::parts_in_steps(prior::parse_sum(parts).parts,
                                        {.channels = d.measured_names}, prior::Alone::No);
  d.units = model::make_units(model::expert_of(d), std::vector<model::ChannelStatistics>(2), d.dt);
  return static_case(d);
}

/// L L' of whole_triangle.
inline reference::Matrix whole_covariance(int N, double diagonal) {
  const std::vector<double> packed = whole_triangle(N, diagonal);
  reference::Matrix L = reference::Matrix::Zero(N, N);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j)
      L(i, j) = packed[static_cast<std::size_t>(lanes::triangle_index(i, j))];
  return L * L.transpose();
}
/// The diagonal matrix from the model's units of the states to the user's.
inline reference::Matrix state_units(const model::ModelDescription& d) {
  return Eigen::Map<const reference::Vector>(d.units.x_scale.data(),
                                             static_cast<Eigen::Index>(d.units.x_scale.size()))
      .asDiagonal();
}
/// dx/dt = A x of constant velocity.
inline reference::Matrix velocity_matrix(int channels) {
  reference::Matrix A = reference::Matrix::Zero(2 * channels, 2 * channels);
  for (int c = 0; c < channels; ++c) A(2 * c, 2 * c + 1) = 1;
  return A;
}
/// The process noise of static_case over a step of `dt`, in the user's units (constant velocity
/// only).
inline reference::Matrix static_noise(const model::ModelDescription& d, double dt) {
  const int channels = static_cast<int>(d.measured_names.size());
  const reference::Matrix to_user = state_units(d);
  return to_user *
         reference::flow_noise(velocity_matrix(channels), whole_covariance(2 * channels, 32),
                               dt / d.dt) *
         to_user;
}

/// The system that static_case stands for, in the user's units (constant velocity only).
inline reference::DenseSystem static_system(const model::ModelDescription& d) {
  using reference::Matrix;
  using reference::Vector;
  const int channels = static_cast<int>(d.measured_names.size());
  const int N = 2 * channels;
  const Matrix to_user = state_units(d);
  Matrix y_to_user = Matrix::Zero(channels, channels);
  for (int m = 0; m < channels; ++m) y_to_user(m, m) = d.units.y_scale[static_cast<std::size_t>(m)];
  reference::DenseSystem s;
  s.F = Matrix::Identity(N, N);
  s.H = Matrix::Zero(channels, N);
  s.e = Vector::Zero(N);
  s.initial.mean = Vector::Zero(N);
  for (int c = 0; c < channels; ++c) {
    s.F(2 * c, 2 * c + 1) = d.dt;
    s.H(c, 2 * c) = 1;
  }
  for (int n = 0; n < N; ++n)
    s.initial.mean(n) = d.units.x_offset[static_cast<std::size_t>(n)] + to_user(n, n) * (5 * n - 3);
  s.Q = static_noise(d, d.dt);
  s.initial.cov = to_user * whole_covariance(N, 128) * to_user;
  const std::vector<double> R = whole_noise(channels);
  s.R = y_to_user * Eigen::Map<const Matrix>(R.data(), channels, channels) * y_to_user;
  return s;
}

/// A static model of three channels whose map runs away from large states.
inline LearnedCase lorenz_case() {
  model::ModelDescription d;
  d.prior.kind = prior::PriorKind::Lorenz;
  d.dt = 0.02;
  d.measured_names = {"x", "y", "z"};
  d.units = {{1, 1, 1}, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}};
  d.features.mean = {0, 0, 0};
  d.features.spread = d.features.step = {10, 10, 10};
  d.features.use_level = {1, 1, 1};
  return static_case(d);
}

/// A static model of a pendulum pushed by one of two inputs; a camera sees how far its bob is to
/// the side, the other channel its rate.
inline LearnedCase pendulum_case() {
  model::ModelDescription d;
  d.prior.kind = prior::PriorKind::System;
  System& system = d.prior.system;
  system.states = {"angle", "rate"};
  system.inputs = {"push"};
  system.parameters = {{"gravity", 4, true, 0}, {"length", 1.5}};
  system.ode = {{"angle", "rate"}, {"rate", "push - gravity/length * sin(angle)"}};
  system.measure = {{"across", "length * sin(angle)"}};
  d.dt = 0.25;
  d.measured_names = {"across", "rate"};
  d.input_names = {"wind", "push"};
  d.units = {{1, 1}, {0, 0}, {1, 1}, {0, 0}};
  d.features.mean = {0, 0};
  d.features.spread = d.features.step = {10, 10};
  d.features.use_level = {1, 1};
  d.features.use_dt = true;
  d.features.u_mean = {0.5, 1.0 / 3};
  d.features.u_spread = {2, 0.1};
  return static_case(d);
}

/// A model whose networks do something: all weights random.
inline LearnedCase network_case(int channels, std::uint64_t seed,
                                nn::EncoderKind encoder = nn::EncoderKind::Gru) {
  LearnedCase result;
  result.description = motion_description(channels);
  result.description.encoder = encoder;
  result.description.taps = 4;
  result.description.hidden = 9;
  result.description.decoder = {11};
  const heads::Architecture architecture = architecture_of(result.description);
  result.parameters.resize(static_cast<std::size_t>(architecture.parameters.size()));
  heads::initialise(architecture, seed, 30, 100, result.parameters.data());
  RandomStream random(seed, "networks");
  for (double& p : result.parameters) p += 0.08 * random.normal();
  result.R = whole_noise(channels);
  // As a file would hold them.
  for (double& p : result.parameters) p = static_cast<double>(static_cast<float>(p));
  return result;
}

/// Gives a model a smoother with random weights; those of a two-sided one put out larger noise.
inline void give_smoother(model::LearnedModel<float>& model, std::uint64_t seed,
                          model::SmootherKind kind = model::SmootherKind::Fused) {
  const model::SmootherSizes sizes{7, {6}, kind};
  const heads::Architecture architecture(
      model::smoother_options(model.description(), model.expert(), sizes));
  std::vector<float> parameters(static_cast<std::size_t>(architecture.parameters.size()));
  heads::initialise<float>(architecture, seed, kind == model::SmootherKind::Fused ? 0.03 : 30, 1,
                           parameters.data());
  RandomStream random(seed, "fusion networks");
  for (float& p : parameters) p += static_cast<float>(0.05 * random.normal());
  // A gain, so that no state runs away.
  for (int n = 0; n < architecture.state_dim() && architecture.options.recursive(); ++n)
    parameters[static_cast<std::size_t>(architecture.decoder.bias.back() +
                                        n * (architecture.state_dim() + 1))] += 0.3f;
  model.set_smoother(sizes, parameters);
}

}  // namespace kalmia::test
