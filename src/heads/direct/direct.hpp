// The head of the recurrent models: the networks give x[k] itself, F = 0.
#pragma once

#include "heads/state_window.hpp"

namespace kalmia::heads {

/// The kernels of the machine's instruction set.
template <typename T>
const StateKernels<T>& direct_kernels(const StateModel<T>&);

/// Lines of scratch of its transition.
template <typename T>
int direct_lines(const StateModel<T>& model);

/// Lines that a DirectTransition works in (direct_transition-inl.h).
struct DirectLines {
  // Line matrices of the step that was read last, and the adjoints that `write_adjoint` takes. F
  // is 0.
  double *F, *e, *Q;
  double *d_F, *d_e, *d_Q;

  template <typename Taker>
  void lay_out(Taker& taker, int N, int inputs) {
    F = taker.take(N * N);
    e = taker.take(N);
    Q = taker.take(N * N);
    d_F = nullptr;
    d_e = taker.take(N);
    d_Q = taker.take(N * N);
    L_ = taker.take(lanes::triangle_size(N));
    d_L_ = taker.take(lanes::triangle_size(N));
    centre_ = taker.take(N);
    known_ = taker.take(N);
    dt_ = taker.take(1);
    dt_scale_ = taker.take(1);
    u_ = taker.take(inputs);
  }

 protected:
  double *L_, *d_L_, *centre_, *known_, *dt_, *dt_scale_, *u_;
};

}  // namespace kalmia::heads
