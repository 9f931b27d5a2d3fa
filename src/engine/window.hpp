// A whole window of a lane group, forward and backward, in two calls.
//
// forward:  encoder over the window, decoder, then the head: from the decoder's rows to a loss
// backward: the adjoint of all of it, to every parameter and to what the head has beside them
//
// Networks run in T (float in production, double in derivative tests). What the rows mean, what a
// window of data consists of and what is carried from one to the next is the head's: a type with
//
//   Scalar                                   T
//   Model, Input, Carry, Moments, Workspace  what its kernels read and write
//   check(model, input)                      throws ConfigError
//   kernels(model)                           WindowKernels of the machine's instruction set
//   end_backward(model, workspace)           what is left to do after the kernel
//
// Input begins with NetworkInput<T>, Workspace with NetworkWorkspace<T>, Carry with
// NetworkCarry<T>; Model has `Head`, `architecture` and `network`.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "engine/network.hpp"

namespace kalmia::engine {

/// What the networks read of one lane group. Panels are [step][row][lane]; `lanes` is a multiple of
/// kLaneQuantum.
template <typename T>
struct NetworkInput {
  int steps = 0;
  int lanes = 0;
  /// input_dim rows; what the forward encoder reads to make h_fwd[k]: features of y[k-1]. Must be
  /// finite.
  const T* input_fwd = nullptr;
  /// The same for h_bwd[k]: features of y[k+1]. Two-sided networks only; the last step is not read.
  const T* input_bwd = nullptr;
  /// Steps of each lane in this window, 0..steps; null: all lanes have `steps`. After its end a
  /// lane's state stays as it is.
  const int* length = nullptr;
  /// 1 where a lane's series starts with this window, 0 where it goes on from the carry; null: all
  /// start.
  const std::uint8_t* fresh = nullptr;

  int lane_length(int lane) const { return length == nullptr ? steps : length[lane]; }
  bool lane_fresh(int lane) const { return fresh == nullptr || fresh[lane] != 0; }
};

/// What a lane group takes from one window to the next: the encoder's state (encoder_state_rows x
/// lanes) after the last step of each lane.
template <typename T>
struct NetworkCarry {
  Buffer<T> h;
};

/// A lane that broke down: from `step` on its loss is not finite.
struct LaneFailure {
  int lane = 0;
  int step = 0;
  bool covariance = false;  ///< the innovation covariance was not positive definite
};

/// Results and scratch of one lane group. Sized by `prepare`; the kernels do not allocate.
template <typename T>
struct NetworkWorkspace {
  /// Makes room for windows of up to `steps` x `lanes`; `training` keeps what backward needs.
  void prepare(const NetworkLayout& layout, int steps, int lanes, bool training);
  /// Clears what is left of an earlier window. A head's workspace does so with its own as well.
  void begin_forward() { failures.clear(); }
  /// Throws ConfigError unless the workspace was prepared for training.
  void begin_backward();

  // Results of window_forward.
  Buffer<double> lane_nll;            ///< per lane, sum over its steps, as they count
  std::vector<LaneFailure> failures;  ///< lanes that broke down; they carry NaN
  bool any_failed = false;            ///< some lane's loss is not finite
  // Results of window_backward.
  Buffer<T> gradient;  ///< in the layout of the parameters
  Buffer<T> d_h;       ///< adjoint of the carried h, same shape

