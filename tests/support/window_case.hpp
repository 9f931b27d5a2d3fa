// A random model with random data for one lane group: what the tests of the window engine run on.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "engine/batch.hpp"
#include "heads/fusion/fusion.hpp"
#include "heads/state_window.hpp"
#include "kalman/emission.hpp"
#include "kalman/emission_map.hpp"
#include "kalman/transition_map.hpp"
#include "lanes/panel.hpp"
#include "support/lines.hpp"

namespace kalmia::test {

/// An expert map that depends on the state in F and in e, on the step, on parameters and, if it is
/// driven, on two inputs:
///   F_ij = a_ij + b_ij sin(x_j),  e_i = theta_0 c_i cos(x_i) dt + theta_1 (u_0 + i u_1) dt.
class WavyMap : public kalman::TransitionMap {
 public:
  WavyMap(int state_dim, std::uint64_t seed, bool driven = false)
      : n_(state_dim), inputs_(driven ? 2 : 0) {
    RandomStream random(seed, "wavy map");
    for (int i = 0; i < n_ * n_; ++i) {
      a_.push_back((i % (n_ + 1) == 0 ? 0.8 : 0.0) + 0.1 * random.normal() / n_);
      b_.push_back(0.2 * random.normal() / n_);
    }
    for (int i = 0; i < n_; ++i) c_.push_back(0.1 * random.normal());
  }
  int state_dim() const override { return n_; }
  int input_dim() const override { return inputs_; }
  int parameter_count() const override { return 2; }
  std::size_t scratch_size() const override { return 0; }
  double F(int i, int j, double x_j) const { return a_[at(i, j)] + b_[at(i, j)] * std::sin(x_j); }
  /// With dt = 1, theta_0 = 1 and without inputs.
  double e(int i, double x_i) const { return c_[static_cast<std::size_t>(i)] * std::cos(x_i); }
  void forward(const kalman::MapPoint& at_point, double* F_out, double* e_out,
               double*) const override {
    const double* x = at_point.x;
    for (int b = 0; b < kLanes; ++b)
      for (int i = 0; i < n_; ++i) {
        e_out[i * kLanes + b] = at_point.dt[b] * (at_point.theta[0] * e(i, x[i * kLanes + b]) +
                                                  at_point.theta[1] * drive(i, at_point.u, b));
        for (int j = 0; j < n_; ++j) F_out[(i * n_ + j) * kLanes + b] = F(i, j, x[j * kLanes + b]);
      }
  }
  void backward(const kalman::MapPoint& at_point, const double* d_F, const double* d_e, double* d_x,
                double* d_theta, double*) const override {
    const double* x = at_point.x;
    for (int b = 0; b < kLanes; ++b)
      for (int i = 0; i < n_; ++i) {
        const double d = d_e[i * kLanes + b] * at_point.dt[b];
        d_x[i * kLanes + b] -=
            d * at_point.theta[0] * c_[static_cast<std::size_t>(i)] * std::sin(x[i * kLanes + b]);
        d_theta[b] += d * e(i, x[i * kLanes + b]);
        d_theta[kLanes + b] += d * drive(i, at_point.u, b);
        for (int j = 0; j < n_; ++j)
          d_x[j * kLanes + b] +=
              d_F[(i * n_ + j) * kLanes + b] * b_[at(i, j)] * std::cos(x[j * kLanes + b]);
      }
  }

