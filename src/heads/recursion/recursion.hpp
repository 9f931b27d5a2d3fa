// The head of the recursive models: how x[k] follows from x[k-1].
#pragma once

#include "heads/state_window.hpp"

namespace kalmia::heads {

/// The kernels of the machine's instruction set: those made for the sizes of the model, if there
/// are any.
template <typename T>
const StateKernels<T>& recursion_kernels(const StateModel<T>& model);

/// Those made for N states and M measurements, or null.
template <typename T>
const StateKernels<T>* sized_recursion_kernels(int N, int M);
template <>
const StateKernels<float>* sized_recursion_kernels<float>(int N, int M);
template <>
const StateKernels<double>* sized_recursion_kernels<double>(int N, int M);

/// Lines of scratch of its transition.
template <typename T>
int recursion_lines(const StateModel<T>& model);

/// Of a steady flow (StateModel::steady): F and Q of a step, and the sums of their adjoints over
/// steps of a length.
struct SteadyFlowLines {
  double *steady_dt_, *steady_L_, *steady_F_, *steady_Q_, *summed_dt_, *summed_d_F_, *summed_d_Q_;

  template <typename Taker>
  void lay_out(Taker& taker, int N) {
    steady_dt_ = taker.take(1);
    steady_L_ = taker.take(lanes::triangle_size(N));
    steady_F_ = taker.take(N * N);
    steady_Q_ = taker.take(N * N);
    summed_dt_ = taker.take(1);
    summed_d_F_ = taker.take(N * N);
    summed_d_Q_ = taker.take(N * N);
  }
};

/// Lines that a Transition works in (transition-inl.h); `inputs` and `parameters` are the map's.
struct TransitionLines {
  // Line matrices of the step that was read last, and the adjoints that `write_adjoint` takes.
  double *F, *e, *Q;
  double *d_F, *d_e, *d_Q;

  template <typename Taker>
  void lay_out(Taker& taker, int N, int inputs, int parameters) {
    F = taker.take(N * N);
    e = taker.take(N);
    Q = taker.take(N * N);
    d_F = taker.take(N * N);
    d_e = taker.take(N);
    d_Q = taker.take(N * N);
    L_ = taker.take(lanes::triangle_size(N));
    d_L_ = taker.take(lanes::triangle_size(N));
    density_ = taker.take(lanes::triangle_size(N));
    d_density_ = taker.take(lanes::triangle_size(N));
    start_Q_ = taker.take(N * N);
    lost_ = taker.take(1);
    centre_ = taker.take(N);
    active_ = taker.take(N);
    dt_ = taker.take(1);
    dt_scale_ = taker.take(1);
    u_ = taker.take(inputs);
    linearise_ = taker.take(N);
    map_d_x_ = taker.take(N);
    map_d_theta_ = taker.take(parameters);
    expert_F_ = taker.take(N * N);
    expert_e_ = taker.take(N);
    expert_d_F_ = taker.take(N * N);
    expert_d_e_ = taker.take(N);
  }

 protected:
  double *L_, *d_L_, *density_, *d_density_, *start_Q_;
  double *lost_, *centre_, *active_, *dt_, *dt_scale_, *u_, *linearise_, *map_d_x_, *map_d_theta_;
  double *expert_F_, *expert_e_, *expert_d_F_, *expert_d_e_;  // where the centre is gone toward
};

/// Lines that an AlternativePosterior works in (alternative-inl.h).
struct AlternativeLines {
  double *H_, *R_, *P_a_, *HF_, *AF_, *T_, *d_AF_, *d_K_, *X_, *W_, *d_S_, *inv_, *d_y_, *d_H_;
  double *d_Q_, *d_x_pred_, *no_loss_, *scratch_;
  kalman::UpdateTape<double> tape_;

  template <typename Taker>
  void lay_out(Taker& taker, int N, int M) {
    H_ = taker.take(M * N);
    R_ = taker.take(M * M);
    P_a_ = taker.take(N * N);
    HF_ = taker.take(M * N);
    AF_ = taker.take(N * N);
    T_ = taker.take(N * N);
    d_AF_ = taker.take(N * N);
    d_K_ = taker.take(N * M);
    X_ = taker.take(N * M);
    W_ = taker.take(M * M);
    d_S_ = taker.take(M * M);
    inv_ = taker.take(M);
    d_y_ = taker.take(M);
    d_H_ = taker.take(M * N);
    d_Q_ = taker.take(N * N);
    d_x_pred_ = taker.take(N);
    no_loss_ = taker.take(2);
    tape_.lay_out(taker, N, M);
    scratch_ = taker.take(kalman::update_scratch_lines(N, M));
  }
};

}  // namespace kalmia::heads