  // Scratch; see records.hpp for what lies where.
  bool training = false;
  int max_steps = 0;
  int max_lanes = 0;
  Buffer<T> records;         ///< one record of panels a step
  Buffer<T> chunk;           ///< adjoints that live for one chunk of steps
  Buffer<T> encoder;         ///< what the encoder keeps beside the records; see its sweep
  Buffer<T> encoder_T;       ///< what it transposes of a chunk, lane by lane
  Buffer<T> d_hidden_state;  ///< running adjoint of h, and of an LSTM's c
  Buffer<T> sums;            ///< weight gradients before they are collected; see tape-inl.h
  Buffer<T> transposed;      ///< hidden states of a chunk, lane by lane
  std::vector<std::uint8_t> lane_ok;            ///< 0 for lanes whose loss is not finite
  std::vector<int> failed_step;                 ///< per lane, the first step that broke down, or -1
  std::vector<std::uint8_t> failed_covariance;  ///< per lane, 1 if its covariance did
};

/// Throws ConfigError unless input and networks fit each other and the workspace.
template <typename T>
void check_window(const PackedNetwork<T>& network, const NetworkInput<T>& input,
                  const NetworkWorkspace<T>& workspace);

/// What a head's kernels are, for one instruction set.
template <typename Head>
struct WindowKernels {
  using Model = typename Head::Model;
  using Input = typename Head::Input;
  using Workspace = typename Head::Workspace;

  void (*forward)(const Model&, const Input&, typename Head::Carry&, const typename Head::Moments&,
                  Workspace&) = nullptr;
  void (*backward)(const Model&, const Input&, double scale, Workspace&) = nullptr;
  /// NetworkPass::clear_failed_lanes.
  void (*clear_failed_lanes)(const Model&, const Input&, Workspace&) = nullptr;
};

template <typename H>
concept WindowHead = requires(const typename H::Model& model, const typename H::Input& input,
                              typename H::Workspace& workspace) {
  { H::check(model, input) } -> std::same_as<void>;
  { H::kernels(model) } -> std::same_as<const WindowKernels<H>&>;
  { H::end_backward(model, workspace) } -> std::same_as<void>;
  { *model.architecture } -> std::convertible_to<const NetworkLayout&>;
  { *model.network } -> std::convertible_to<const PackedNetwork<typename H::Scalar>&>;
  requires std::derived_from<typename H::Input, NetworkInput<typename H::Scalar>>;
  requires std::derived_from<typename H::Workspace, NetworkWorkspace<typename H::Scalar>>;
  requires std::derived_from<typename H::Carry, NetworkCarry<typename H::Scalar>>;
};

/// After the forward kernel: notes which lanes failed. Returns the sum of lane_nll over the others.
template <typename T>
double collect_losses(const NetworkInput<T>& input, NetworkWorkspace<T>& workspace);

/// Runs the model over a window and moves `carry` to its end. Returns the sum of the loss over all
/// lanes that did not fail. Cost at hidden 64, N = 3: 37 kFLOP in T and about 1 kFLOP in double a
/// step.
template <typename Model, WindowHead Head = typename Model::Head>
double window_forward(const Model& model, const typename Head::Input& input,
                      typename Head::Carry& carry, const typename Head::Moments& moments,
                      typename Head::Workspace& workspace) {
  check_window<typename Head::Scalar>(*model.network, input, workspace);
  Head::check(model, input);
  workspace.begin_forward();
  if (input.steps > 0) Head::kernels(model).forward(model, input, carry, moments, workspace);
  const double sum = collect_losses<typename Head::Scalar>(input, workspace);
  if (workspace.any_failed && workspace.training)
    Head::kernels(model).clear_failed_lanes(model, input, workspace);
  return sum;
}

/// The adjoint of the last window_forward on this workspace (prepared for training) with the same
/// model and input: sets workspace.gradient and the adjoints of the carry for the loss
/// `scale` * (sum of nll). Lanes that failed count as if they were not there.
template <typename Model, WindowHead Head = typename Model::Head>
void window_backward(const Model& model, const typename Head::Input& input, double scale,
                     typename Head::Workspace& workspace) {
  check_window<typename Head::Scalar>(*model.network, input, workspace);
  Head::check(model, input);
  workspace.begin_backward();
  if (input.steps == 0) return;
  Head::kernels(model).backward(model, input, scale, workspace);
  Head::end_backward(model, workspace);
}

}  // namespace kalmia::engine
