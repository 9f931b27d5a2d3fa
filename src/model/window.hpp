// The engine: a whole window of a lane group, forward and backward, in two calls.
//
// forward:  encoder over the window, decoder, then for each line of lanes the recursion
//             (F, e, L)[k] -> predict -> update with y[k] -> nll
// backward: the adjoint of all of it, to every parameter, the carried state and R.
//
// Networks run in T (float in production, double in derivative tests), the recursion in double.
// Paper: Algorithms 1 and 3, and their recurrent variants (App. C).
#pragma once

#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "kalman/general_update.hpp"
#include "kalman/transition_map.hpp"
#include "lanes/panel.hpp"
#include "model/architecture.hpp"
#include "model/network.hpp"

namespace kalmia::model {

/// How the states of the training data are spread and follow each other, for those that stay within
/// bounds: about their mean m, x[k] - m = A (x[k-1] - m) + noise of covariance Q, in the model's
/// units. A state that wanders has a spread of infinity, and zeros in its rows and columns.
struct Climate {
  const double* mean = nullptr;    ///< N
  const double* spread = nullptr;  ///< N
  const double* A = nullptr;       ///< N x N
  const double* Q = nullptr;       ///< N x N
};

/// Everything that stays the same over a window. Gains need architecture and network alone. `map`
/// may be null: F is then the decoder's alone. `theta` holds the map's parameters; `dt` is the
/// usual length of a step, in the map's unit.
template <typename T>
struct WindowModel {
  const Architecture* architecture = nullptr;
  const PackedNetwork<T>* network = nullptr;
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
};

/// The data of one lane group. Panels are [step][row][lane]; `lanes` is a multiple of kLaneQuantum.
template <typename T>
struct WindowInput {
  int steps = 0;
  int lanes = 0;
  /// input_dim rows; what the forward encoder reads to make h_fwd[k]: features of y[k-1]. Must be
  /// finite.
  const T* input_fwd = nullptr;
  /// The same for h_bwd[k]: features of y[k+1]. Two-sided models only; the last step is not read.
  const T* input_bwd = nullptr;
  /// meas_dim rows. A missing component may hold anything.
  const double* y = nullptr;
  /// meas_dim rows of 1 (measured) and 0 (missing), or null: all measured.
  const double* observed = nullptr;
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
  /// 2 state_dim rows: where the expert map of the step that leads to k (a state at k-1) and the
  /// emission (one at k) are linearised; null: at the filter's own states. Forward only.
  const double* linearise = nullptr;
  /// Fusion only: x[k|<k] (N rows) and P[k|<k] (N N rows) of the filter.
  const double* prior_x = nullptr;
  const double* prior_P = nullptr;
  /// Gains only, `gains` rows each: what is added to the decoder's output, and how a gain g is
  /// scored: square g^2 - 2 product g.
  const T* gain_offset = nullptr;
  const T* gain_square = nullptr;
  const T* gain_product = nullptr;
  /// meas_dim rows of weights: component i of a step has the noise R_ij / sqrt(w_i w_j). Null: 1.
  const double* weight = nullptr;
  /// 1 row: how much the likelihood of each step counts in the loss. Null: 1. Recursions only.
  const double* score = nullptr;
  /// 1 row: the length of the step that leads to k, in the map's unit; null: the model's. The
  /// process noise is that of the whole step (window_transition-inl.h).
  const double* dt = nullptr;
  /// Rows as the expert map's inputs: u that acts during the step that leads to k.
  const double* u = nullptr;
  /// Steps of each lane in this window, 0..steps; null: all lanes have `steps`. After its end a
  /// lane's state stays as it is.
  const int* length = nullptr;
  /// 1 where a lane's series starts with this window (x[0|<0] = initial.e and so on), 0 where it
  /// goes on from the carry; null: all start.
  const std::uint8_t* fresh = nullptr;
};

/// What a lane group takes from one window to the next: the encoder's state h
/// (encoder_state_rows x lanes), x[k|<=k] (N x lanes) and P[k|<=k] (N N x lanes) after the last
/// step of each lane.
template <typename T>
struct Carry {
  Buffer<T> h;
  Buffer<double> x;
  Buffer<double> P;
  void resize(const Architecture& architecture, int lanes);
};

/// A lane that broke down: from `step` on its likelihood is not finite.
struct LaneFailure {
  int lane = 0;
  int step = 0;
  bool covariance = false;  ///< the innovation covariance was not positive definite
};

/// Where the moments of each step go, panels [step][row][lane] in double; null = not wanted.
struct WindowMoments {
  double* x_pred = nullptr;  ///< x[k|<k], N rows
  double* P_pred = nullptr;  ///< P[k|<k], N N rows
  double* x_filt = nullptr;  ///< x[k|<=k], N rows
  double* P_filt = nullptr;  ///< P[k|<=k], N N rows
  double* F = nullptr;       ///< F[k], N N rows, for linearized smoothing; 0 of recurrent models
  double* Q = nullptr;       ///< Q[k], the process noise of the step that leads to k, N N rows
  double* nll = nullptr;     ///< r' M^-1 r + log det M, 1 row
  double* weight = nullptr;  ///< of the components, M rows; where noise is weighted or Student-t
  double* gain = nullptr;    ///< `gains` rows
};

/// Results and scratch of one lane group. Sized by `prepare`; the kernels do not allocate.
template <typename T>
class Workspace {
 public:
  /// Makes room for windows of up to `steps` x `lanes`; `training` keeps what backward needs.
  void prepare(const WindowModel<T>& model, int steps, int lanes, bool training);

