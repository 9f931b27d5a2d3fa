/// \file
/// A fitted model: filters, smooths, forecasts and samples series, one step at a time if need be.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "kalmia/data.hpp"
#include "kalmia/estimates.hpp"

namespace kalmia {

/// The innovations of one series: y[k] - h(x[k|<k]) and their covariance, with H at x[k|<k]. That
/// of Student-t noise is Model::noise().
struct Innovations {
  std::vector<double> residual;    ///< (steps, M), NaN where missing
  std::vector<double> covariance;  ///< (steps, M, M)
  std::vector<double> noise;       ///< (steps, M): what of their variances is measurement noise
};

/// Everything one run over the data gives.
struct Analysis {
  Estimates filtered;
  Estimates smoothed;
  std::vector<Innovations> innovations;  ///< one per series
};

/// How states are smoothed.
struct SmoothOptions {
  /// `linearized`: a backward pass over the filter (Rauch-Tung-Striebel; over a recurrent filter,
  /// which has no state to go back to, the filter itself); `fused`, `recurrent`, `recursive`: the
  /// networks that read the future, if the model was fitted with these; `auto`: the networks if
  /// there are any, else linearized.
  std::string method = "auto";
  /// Of the linearized smoother: filter and smooth again so many times, at most, with the expert
  /// map and the emission linearised at the smoothed states, until they settle.
  int iterations = 0;

  /// Throws ConfigError. `trained`: the smoother the model was fitted with, as
  /// ModelOptions::smoother calls it; empty: none.
  void validate(const std::string& trained) const;
};

template <typename Options, typename Visitor>
requires std::same_as<std::remove_const_t<Options>, SmoothOptions>
constexpr void visit_fields(Options& o, Visitor&& visit) {
  visit("method", o.method,
        "linearized, fused, recurrent, recursive, or auto: the networks if the model has any");
  visit("iterations", o.iterations,
        "smooth again, at most so many times, with map and emission linearised at the result");
}

class Stream;

/// A fitted model. Immutable; copies share their parameters.
///
/// An ensemble (ModelOptions::members) gives the moments of the equally weighted mixture of what
/// its members give, and the log-likelihood of the mixture of their predictions. A calibrated model
/// (ModelOptions::calibrate) gives covariances with its factors in them, and the log-likelihood of
/// its calibrated innovations; under Student-t noise that of the innovations as they are.
class Model {
 public:
  struct Impl;
  explicit Model(std::shared_ptr<const Impl> impl);

  /// Throws IoError if the file cannot be read, DataError if it is not a whole model file of a
  /// version this build knows.
  static Model load(const std::string& path);
  /// The file appears whole or not at all.
  void save(const std::string& path) const;

  int state_dim() const;
  int meas_dim() const;
  const std::vector<std::string>& state_names() const;
  const std::vector<std::string>& measured_names() const;
  const std::vector<std::string>& input_names() const;
  /// H (M x N), the Jacobian of what is measured at the state x (N), in the user's units,
  /// row-major. It is the same everywhere unless an emission is not linear.
  std::vector<double> emission(std::span<const double> x) const;
  /// The covariance of the measurement noise (M x M; the mean over members), in the user's units,
  /// row-major. Where the data say how noisy each value is, it is that of a value of typical noise.
  /// That of Student-t noise is wider than R, by nu / (nu - 2); for nu <= 2, where there is none,
  /// the one that gives Gaussian noise the same 95 % interval.
  std::vector<double> noise() const;
  /// Everything about the model but its weights: options, scaling, how training went; JSON text.
  std::string info_json() const;

  /// Whether iterated smoothing (SmoothOptions::iterations) can give anything else: map or emission
  /// are not linear, or outliers are weighed.
  bool gains_by_iterations() const;

  /// Whether smoothed states are those that the expert map moves. A recurrent filter and a
  /// recurrent smoother have networks that put out states by themselves: of these only what is
  /// measured means something, not the parts of a sum.
  bool smooths_by_map(const SmoothOptions& options = {}) const;

  /// How the file's columns were read when the model was fitted.
  const DataOptions& data_options() const;

  /// x[k|<=k]. `threads` 0: all the machine has. Results do not depend on it. Throws DataError if
  /// the data do not have the model's measured columns, inputs and time (the median step may differ
  /// from the model's by a factor of ten), NumericalError if a covariance breaks down.
  Estimates filter(const Dataset& data, int threads = 0) const;
  /// x[k|0:K].
  Estimates smooth(const Dataset& data, int threads = 0, const SmoothOptions& options = {}) const;
  /// The `horizon` steps after the last row of each series, measured or not. `future`: rows that go
  /// on from there, with the series' keys, inputs and, if they have them, times; at least `horizon`
  /// of each series, and what they measure is not read. Null: inputs stay as they are in the last
  /// row, and steps are as long as usual. Throws as `filter`, and DataError if `future` does not
  /// fit.
  Estimates forecast(const Dataset& data, int horizon, int threads = 0,
                     const Dataset* future = nullptr) const;
  /// `count` trajectories of each series from the smoothing distribution: covariance empty, series
  /// repeated `count` times with keys `<key>#1`, `<key>#2`, ...; a series without a key gives `1`,
  /// `2`, ... under the key name `sample`. Each is drawn from one member of an ensemble.
  Estimates sample(const Dataset& data, int count, std::uint64_t seed, int threads = 0) const;
  /// What is measured of states that this model gave, under the names of its columns, without
  /// noise: h(x) and H P H' with H at the mean. Of samples, which have no covariance, h(x) alone.
  Estimates measured(const Estimates& states) const;
  /// One per series of the data.
  std::vector<Innovations> innovations(const Dataset& data, int threads = 0) const;
  /// The three above from one run of the filter.
  Analysis analyse(const Dataset& data, int threads = 0, const SmoothOptions& options = {}) const;

  /// What the trained smoother's prediction of a measurement has seen of it: the mean over steps
  /// and channels of d y_pred[k] / d y[k]. 0, but for rounding, of fused and recurrent smoothers.
  /// Empty if the model has no trained smoother, or nothing is measured.
  std::optional<double> leak(const Dataset& data, int threads = 0) const;

  /// A filter that takes one measurement at a time.
  Stream stream() const;

  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

/// The filter as it runs inside a program: many series may share it, each with its own state.
class Stream {
 public:
  struct Impl;
  /// All that a series remembers. Copy it, keep a million of them. The members of an ensemble have
  /// equal parts of both, one after another.
  struct State {
    std::vector<float> network;
    std::vector<double> filter;
  };

  explicit Stream(std::unique_ptr<Impl> impl);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  /// The state of a series before its first measurement.
  State start() const;
  /// Takes y[k] (M values in the user's units, NaN = missing), `dt`, the time since y[k-1] (NaN:
  /// the usual step), `u`, the control inputs at k, which act until the next measurement, and
  /// `y_std`, the standard deviations of the noise of y[k] (M; empty: the model's own). The moments
  /// below are then those of step k. Throws DataError for a value that cannot be and leaves the
  /// state as it was; after a NumericalError the state must be started anew.
  void step(State& state, std::span<const double> y,
            double dt = std::numeric_limits<double>::quiet_NaN(), std::span<const double> u = {},
            std::span<const double> y_std = {});
  std::span<const double> mean() const;        ///< x[k|<=k], N, in the user's units
  std::span<const double> covariance() const;  ///< P[k|<=k], N x N
  double log_likelihood() const;               ///< of the last measurement

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace kalmia
