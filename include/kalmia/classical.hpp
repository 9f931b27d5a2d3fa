/// \file
/// Classical filtering and smoothing in double precision: the Kalman filter, the Rauch-Tung-
/// Striebel smoother, their extended forms and the iterated (Gauss-Newton) smoother, for one series
/// or for thousands, and a filter that runs step by step.
///
///   x[0] ~ N(x0, P0)        x[k] = F x[k-1] + e + N(0, Q)        y[k] = H x[k] + N(0, R)
///
/// Matrices are row-major. A measurement that is NaN is missing, component by component; only
/// the observed components enter the estimates and the likelihood. Series run in parallel lanes of
/// the machine's vector registers, and over threads; results do not depend, in any bit, on the
/// number of threads nor on which series run together.
///
/// Errors: ConfigError for matrices that do not fit, naming the matrix; DataError for infinite
/// measurements; NumericalError, with step and series, if a covariance breaks down on the way.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kalmia/error.hpp"

namespace kalmia {

/// A linear Gaussian system with constant matrices.
struct LinearModel {
  int state_dim = 0;       ///< N
  int meas_dim = 0;        ///< M
  std::vector<double> F;   ///< N x N
  std::vector<double> e;   ///< N; empty stands for zero
  std::vector<double> Q;   ///< N x N, positive semi-definite
  std::vector<double> H;   ///< M x N
  std::vector<double> R;   ///< M x M, positive definite
  std::vector<double> x0;  ///< N: mean of x[0] before any measurement; empty stands for zero
  std::vector<double> P0;  ///< N x N: its covariance, positive semi-definite
};

/// x[k] = f(x[k-1], k) + N(0, Q), y[k] = h(x[k], k) + N(0, R). With more than one thread the
/// functions are called from several threads at once. They may throw; the exception reaches the
/// caller.
struct NonlinearModel {
  /// Sets `value` to the function at x, and `jacobian` (row-major, zero on entry) to its
  /// derivative. k is the step that x[k] or y[k] belongs to.
  using Function = std::function<void(std::span<const double> x, int k, std::span<double> value,
                                      std::span<double> jacobian)>;

  int state_dim = 0;       ///< N
  int meas_dim = 0;        ///< M
  Function transition;     ///< f: value N, jacobian N x N; never called with k = 0
  Function emission;       ///< h: value M, jacobian M x N
  std::vector<double> Q;   ///< N x N, positive semi-definite
  std::vector<double> R;   ///< M x M, positive definite
  std::vector<double> x0;  ///< N; empty stands for zero
  std::vector<double> P0;  ///< N x N, positive semi-definite
};

/// Measurements of many series: (series, steps, meas_dim), contiguous. Not owned.
struct MeasurementsView {
  const double* data = nullptr;
  int series = 1;
  int steps = 0;
  int meas_dim = 0;
  /// Steps of each series that count, 0..steps; empty: all of them. What lies beyond is not read.
  std::span<const int> lengths = {};
};

/// An array of doubles that is not initialised before it is filled; moved, never copied. Large ones
/// ask the system for large pages: filling fresh memory is what storing results costs.
class Array {
 public:
  struct Free {
    void operator()(double* p) const;
  };
  using Pointer = std::unique_ptr<double[], Free>;

  Array() = default;
  explicit Array(std::size_t size);
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  double* data() { return data_.get(); }
  const double* data() const { return data_.get(); }
  double& operator[](std::size_t i) { return data_[i]; }
  const double& operator[](std::size_t i) const { return data_[i]; }
  const double* begin() const { return data_.get(); }
  const double* end() const { return data_.get() + size_; }
  /// Gives the memory away, for example to Python.
  Pointer release() {
    size_ = 0;
    return std::move(data_);
  }

