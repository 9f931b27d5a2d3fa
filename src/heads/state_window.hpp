// A window of a model of states: what the recursive and the recurrent filters and smoothers read,
// carry and give. Their rows differ (heads/recursion, heads/direct, heads/diagonal); all else is
// the same:
//
//   forward:  (F, e, L)[k] -> predict -> update with y[k] -> nll, line of lanes by line, in double
//   backward: its adjoint, to the rows, the carried state, R and the expert's parameters
//
// Paper: Algorithms 1 and 3, and their recurrent variants (App. C).
#pragma once

#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "engine/window.hpp"
#include "heads/architecture.hpp"
#include "kalman/general_update.hpp"
#include "kalman/transition_map.hpp"

namespace kalmia::heads {

template <typename T>
struct StateHead;

/// How the states of the training data are spread and follow each other, for those that stay within
/// bounds: about their mean m, x[k] - m = A (x[k-1] - m) + noise of covariance Q, in the model's
/// units. A state that wanders has a spread of infinity, and zeros in its rows and columns.
struct Climate {
  const double* mean = nullptr;    ///< N
  const double* spread = nullptr;  ///< N
  const double* A = nullptr;       ///< N x N
  const double* Q = nullptr;       ///< N x N
};

/// Everything that stays the same over a window. `map` may be null: F is then the decoder's alone.
/// `theta` holds the map's parameters; `dt` is the usual length of a step, in the map's unit.
template <typename T>
struct StateModel {
  using Head = StateHead<T>;

  const Architecture* architecture = nullptr;
  const PackedModel<T>* network = nullptr;
  const kalman::Emission* emission = nullptr;
  const kalman::TransitionMap* map = nullptr;
  const double* theta = nullptr;
  double dt = 1;
  /// A nonlinear emission in place of H, or null. It reads the same theta.
  const kalman::EmissionMap* emission_map = nullptr;
  /// Student-t noise, or null: Gaussian. Its weights count as constants in the gradient.
  const kalman::RobustOptions* robust = nullptr;
  /// q, what the process noise L L' is multiplied by.
  double process_noise = 1;
  /// The decoder's outputs are the same at every step, and only the sums of their adjoints are
  /// asked for: a linear flow is then computed, and differentiated, once for all steps of a length.
  bool steady = false;
  /// What is predicted through gaps tends to it; spread null: it is not known.
  Climate climate = {};

  int map_inputs() const { return map == nullptr ? 0 : map->input_dim(); }
  int map_parameters() const { return map == nullptr ? 0 : map->parameter_count(); }
};

/// The measurements of a window, panels of M rows.
struct Measurements {
  /// A missing component may hold anything.
  const double* y = nullptr;
  /// 1 (measured) and 0 (missing), or null: all measured.
  const double* observed = nullptr;
  /// Weights: component i of a step has the noise R_ij / sqrt(w_i w_j). Null: 1.
  const double* weight = nullptr;
};

/// What drives the steps.
struct Drive {
  /// 1 row: the length of the step that leads to k, in the map's unit; null: the model's. The
  /// process noise is that of the whole step (transition-inl.h).
  const double* dt = nullptr;
  /// Rows as the expert map's inputs: u that acts during the step that leads to k.
  const double* u = nullptr;
};

/// How far the networks are followed.
struct Guidance {
  /// state_dim rows c[k], or null for 0: the learned residual acts on x[k-1] - c[k], not on x[k-1].
  /// Where c[k] of a state is not finite the residual's column of F and its entry of e for that
  /// state are left out: where no entry of c[k] is, F and e are the expert map's. A recurrent
  /// model's state is relative to it: x[k] ~ N(c[k] + e, L L'), and a state whose c[k] is not
  /// finite is as uncertain as before the first measurement.
  const double* centre = nullptr;
  /// state_dim rows in 0..1: how much of the residual's column of F and entry of e acts, where c[k]
  /// is finite. Null: all of it. Recursive models only.
  const double* trust = nullptr;
  /// 1 row in 0..1: how much of a step's transition is the climate's, not the map's; such
  /// predictions are no wider than it (kalman/saturate-inl.h). Null: 0. Models with a climate only.
  const double* lost = nullptr;
};

/// The data of one lane group.
template <typename T>
struct StateInput : engine::NetworkInput<T>, Measurements, Drive, Guidance {
  /// 2 state_dim rows: where the expert map of the step that leads to k (a state at k-1) and the
  /// emission (one at k) are linearised; null: at the filter's own states. Forward only.
  const double* linearise = nullptr;
  /// 1 row: how much the likelihood of each step counts in the loss. Null: 1.
  const double* score = nullptr;
};

/// What a lane group takes from one window to the next: the encoder's state, x[k|<=k] (N x lanes)
/// and P[k|<=k] (N N x lanes) after the last step of each lane.
template <typename T>
struct StateCarry : engine::NetworkCarry<T> {
  Buffer<double> x;
  Buffer<double> P;
  void resize(const Architecture& architecture, int lanes);
};

/// Where the moments of each step go, panels [step][row][lane] in double; null = not wanted.
struct StateMoments {
  double* x_pred = nullptr;  ///< x[k|<k], N rows
  double* P_pred = nullptr;  ///< P[k|<k], N N rows
  double* x_filt = nullptr;  ///< x[k|<=k], N rows
  double* P_filt = nullptr;  ///< P[k|<=k], N N rows
  double* F = nullptr;       ///< F[k], N N rows, for linearized smoothing; 0 of recurrent models
  double* Q = nullptr;       ///< Q[k], the process noise of the step that leads to k, N N rows
  double* nll = nullptr;     ///< r' M^-1 r + log det M, 1 row
  double* weight = nullptr;  ///< of the components, M rows; where noise is weighted or Student-t

