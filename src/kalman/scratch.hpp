// Scratch the kernels of one Kalman step need, in lines of lanes. The same for every instruction
// set; the caller allocates once, aligned to a line, and each kernel lays out its own.
#pragma once

#include <algorithm>

#include "lanes/scratch.hpp"

namespace kalmia::kalman {

/// Of predict_covariance and predict_backward.
template <typename T>
struct PredictLines {
  T *S, *FS, *C, *inv;
  template <typename Taker>
  [[gnu::always_inline]] constexpr void lay_out(Taker& taker, int N) {
    S = taker.take(N * N);
    FS = taker.take(N * N);
    C = taker.take(lanes::triangle_size(N));
    inv = taker.take(N);
  }
};

/// Of update_root.
template <typename T>
struct UpdateRootLines {
  T *V, *noise, *U, *C, *inv;
  template <typename Taker>
  [[gnu::always_inline]] constexpr void lay_out(Taker& taker, int N, int M) {
    V = taker.take(M * N);
    noise = taker.take(M);
    U = taker.take(M * M);
    C = taker.take(lanes::triangle_size(N));
    inv = taker.take(N);
  }
};

/// Of update_covariance.
template <typename T>
struct UpdateCovarianceLines {
  T *S, *root;
  template <typename Taker>
  [[gnu::always_inline]] constexpr void lay_out(Taker& taker, int N, int M) {
    S = taker.take(N * N);
    root = taker.take(lanes::count_lines<UpdateRootLines<T>>(N, M));
  }
};

/// Of update_forward, before the covariance.
template <typename T>
struct UpdateLines {
  T *G, *r, *inv, *log_det;
  template <typename Taker>
  [[gnu::always_inline]] constexpr void lay_out(Taker& taker, int N, int M) {
    G = taker.take(N * M);
    r = taker.take(M);
    inv = taker.take(M);
    log_det = taker.take(1);
  }
};

/// Of innovation_backward.
template <typename T>
struct InnovationBackwardLines {
  T *inv, *W, *X;
  template <typename Taker>
  [[gnu::always_inline]] constexpr void lay_out(Taker& taker, int M) {
    inv = taker.take(M);
    W = taker.take(M * M);
    X = taker.take(lanes::triangle_size(M));
  }
};

/// Of update_backward.
template <typename T>
struct UpdateBackwardLines {
  T *U, *V, *r, *Kr, *innovation;
  template <typename Taker>
  [[gnu::always_inline]] constexpr void lay_out(Taker& taker, int N, int M) {
    U = taker.take(N * M);
    V = taker.take(M * M);
    r = taker.take(M);
    Kr = taker.take(N);
    innovation = taker.take(lanes::count_lines<InnovationBackwardLines<T>>(M));
  }
};

/// Of rts_covariance.
template <typename T>
struct RtsCovarianceLines {
  T *X, *S, *XS, *C, *inv;
  template <typename Taker>
  [[gnu::always_inline]] constexpr void lay_out(Taker& taker, int N) {
    X = taker.take(N * N);
    S = taker.take(N * N);
    XS = taker.take(N * N);
    C = taker.take(lanes::triangle_size(N));
    inv = taker.take(N);
  }
};

/// Of rts_step.
template <typename T>
struct RtsLines {
  T *J, *Y, *C, *inv, *covariance;
  template <typename Taker>
  [[gnu::always_inline]] constexpr void lay_out(Taker& taker, int N) {
    J = taker.take(N * N);
    Y = taker.take(N * N);
    C = taker.take(lanes::triangle_size(N));
    inv = taker.take(N);
    covariance = taker.take(lanes::count_lines<RtsCovarianceLines<T>>(N));
  }
};

/// For predict_forward and predict_backward.
constexpr int predict_scratch_lines(int N) { return lanes::count_lines<PredictLines<double>>(N); }
/// For update_covariance.
constexpr int update_covariance_lines(int N, int M) {
  return lanes::count_lines<UpdateCovarianceLines<double>>(N, M);
}
/// For update_forward and update_backward.
constexpr int update_scratch_lines(int N, int M) {
  return std::max({lanes::count_lines<UpdateLines<double>>(N, M), update_covariance_lines(N, M),
                   lanes::count_lines<UpdateBackwardLines<double>>(N, M)});
}
/// For rts_covariance.
constexpr int rts_covariance_lines(int N) {
  return lanes::count_lines<RtsCovarianceLines<double>>(N);
}
/// For rts_step.
constexpr int rts_scratch_lines(int N) { return lanes::count_lines<RtsLines<double>>(N); }

/// Enough for any of them.
constexpr int step_scratch_lines(int N, int M) {
  return std::max({predict_scratch_lines(N), update_scratch_lines(N, M), rts_scratch_lines(N)});
}

/// What update_forward leaves for update_backward.
template <typename T>
struct UpdateTape {
  T* K;  ///< gain, N x M
  T* v;  ///< S^-1 r, M
  T* C;  ///< packed Cholesky factor of the (masked) innovation covariance S, M

  template <typename Taker>
  constexpr void lay_out(Taker& taker, int N, int M) {
    K = taker.take(N * M);
    v = taker.take(M);
    C = taker.take(lanes::triangle_size(M));
  }
};

}  // namespace kalmia::kalman