 private:
  static constexpr int kLanes = lanes::kLineLanes<double>;
  std::size_t at(int i, int j) const { return static_cast<std::size_t>(i * n_ + j); }
  double drive(int i, const double* u, int b) const {
    return inputs_ == 0 ? 0 : u[b] + i * u[kLanes + b];
  }
  int n_, inputs_;
  std::vector<double> a_, b_, c_;
};

/// The same map, and noise that it bends: Q = dt B B', B = (I + kBend F) L.
class WavyFlow : public kalman::FlowMap {
 public:
  static constexpr double kBend = 0.3;
  explicit WavyFlow(const WavyMap& map) : map_(map), n_(map.state_dim()) {}
  int state_dim() const override { return n_; }
  int input_dim() const override { return map_.input_dim(); }
  int parameter_count() const override { return map_.parameter_count(); }
  std::size_t scratch_size() const override { return 0; }
  void forward(const kalman::MapPoint& at, double* F, double* e, double* scratch) const override {
    map_.forward(at, F, e, scratch);
  }
  void backward(const kalman::MapPoint& at, const double* d_F, const double* d_e, double* d_x,
                double* d_theta, double* scratch) const override {
    map_.backward(at, d_F, d_e, d_x, d_theta, scratch);
  }
  void forward_with_noise(const kalman::MapPoint& at, const double* L, double* F, double* e,
                          double* Q, double* scratch) const override {
    map_.forward(at, F, e, scratch);
    for (int b = 0; b < kLanes; ++b) {
      const Matrix B = bent(F, b) * lower(L, b);
      put(at.dt[b] * B * B.transpose(), b, Q);
    }
  }
  void backward_with_noise(const kalman::MapPoint& at, const double* L, const double* d_F,
                           const double* d_e, const double* d_Q, double* d_L, double* d_x,
                           double* d_theta, double*) const override {
    std::vector<double> F(size()), e(size()), whole_d_F(d_F, d_F + size());
    map_.forward(at, F.data(), e.data(), nullptr);
    for (int b = 0; b < kLanes; ++b) {
      const Matrix factor = lower(L, b), W = bent(F.data(), b);
      const Matrix d_B = 2 * at.dt[b] * square(d_Q, b) * (W * factor);
      put(square(d_F, b) + kBend * d_B * factor.transpose(), b, whole_d_F.data());
      const Matrix d_factor = W.transpose() * d_B;
      for (int i = 0; i < n_; ++i)
        for (int j = 0; j <= i; ++j) d_L[lanes::triangle_index(i, j) * kLanes + b] = d_factor(i, j);
    }
    map_.backward(at, whole_d_F.data(), d_e, d_x, d_theta, nullptr);
  }

 private:
  static constexpr int kLanes = lanes::kLineLanes<double>;
  std::size_t size() const { return static_cast<std::size_t>(n_ * n_ * kLanes); }
  Matrix square(const double* lines, int b) const {
    Matrix result(n_, n_);
    for (int i = 0; i < n_ * n_; ++i) result(i / n_, i % n_) = lines[i * kLanes + b];
    return result;
  }
  void put(const Matrix& from, int b, double* lines) const {
    for (int i = 0; i < n_ * n_; ++i) lines[i * kLanes + b] = from(i / n_, i % n_);
  }
  Matrix lower(const double* packed, int b) const {
    Matrix result = Matrix::Zero(n_, n_);
    for (int i = 0; i < n_; ++i)
      for (int j = 0; j <= i; ++j) result(i, j) = packed[lanes::triangle_index(i, j) * kLanes + b];
    return result;
  }
  Matrix bent(const double* F, int b) const {
    return Matrix::Identity(n_, n_) + kBend * square(F, b);
  }
  const WavyMap& map_;
  int n_;
};

/// y_i = a_i . x + theta_0 sin(b_i . x), with theta of the map.
class BentEmission : public kalman::EmissionMap {
 public:
  BentEmission(int state_dim, int meas_dim, std::uint64_t seed) : n_(state_dim), m_(meas_dim) {
    RandomStream random(seed, "bent emission");
    for (int i = 0; i < n_ * m_; ++i) {
      a_.push_back(random.normal());
      b_.push_back(0.3 * random.normal());
    }
  }
  int state_dim() const override { return n_; }
  int meas_dim() const override { return m_; }
  std::size_t scratch_size() const override { return 0; }
  void forward(const kalman::MapPoint& at, double* y, double* H, double*) const override {
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < m_; ++i) {
        const double angle = dot(b_, i, at.x, lane);
        y[i * kLanes + lane] = dot(a_, i, at.x, lane) + at.theta[0] * std::sin(angle);
        for (int j = 0; j < n_; ++j)
          H[(i * n_ + j) * kLanes + lane] =
              a_[at_entry(i, j)] + at.theta[0] * std::cos(angle) * b_[at_entry(i, j)];
      }
  }
  void backward(const kalman::MapPoint& at, const double* d_y, const double* d_H, double* d_x,
                double* d_theta, double*) const override {
    for (int lane = 0; lane < kLanes; ++lane)
      for (int i = 0; i < m_; ++i) {
        const double angle = dot(b_, i, at.x, lane);
        const double d = d_y[i * kLanes + lane];
        double d_angle = d * at.theta[0] * std::cos(angle);
        d_theta[lane] += d * std::sin(angle);
        for (int j = 0; j < n_; ++j) {
          const double b = b_[at_entry(i, j)], d_h = d_H[(i * n_ + j) * kLanes + lane];
          d_x[j * kLanes + lane] += d * a_[at_entry(i, j)];
          d_angle -= d_h * at.theta[0] * std::sin(angle) * b;
          d_theta[lane] += d_h * std::cos(angle) * b;
        }
        for (int j = 0; j < n_; ++j) d_x[j * kLanes + lane] += d_angle * b_[at_entry(i, j)];
      }
  }

