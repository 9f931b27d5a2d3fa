#include "prior/taylor_map.hpp"

#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "prior/taylor_map.cpp"
#include <hwy/foreach_target.h>
// Must come after foreach_target.h.
#include <hwy/highway.h>

#include "lanes/small_matrix-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kalmia::prior::HWY_NAMESPACE {

namespace ln = kalmia::lanes::HWY_NAMESPACE;

// out = I + scale A S, all N x N.
HWY_INLINE void horner_step(int N, double scale, const double* A, const double* S, double* out) {
  ln::multiply(N, N, N, A, S, out);
  ln::scale_lines(N * N, scale, out);
  for (int n = 0; n < N; ++n) {
    double* diagonal = ln::entry(out, n * N + n);
    ln::store(ln::load(diagonal) + ln::broadcast(1.0), diagonal);
  }
}

HWY_INLINE void set_identity(int N, double* S) {
  ln::set_zero(N * N, S);
  for (int n = 0; n < N; ++n) ln::store(ln::broadcast(1.0), ln::entry(S, n * N + n));
}

// Horner's form: S[order] = I, S[i-1] = I + A S[i] / i, F = S[0]; A stands for dt A(x) here.
// Scratch: N^2 lines.
// Cost: (order - 1) N^3.
HWY_INLINE void forward_any(int N, int order, const double* A, double* F, double* scratch) {
  if (order == 0) return set_identity(N, F);
  // S[order - 1] = I + A / order needs no product. F and scratch take turns, ending in F.
  double* S = order % 2 == 1 ? F : scratch;
  double* next = order % 2 == 1 ? scratch : F;
  ln::copy_lines(N * N, A, S);
  ln::scale_lines(N * N, 1.0 / order, S);
  for (int n = 0; n < N; ++n) {
    double* diagonal = ln::entry(S, n * N + n);
    ln::store(ln::load(diagonal) + ln::broadcast(1.0), diagonal);
  }
  for (int i = order - 1; i >= 1; --i) {
    horner_step(N, 1.0 / i, A, S, next);
    std::swap(S, next);
  }
}

// Adjoint of forward_any: sets d_A. The S[i] are computed again, each kept.
//
//   d_S[0] = d_F,   d_A += d_S[i-1] S[i]' / i,   d_S[i] = A' d_S[i-1] / i
//
// Scratch: (order + 2) N^2 lines.
HWY_INLINE void backward_any(int N, int order, const double* A, const double* d_F, double* d_A,
                             double* scratch) {
  const int size = N * N;
  const auto S = [&](int i)
                     HWY_ATTR { return ln::entry(scratch, (i - 1) * size); };  // i in 1..order
  double* d_S = ln::entry(scratch, order * size);
  double* term = ln::entry(d_S, size);
  ln::set_zero(size, d_A);
  if (order == 0) return;
  set_identity(N, S(order));
  for (int i = order; i > 1; --i) horner_step(N, 1.0 / i, A, S(i), S(i - 1));
  ln::copy_lines(size, d_F, d_S);
  for (int i = 1; i <= order; ++i) {
    ln::multiply_nt(N, N, N, d_S, S(i), term);
    ln::add_scaled<double>(size, 1.0 / i, term, d_A);
    if (i == order) break;
    ln::multiply_tn(N, N, N, A, d_S, term);
    ln::scale_lines(size, 1.0 / i, term);
    std::swap(d_S, term);
  }
}

// Multiplies each entry of A (N x N) by the line dt.
void scale_by_step(int N, const double* dt, double* A) {
  const auto step = ln::load(dt);
  for (int i = 0; i < N * N; ++i) ln::store(ln::load(ln::entry(A, i)) * step, ln::entry(A, i));
}

// Three states, as so many systems have, get code of their own.
void taylor_forward(int N, int order, const double* A, double* F, double* scratch) {
  if (N == 3) return forward_any(3, order, A, F, scratch);
  forward_any(N, order, A, F, scratch);
}
void taylor_backward(int N, int order, const double* A, const double* d_F, double* d_A,
                     double* scratch) {
  if (N == 3) return backward_any(3, order, A, d_F, d_A, scratch);
  backward_any(N, order, A, d_F, d_A, scratch);
}

}  // namespace kalmia::prior::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::prior {

HWY_EXPORT(scale_by_step);
HWY_EXPORT(taylor_forward);
HWY_EXPORT(taylor_backward);

TaylorMap::TaylorMap(int order, std::shared_ptr<const StateMatrix> A)
    : order_(order), A_(std::move(A)) {
  if (order < 0)
    throw ConfigError("order = " + std::to_string(order) + ", but a Taylor map needs order >= 0");
  if (A_ == nullptr) throw ConfigError("A is null, but a Taylor map needs a matrix A(x)");
}

std::size_t TaylorMap::scratch_size() const {
  const std::size_t size =
      static_cast<std::size_t>(state_dim() * state_dim() * lanes::kLineLanes<double>);
  return static_cast<std::size_t>(order_ + 4) * size;  // A, d_A and what backward needs
}

void TaylorMap::forward(const kalman::MapPoint& at, double* F, double* e, double* scratch) const {
  const int N = state_dim();
  const int size = N * N * lanes::kLineLanes<double>;
  A_->evaluate(at.x, scratch);
  HWY_DYNAMIC_DISPATCH(scale_by_step)(N, at.dt, scratch);
  HWY_DYNAMIC_DISPATCH(taylor_forward)(N, order_, scratch, F, scratch + size);
  for (int i = 0; i < N * lanes::kLineLanes<double>; ++i) e[i] = 0;
}

void TaylorMap::backward(const kalman::MapPoint& at, const double* d_F, const double* /*d_e*/,
                         double* d_x, double* /*d_theta*/, double* scratch) const {
  const int N = state_dim();
  const int size = N * N * lanes::kLineLanes<double>;
  double* A = scratch;
  double* d_A = scratch + size;
  A_->evaluate(at.x, A);
  HWY_DYNAMIC_DISPATCH(scale_by_step)(N, at.dt, A);
  HWY_DYNAMIC_DISPATCH(taylor_backward)(N, order_, A, d_F, d_A, scratch + 2 * size);
  HWY_DYNAMIC_DISPATCH(scale_by_step)(N, at.dt, d_A);
  A_->adjoint(at.x, d_A, d_x);
}

}  // namespace kalmia::prior
#endif  // HWY_ONCE
