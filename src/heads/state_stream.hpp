// One step of one sequence: the filter as it runs inside a user's program.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "engine/network_stream.hpp"
#include "heads/state_window.hpp"

namespace kalmia::heads {

/// All that a sequence remembers. Copy it, save it, keep a million of them.
template <typename T>
struct StreamState {
  bool started = false;
  std::vector<T> h;            ///< state of the encoder (see nn::EncoderRows)
  std::vector<T> features;     ///< what the encoder reads next: features of the last measurement
  std::vector<double> centre;  ///< what the learned residual is centred at next, N
  std::vector<double> trust;   ///< how much of it acts, N
  double lost = 0;             ///< how much of the next transition is the climate's
  std::vector<double> x;       ///< x[k|<=k], N
  std::vector<double> P;       ///< P[k|<=k], N N, row-major
};

/// What one step gave.
struct StreamResult {
  double nll = 0;       ///< r' M^-1 r + log det M of the measured components
  bool failed = false;  ///< the likelihood is not finite; the state is lost
};

/// Steps sequences of a one-sided model one at a time. Holds the weights in the layout of a single
/// vector, and scratch: one per thread. `step` does not allocate.
template <typename T>
class StateStream {
 public:
  /// `parameters` is the block the model's network was packed from. The model's parts must outlive
  /// this object; change the weights and it must be made anew. Throws ConfigError for a two-sided
  /// model, which would need the future.
  StateStream(const StateModel<T>& model, std::span<const T> parameters);

  StreamState<T> start() const;

  /// Predicts from the state's past and updates with y[k] (NaN = missing). `dt` is the length of
  /// the step that leads to k, in the map's unit (NaN: the model's), `u` the inputs that act during
  /// it, as many as the map reads. Before the next step the caller sets state.features and, for a
  /// centred residual, state.centre (zero at the start), state.trust (one) and state.lost.
  /// `weight`: of each component's noise, as in Measurements; empty: 1.
  StreamResult step(StreamState<T>& state, std::span<const double> y,
                    double dt = std::numeric_limits<double>::quiet_NaN(),
                    std::span<const double> u = {}, std::span<const double> weight = {});

  /// x[k|<k] and P[k|<k] of the last step.
  std::span<const double> x_pred() const { return x_pred_; }
  std::span<const double> P_pred() const { return P_pred_; }
  /// F of the last step's prediction, expert map and residual; not defined for a series' first
  /// step.
  std::span<const double> F() const { return F_; }

 private:
  // Panels of a window of one step; all lanes are the same sequence.
  struct Panels {
    Buffer<double> y, observed, weight, centre, trust, lost, dt, u, x_pred, P_pred, F;
    std::vector<std::uint8_t> fresh;
  };
  StateInput<T> input(bool weighted) const;

  StateModel<T> model_;
  engine::NetworkStream<T> networks_;
  StateWorkspace<T> workspace_;
  Panels panels_;
  std::vector<double> x_pred_, P_pred_, F_;
};

}  // namespace kalmia::heads
