// Scratch the kernels of one Kalman step need, in lines of lanes. The same for every instruction
// set; the caller allocates once, aligned to a line.
#pragma once

#include <algorithm>

#include "lanes/panel.hpp"

namespace kalmia::kalman {

/// For predict_forward and predict_backward.
constexpr int predict_scratch_lines(int N) { return 2 * N * N + lanes::covariance_root_lines(N); }

/// For update_root.
constexpr int update_root_lines(int N, int M) {
  return M * N + M + M * M + lanes::covariance_root_lines(N);
}
/// For update_covariance.
constexpr int update_covariance_lines(int N, int M) { return N * N + update_root_lines(N, M); }

/// For innovation_backward, a part of update_backward.
constexpr int innovation_backward_lines(int M) { return M + M * M + lanes::triangle_size(M); }

/// For update_forward and update_backward.
constexpr int update_scratch_lines(int N, int M) {
  return std::max(2 * N * M + 2 * M * M + lanes::triangle_size(M) + 4 * M + 1,
                  update_covariance_lines(N, M));
}

/// For rts_covariance.
constexpr int rts_covariance_lines(int N) { return 3 * N * N + lanes::covariance_root_lines(N); }
/// For rts_step.
constexpr int rts_scratch_lines(int N) {
  return 2 * N * N + lanes::triangle_size(N) + N + rts_covariance_lines(N);
}

/// Enough for any of them.
constexpr int step_scratch_lines(int N, int M) {
  return std::max({predict_scratch_lines(N), update_scratch_lines(N, M), rts_scratch_lines(N)});
}

/// Lines of the update's tape: K (N x M), v (M), C (packed, M).
constexpr int update_tape_lines(int N, int M) { return N * M + M + lanes::triangle_size(M); }

/// What update_forward leaves for update_backward.
template <typename T>
struct UpdateTape {
  T* K;  ///< gain, N x M
  T* v;  ///< S^-1 r, M
  T* C;  ///< packed Cholesky factor of the (masked) innovation covariance S, M
};

/// A tape laid out in `lines`, which has update_tape_lines(N, M) of them.
template <typename T>
constexpr UpdateTape<T> tape_at(int N, int M, T* lines) {
  T* v = lines + N * M * lanes::kLineLanes<T>;
  return {lines, v, v + M * lanes::kLineLanes<T>};
}

}  // namespace kalmia::kalman