  /// Those of the steps from `begin` on. Weights stay out.
  StateMoments from(int begin, int state_dim, int lanes) const;
};

/// Results and scratch of one lane group.
template <typename T>
struct StateWorkspace : engine::NetworkWorkspace<T> {
  void prepare(const StateModel<T>& model, int steps, int lanes, bool training);
  void begin_forward();
  void begin_backward();

  // Results of window_backward.
  Buffer<double> d_R;      ///< M x M
  Buffer<double> d_theta;  ///< the map's parameters
  Buffer<double> d_x;      ///< adjoint of the carried x, N x lanes
  Buffer<double> d_P;      ///< adjoint of the carried P, N N x lanes, full symmetric

  // Scratch.
  Buffer<double> slots;          ///< the recursion's tape: one slot a step and line
  Buffer<double> line_scratch;   ///< StateLines
  Buffer<double> map_scratch;    ///< of the transition map and the emission
  Buffer<double> steady_flow;    ///< of a steady model; see transition-inl.h
  bool steady_known = false;     ///< it holds F and Q of a step
  bool steady_summed = false;    ///< it holds sums of their adjoints
  Buffer<double> line_adjoints;  ///< adjoints of x, P, R and theta per line, between pieces
  Buffer<double> d_initial;      ///< adjoints of initial.e and initial.L, a line each
};

/// Lines that a pass works in, beside those of its transition.
struct StateLines {
  double *x_pred_, *P_pred_, *gain_, *y_, *observed_, *weight_, *nll_;
  double *emission_d_theta_, *general_lines_, *spare_, *scratch_;

  template <typename Taker>
  void lay_out(Taker& taker, int N, int M, int parameters) {
    x_pred_ = taker.take(N);
    P_pred_ = taker.take(N * N);
    gain_ = taker.take(N);
    y_ = taker.take(M);
    observed_ = taker.take(M);
    weight_ = taker.take(M);
    nll_ = taker.take(2);
    emission_d_theta_ = taker.take(parameters);
    general_lines_ = taker.take(kalman::general_update_lines(N, M));
    spare_ = taker.take(N + N * N);
    scratch_ = taker.take(kalman::step_scratch_lines(N, M));
  }
};

/// Entries (lines of doubles) of one step's slot on the recursion's tape: the state before the
/// step, and what the update leaves for its adjoint.
struct SlotEntries {
  int x = 0, P = 0, K = 0, v = 0, C = 0, total = 0;

  SlotEntries(int state_dim, int meas_dim) {
    P = state_dim;
    K = P + state_dim * state_dim;
    v = K + state_dim * meas_dim;
    C = v + meas_dim;
    total = C + lanes::triangle_size(meas_dim);
  }
};

/// A head's kernels, and a step of a single sequence: its state x (N) and P (N N), as numbers, goes
/// from before a window of one step, whose record holds the rows, to after it.
template <typename T>
struct StateKernels : engine::WindowKernels<StateHead<T>> {
  void (*step)(const StateModel<T>& model, const StateInput<T>& input, const StateMoments& moments,
               StateWorkspace<T>& workspace, double* x, double* P) = nullptr;
};

/// The heads whose rows describe the state of each step.
template <typename T>
struct StateHead {
  using Scalar = T;
  using Model = StateModel<T>;
  using Input = StateInput<T>;
  using Carry = StateCarry<T>;
  using Moments = StateMoments;
  using Workspace = StateWorkspace<T>;

  static void check(const Model& model, const Input& input);
  static const StateKernels<T>& state_kernels(const Model& model);
  static const engine::WindowKernels<StateHead>& kernels(const Model& model) {
    return state_kernels(model);
  }
  /// Hands the adjoints of the initial state to the gradient.
  static void end_backward(const Model& model, Workspace& workspace);
  /// The input from step `begin` on; its lengths and starts are the caller's to set.
  static Input from(const Model& model, Input input, int begin);
};

/// One lane group's window with its data and its carried state.
template <typename T>
struct StateGroup {
  using Head = StateHead<T>;

  int steps = 0;
  int lanes = 0;
  Buffer<T> input_fwd;              ///< [step][input_dim][lane]
  Buffer<T> input_bwd;              ///< [step][input_dim][lane], two-sided models only
  Buffer<double> y;                 ///< [step][meas_dim][lane]
  Buffer<double> observed;          ///< [step][meas_dim][lane], or empty: all measured
  Buffer<double> weight;            ///< [step][meas_dim][lane], or empty: 1
  Buffer<double> dt;                ///< [step][lane], or empty: the model's
  Buffer<double> u;                 ///< [step][inputs][lane], or empty: none
  Buffer<double> centre;            ///< [step][state_dim][lane], or empty: 0
  Buffer<double> trust;             ///< [step][state_dim][lane], or empty: 1
  Buffer<double> lost;              ///< [step][lane], or empty: 0
  Buffer<double> linearise;         ///< [step][2 N][lane], or empty: at the filter's states
  Buffer<double> score;             ///< [step][lane], or empty: 1
  std::vector<int> length;          ///< [lane], or empty: all lanes have `steps`
  std::vector<std::uint8_t> fresh;  ///< [lane], or empty: all lanes start here
  StateCarry<T> carry;

  /// Makes room for a window; lengths and fresh flags are left empty.
  void resize(const Architecture& architecture, int num_steps, int num_lanes);
  StateInput<T> view() const;
};

}  // namespace kalmia::heads