 private:
  static constexpr int kLanes = lanes::kLineLanes<double>;
  std::size_t at_entry(int i, int j) const { return static_cast<std::size_t>(i * n_ + j); }
  double dot(const std::vector<double>& rows, int i, const double* x, int lane) const {
    double sum = 0;
    for (int j = 0; j < n_; ++j) sum += rows[at_entry(i, j)] * x[j * kLanes + lane];
    return sum;
  }
  int n_, m_;
  std::vector<double> a_, b_;
};

/// What a case has beyond the plain one: everything measured, all lanes full, all starting.
struct WindowFeatures {
  bool map = true;
  bool missing = false;
  bool uneven = false;   ///< lanes of different length, 0 and 1 among them
  bool carried = false;  ///< every other lane goes on from a carried state
  bool centre = false;
  bool driven = false;    ///< steps of different length, inputs, parameters of the map
  bool weighted = false;  ///< noise weighted from step to step
  bool bent = false;      ///< a nonlinear emission with a parameter
  bool scored = false;    ///< steps count differently, some not at all
  bool flow = false;      ///< the map adds up noise along the step
  /// A climate of all states but the second, predictions lost to it, residuals trusted in part.
  bool gaps = false;
};

/// Owns a model, its parameters and one lane group's data, all drawn from `seed`.
template <typename T>
struct WindowCase {
  heads::Architecture architecture;
  kalman::Emission emission;
  std::unique_ptr<WavyMap> map;
  std::unique_ptr<WavyFlow> flow;
  std::unique_ptr<BentEmission> bent;
  std::vector<double> theta = {1, 0};
  double dt = 1;
  std::vector<double> climate_mean, climate_spread, climate_A, climate_Q;  ///< empty: none
  Buffer<T> parameters;
  heads::PackedModel<T> network;
  heads::StateGroup<T> group;
  Buffer<double> prior_x, prior_P;  ///< of a filter, where the head is fusion
  heads::FusionCarry<T> fusion_carry;