 private:
  Pointer data_;
  std::size_t size_ = 0;
};

/// What to compute and keep. The log-likelihood is always there; it alone takes no memory.
struct FilterOptions {
  bool predicted = true;    ///< x[k|<k] and P[k|<k]
  bool filtered = true;     ///< x[k|<=k] and P[k|<=k]
  bool covariances = true;  ///< false: means only
  bool innovations = true;  ///< y[k] - H x[k|<k]
  int threads = 1;          ///< 0: all the machine has
};

/// Stopping rule of the iterated smoother.
struct IterationOptions {
  int max_iterations = 20;
  /// A series is done when no smoothed mean moved by more than this many of its own standard
  /// deviations.
  double tolerance = 1e-6;
};

/// Means and covariances of a state at every step of every series.
struct Moments {
  Array mean;        ///< (series, steps, N)
  Array covariance;  ///< (series, steps, N, N), symmetric
};

/// Arrays that were not asked for are empty. Entries beyond a series' length are NaN.
struct FilterResult {
  int series = 0;
  int steps = 0;
  int state_dim = 0;
  int meas_dim = 0;
  Moments predicted;
  Moments filtered;
  Moments smoothed;   ///< smoothers only
  Array innovations;  ///< (series, steps, M), NaN where the component is missing
  /// Per series: the sum of log N(y[k]; ...) over the observed components, constants included.
  std::vector<double> log_likelihood;
  /// Iterated smoother only, per series: relinearisations done, and the last change of a smoothed
  /// mean in standard deviations.
  std::vector<int> iterations;
  std::vector<double> last_change;
};

/// The Kalman filter. Once a series' predicted covariance has stopped changing (relative change
/// below 16 units in the last place, without missing data), its gain and covariances are kept, and
/// a step costs only the mean's arithmetic; missing data end that until it settles again.
FilterResult kalman_filter(const LinearModel& model, const MeasurementsView& y,
                           const FilterOptions& options = {});

/// The same into a result that may have been used before: arrays of the right size are filled again
/// instead of being allocated, which takes longer than the filter.
void kalman_filter(const LinearModel& model, const MeasurementsView& y,
                   const FilterOptions& options, FilterResult& result);

/// The Kalman filter followed by the Rauch-Tung-Striebel smoother. Needs the predicted and filtered
/// moments while it runs, whether or not they are asked for.
FilterResult rts_smoother(const LinearModel& model, const MeasurementsView& y,
                          const FilterOptions& options = {});

/// The extended Kalman filter: f is linearised at x[k-1|<=k-1], h at x[k|<k].
FilterResult extended_kalman_filter(const NonlinearModel& model, const MeasurementsView& y,
                                    const FilterOptions& options = {});

/// The extended Kalman filter followed by the Rauch-Tung-Striebel smoother over the same
/// linearisations.
FilterResult extended_rts_smoother(const NonlinearModel& model, const MeasurementsView& y,
                                   const FilterOptions& options = {});

/// The iterated extended smoother (Bell 1994): Gauss-Newton on the posterior of the whole path.
/// Begins with the extended smoother, then linearises f and h at the last smoothed means and
/// smooths again until the means stop moving. All moments, innovations and likelihoods are those of
/// the last linearisation.
FilterResult iterated_extended_smoother(const NonlinearModel& model, const MeasurementsView& y,
                                        const FilterOptions& options = {},
                                        const IterationOptions& iteration = {});

/// A Kalman filter for a series without end: constant memory, no allocation after construction.
/// Gives the bits that `kalman_filter` gives.
class KalmanStream {
 public:
  explicit KalmanStream(const LinearModel& model);
  ~KalmanStream();
  KalmanStream(KalmanStream&&) noexcept;
  KalmanStream& operator=(KalmanStream&&) noexcept;

  /// Takes y[k] (M values, NaN = missing) and moves on. The moments below are then those of step k.
  /// An infinite value throws DataError and leaves the stream as it was; after a NumericalError it
  /// must be restarted.
  void step(std::span<const double> y);

  /// Steps taken so far.
  std::size_t steps() const;
  /// Valid until the next call of `step` or `restart`; empty before the first step.
  std::span<const double> predicted_mean() const;        ///< N
  std::span<const double> predicted_covariance() const;  ///< N x N
  std::span<const double> filtered_mean() const;         ///< N
  std::span<const double> filtered_covariance() const;   ///< N x N
  std::span<const double> innovation() const;            ///< M
  /// Of the last measurement, and of all so far.
  double last_log_likelihood() const;
  double log_likelihood() const;

  /// Back to x0, P0.
  void restart();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace kalmia
