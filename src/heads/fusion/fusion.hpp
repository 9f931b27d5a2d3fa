// The head of the fused smoother: what the future adds to a filter (fusion_pass-inl.h).
#pragma once

#include <algorithm>
#include <vector>

#include "engine/window.hpp"
#include "heads/state_window.hpp"

namespace kalmia::heads {

template <typename T>
struct FusionHead;

/// Everything that stays the same over a window. It reads no expert map, but the emission's
/// parameters lie among that map's.
template <typename T>
struct FusionModel {
  using Head = FusionHead<T>;

  const Architecture* architecture = nullptr;
  const PackedModel<T>* network = nullptr;
  const kalman::Emission* emission = nullptr;
  /// A nonlinear emission in place of H, or null; theta, its parameters; and how many parameters
  /// and inputs the expert has whose emission it is.
  const kalman::EmissionMap* emission_map = nullptr;
  const double* theta = nullptr;
  int parameters = 0;
  int inputs = 0;
  /// Student-t noise, or null: Gaussian. Its weights count as constants in the gradient.
  const kalman::RobustOptions* robust = nullptr;
};

/// The data of one lane group, in reverse order of time.
template <typename T>
struct FusionInput : engine::NetworkInput<T>, Measurements {
  /// state_dim rows c[k], or null for 0: what the future's state is about (Guidance::centre). Of a
  /// state whose c[k] is not finite the future says nothing.
  const double* centre = nullptr;
  const double* prior_x = nullptr;  ///< N rows: x[k|<k] of the filter
  const double* prior_P = nullptr;  ///< N N rows: P[k|<k] of the filter
};

template <typename T>
struct FusionCarry : engine::NetworkCarry<T> {
  void resize(const Architecture& architecture, int lanes);
};

template <typename T>
struct FusionWorkspace : engine::NetworkWorkspace<T> {
  void prepare(const FusionModel<T>& model, int steps, int lanes, bool training);

  Buffer<double> line_scratch;  ///< FusionLines
  Buffer<double> map_scratch;   ///< of the emission
};

/// Lines that a FusionPass works in. U_t_ is U' (N x N); z_ holds z - x_pred.
struct FusionLines {
  double *x_pred_, *P_pred_, *U_t_, *z_, *known_, *w_, *none_, *unit_;
  double *x_fuse_, *P_fuse_, *x_, *P_;
  double *d_x_, *d_P_, *d_x_pred_, *d_P_pred_, *d_U_t_, *d_w_, *d_R_;
  double *y_, *observed_lines_, *weight_, *nll_, *general_lines_, *d_theta_, *scratch_;
  kalman::UpdateTape<double> virtual_tape_, tape_;

  /// `none`: lines of zeros.
  template <typename Taker>
  void lay_out(Taker& taker, int N, int M, int none, int parameters) {
    x_pred_ = taker.take(N);
    P_pred_ = taker.take(N * N);
    U_t_ = taker.take(N * N);
    z_ = taker.take(N);
    known_ = taker.take(N);
    w_ = taker.take(N);
    none_ = taker.take(none);
    unit_ = taker.take(N * N);
    x_fuse_ = taker.take(N);
    P_fuse_ = taker.take(N * N);
    x_ = taker.take(N);
    P_ = taker.take(N * N);
    d_x_ = taker.take(N);
    d_P_ = taker.take(N * N);
    d_x_pred_ = taker.take(N);
    d_P_pred_ = taker.take(N * N);
    d_U_t_ = taker.take(N * N);
    d_w_ = taker.take(N);
    d_R_ = taker.take(M * M);
    y_ = taker.take(M);
    observed_lines_ = taker.take(M);
    weight_ = taker.take(M);
    nll_ = taker.take(3);
    virtual_tape_.lay_out(taker, N, N);
    tape_.lay_out(taker, N, M);
    general_lines_ = taker.take(kalman::general_update_lines(N, M));
    d_theta_ = taker.take(parameters);
    scratch_ = taker.take(kalman::update_scratch_lines(N, N));
  }
};

/// Lines of zeros: for a measurement of z itself, and for what an emission does not read.
template <typename T>
int fusion_zeros(const FusionModel<T>& model) {
  return std::max({model.architecture->state_dim(), model.inputs, 1});
}

/// Moments: x_pred and P_pred are the fused prediction's, x_filt and P_filt the smoothed state's;
/// F and Q stay unset.
template <typename T>
struct FusionHead {
  using Scalar = T;
  using Model = FusionModel<T>;
  using Input = FusionInput<T>;
  using Carry = FusionCarry<T>;
  using Moments = StateMoments;
  using Workspace = FusionWorkspace<T>;

  static void check(const Model& model, const Input& input);
  static const engine::WindowKernels<FusionHead>& kernels(const Model& model);
  static void end_backward(const Model&, Workspace&) {}
  /// The input from step `begin` on; its lengths and starts are the caller's to set.
  static Input from(const Model& model, Input input, int begin);
};

/// One lane group's window with its data and its carried state.
template <typename T>
struct FusionGroup {
  using Head = FusionHead<T>;

  int steps = 0;
  int lanes = 0;
  Buffer<T> input_fwd;              ///< [step][input_dim][lane]
  Buffer<double> y;                 ///< [step][meas_dim][lane]
  Buffer<double> observed;          ///< [step][meas_dim][lane], or empty: all measured
  Buffer<double> weight;            ///< [step][meas_dim][lane], or empty: 1
  Buffer<double> centre;            ///< [step][state_dim][lane], or empty: 0
  Buffer<double> prior_x, prior_P;  ///< [step][N][lane], [step][N N][lane]
  std::vector<int> length;          ///< [lane], or empty: all lanes have `steps`
  std::vector<std::uint8_t> fresh;  ///< [lane], or empty: all lanes start here
  FusionCarry<T> carry;

  /// Makes room for a window; lengths and fresh flags are left empty.
  void resize(const Architecture& architecture, int num_steps, int num_lanes);
  FusionInput<T> view() const;
};

}  // namespace kalmia::heads