  WindowCase(const heads::ArchitectureOptions& options, const WindowFeatures& features, int steps,
             int lanes, std::uint64_t seed)
      : architecture(options), emission(random_emission(options, seed)) {
    if (features.map) map = std::make_unique<WavyMap>(options.state_dim, seed, features.driven);
    if (features.flow) flow = std::make_unique<WavyFlow>(*map);
    if (features.bent)
      bent = std::make_unique<BentEmission>(options.state_dim, options.meas_dim, seed);
    if (features.driven) {
      theta = {0.7, -0.4};
      dt = 0.8;
    }
    RandomStream random(seed, "window case");
    parameters.resize(static_cast<std::size_t>(architecture.parameters.size()));
    heads::initialise(architecture, seed, 0.4, 0.9, parameters.data());
    for (T& p : parameters.span()) p += static_cast<T>(0.1 * random.normal());
    pack();
    fill(features, steps, lanes, random);
  }

  void pack() { network.pack(architecture, parameters.data()); }
  heads::StateModel<T> model() const {
    return {
        .architecture = &architecture,
        .network = &network,
        .emission = &emission,
        .map = flow ? static_cast<const kalman::TransitionMap*>(flow.get()) : map.get(),
        .theta = theta.data(),
        .dt = dt,
        .emission_map = bent.get(),
        .climate = {climate_mean.data(), climate_spread.empty() ? nullptr : climate_spread.data(),
                    climate_A.data(), climate_Q.data()}};
  }

  /// The same where the head is fusion; it reads the group's data and the filter's moments.
  heads::FusionModel<T> fusion_model() const {
    const heads::StateModel<T> states = model();
    return {.architecture = &architecture,
            .network = &network,
            .emission = &emission,
            .emission_map = bent.get(),
            .theta = theta.data(),
            .parameters = states.map_parameters(),
            .inputs = states.map_inputs()};
  }
  heads::FusionInput<T> fusion_input() const {
    heads::FusionInput<T> input;
    const heads::StateInput<T> states = group.view();
    static_cast<engine::NetworkInput<T>&>(input) = states;
    static_cast<heads::Measurements&>(input) = states;
    input.centre = states.centre;
    input.prior_x = prior_x.data();
    input.prior_P = prior_P.data();
    return input;
  }