  // Results of window_forward.
  Buffer<double> lane_nll;            ///< per lane, sum over its steps, as they count; of gains,
                                      ///< of their scores
  std::vector<LaneFailure> failures;  ///< lanes that broke down; they carry NaN
  // Results of window_backward.
  Buffer<T> gradient;      ///< in the layout of the parameters
  Buffer<double> d_R;      ///< M x M
  Buffer<double> d_theta;  ///< the map's parameters
  Buffer<T> d_h;           ///< adjoint of the carried h, same shape
  Buffer<double> d_x;      ///< adjoint of the carried x, N x lanes
  Buffer<double> d_P;      ///< adjoint of the carried P, N N x lanes, full symmetric

  // Scratch; see records.hpp for what lies where.
  bool training = false;
  int max_steps = 0;
  int max_lanes = 0;
  Buffer<T> records;         ///< the networks' tape: one record of panels a step
  Buffer<T> start_h;         ///< h before the window, zero where a series starts
  Buffer<T> chunk;           ///< adjoints that live for one chunk of steps
  Buffer<T> gates;           ///< of one step, where no tape is kept
  Buffer<T> series;          ///< inputs of a convolution; see window_conv-inl.h
  Buffer<T> d_series;        ///< adjoint of its carried inputs, and room for those it reads beside
  Buffer<T> d_hidden_state;  ///< running adjoint of h, and of an LSTM's c
  Buffer<T> sums;            ///< weight gradients before they are collected; see window_tape-inl.h
  Buffer<T> transposed;      ///< hidden states of a chunk, lane by lane
  Buffer<double> slots;      ///< the recursion's tape: one slot a step and line
  Buffer<double> line_scratch;
  Buffer<double> map_scratch;                   ///< of the transition map and the emission
  Buffer<double> steady_flow;                   ///< of a steady model; see window_transition-inl.h
  bool steady_known = false;                    ///< it holds F and Q of a step
  bool steady_summed = false;                   ///< it holds sums of their adjoints
  std::vector<std::uint8_t> lane_ok;            ///< 0 for lanes whose likelihood is not finite
  std::vector<int> failed_step;                 ///< per lane, the first step that broke down, or -1
  std::vector<std::uint8_t> failed_covariance;  ///< per lane, 1 if its covariance did
  Buffer<double> line_adjoints;  ///< adjoints of x, P, R and theta per line, between pieces
  Buffer<double> d_initial;      ///< adjoints of initial.e and initial.L, a line each
};

/// Runs the model over a window and moves `carry` to its end. Returns the sum of nll over all lanes
/// that did not fail. Cost at hidden 64, N = 3: 37 kFLOP in T and about 1 kFLOP in double a step.
template <typename T>
double window_forward(const WindowModel<T>& model, const WindowInput<T>& input, Carry<T>& carry,
                      const WindowMoments& moments, Workspace<T>& workspace);

/// The adjoint of the last window_forward on this workspace (prepared for training) with the same
/// model and input: sets workspace.gradient and the adjoints of the carry for the loss
/// `scale` * (sum of nll). Lanes that failed count as if they were not there.
template <typename T>
void window_backward(const WindowModel<T>& model, const WindowInput<T>& input, double scale,
                     Workspace<T>& workspace);

}  // namespace kalmia::model