 private:
  static kalman::Emission random_emission(const heads::ArchitectureOptions& o, std::uint64_t seed) {
    RandomStream random(seed, "emission");
    const int n = o.state_dim, m = o.meas_dim;
    std::vector<double> H(static_cast<std::size_t>(m * n)), R(static_cast<std::size_t>(m * m));
    for (double& h : H) h = random.normal();
    std::vector<double> root(R.size());
    for (double& r : root) r = 0.3 * random.normal();
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < m; ++j) {
        double sum = i == j ? 0.3 : 0.0;
        for (int k = 0; k < m; ++k)
          sum +=
              root[static_cast<std::size_t>(i * m + k)] * root[static_cast<std::size_t>(j * m + k)];
        R[static_cast<std::size_t>(i * m + j)] = sum;
      }
    return {n, m, H, R};
  }

  void fill(const WindowFeatures& features, int steps, int lanes, RandomStream& random) {
    group.resize(architecture, steps, lanes);
    for (double& y : group.y.span()) y = random.normal();
    for (T& x : group.input_fwd.span()) x = static_cast<T>(random.normal());
    for (T& x : group.input_bwd.span()) x = static_cast<T>(random.normal());
    if (features.missing) {
      group.observed.resize(group.y.size());
      for (double& o : group.observed.span()) o = random.uniform() < 0.7 ? 1.0 : 0.0;
      for (std::size_t i = 0; i < group.y.size(); ++i)
        if (group.observed[i] == 0.0) group.y[i] = std::nan("");
    }
    if (features.uneven)
      for (int lane = 0; lane < lanes; ++lane)
        group.length.push_back(
            lane < 2 ? lane
                     : static_cast<int>(random.below(static_cast<std::uint64_t>(steps + 1))));
    if (features.centre) {
      group.centre.resize(static_cast<std::size_t>(steps * architecture.state_dim() * lanes));
      // Some are not finite: the residual leaves those states alone.
      for (double& c : group.centre.span())
        c = random.uniform() < 0.4 ? std::nan("") : random.normal();
    }
    if (features.scored) {
      group.score.resize(static_cast<std::size_t>(steps * lanes));
      for (double& score : group.score.span())
        score = random.uniform() < 0.5 ? 0 : random.uniform();
    }
    if (features.carried) carry_into(lanes, random);
    fusion_carry.resize(architecture, lanes);
    std::ranges::copy(group.carry.h.span(), fusion_carry.h.data());
    if (architecture.options.head == heads::HeadKind::Fusion) {
      const int n = architecture.state_dim();
      prior_x.resize(static_cast<std::size_t>(steps * n * lanes));
      for (double& each : prior_x.span()) each = random.normal();
      prior_P.resize(static_cast<std::size_t>(steps * n * n * lanes));
      for (int k = 0; k < steps; ++k)
        fill_covariances(lanes, random, prior_P.data() + k * n * n * lanes);
    }
    if (features.gaps) draw_climate(steps, lanes, random);
    if (features.weighted) {
      group.weight.resize(group.y.size());
      for (double& each : group.weight.span()) each = 0.1 + 2 * random.uniform();
    }
    if (features.driven) {
      group.dt.resize(static_cast<std::size_t>(steps * lanes));
      for (double& each : group.dt.span()) each = 0.3 + random.uniform();
      group.u.resize(2 * group.dt.size());
      for (double& each : group.u.span()) each = random.normal();
    }
  }

  // Spreads are of the size of the predictions, so that some saturate.
  void draw_climate(int steps, int lanes, RandomStream& random) {
    const int n = architecture.state_dim();
    std::vector<double> root;
    for (int i = 0; i < n * n; ++i) root.push_back(0.4 * random.normal());
    const auto wanders = [](int i) { return i == 1; };
    for (int i = 0; i < n; ++i) {
      climate_mean.push_back(wanders(i) ? 0 : random.normal());
      climate_spread.push_back(wanders(i) ? std::numeric_limits<double>::infinity()
                                          : 0.6 + 0.5 * random.uniform());
      for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int k = 0; k < n; ++k)
          sum +=
              root[static_cast<std::size_t>(i * n + k)] * root[static_cast<std::size_t>(j * n + k)];
        climate_Q.push_back(wanders(i) || wanders(j) ? 0 : sum);
        climate_A.push_back(wanders(i) || wanders(j) ? 0 : 0.3 * random.normal());
      }
    }
    group.lost.resize(static_cast<std::size_t>(steps * lanes));
    for (double& share : group.lost.span()) share = random.uniform() < 0.4 ? 0 : random.uniform();
    group.trust.resize(static_cast<std::size_t>(steps * n * lanes));
    for (double& trust : group.trust.span()) trust = random.uniform();
  }

  void carry_into(int lanes, RandomStream& random) {
    for (int lane = 0; lane < lanes; ++lane)
      group.fresh.push_back(static_cast<std::uint8_t>(lane % 2));
    for (T& h : group.carry.h.span()) h = static_cast<T>(0.5 * random.normal());
    for (double& x : group.carry.x.span()) x = random.normal();
    fill_covariances(lanes, random, group.carry.P.data());
  }

  // One covariance a lane, a panel of n n rows.
  void fill_covariances(int lanes, RandomStream& random, double* panel) {
    const int n = architecture.state_dim();
    for (int lane = 0; lane < lanes; ++lane) {
      std::vector<double> root(static_cast<std::size_t>(n * n));
      for (double& r : root) r = 0.5 * random.normal();
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          double sum = i == j ? 0.2 : 0.0;
          for (int k = 0; k < n; ++k)
            sum += root[static_cast<std::size_t>(i * n + k)] *
                   root[static_cast<std::size_t>(j * n + k)];
          panel[(i * n + j) * lanes + lane] = sum;
        }
    }
  }
};

}  // namespace kalmia::test
