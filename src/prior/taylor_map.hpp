// The expert map of the paper: a truncated Taylor series of the flow of dx/dt = A(x) x, with A
// frozen at x.
#pragma once

#include <cstddef>
#include <memory>

#include "kalman/transition_map.hpp"

namespace kalmia::prior {

/// A state-dependent matrix A(x), as in dx/dt = A(x) x.
///
/// For one line of lanes: entry i of x (N), or (i, j) of A (N x N, row-major), is 8 consecutive
/// doubles, one per lane. Calls are const and thread-safe.
class StateMatrix {
 public:
  virtual ~StateMatrix() = default;
  virtual int state_dim() const = 0;
  /// Sets A to A(x).
  virtual void evaluate(const double* x, double* A) const = 0;
  /// d_x += (dA/dx)' d_A.
  virtual void adjoint(const double* x, const double* d_A, double* d_x) const = 0;
};

/// F(x) = sum over i <= order of (dt A(x))^i / i!,   e = 0.
///
/// Paper: Sec. 8.1, 8.2. Differs from the paper: it prints dt A^n / n!. See docs/errata.md.
/// Freezing A makes F x only a first-order approximation of the flow, and F not its Jacobian,
/// whatever the order.
class TaylorMap : public kalman::TransitionMap {
 public:
  /// Throws ConfigError unless order >= 0 and there is a matrix.
  TaylorMap(int order, std::shared_ptr<const StateMatrix> A);

  int state_dim() const override { return A_->state_dim(); }
  std::size_t scratch_size() const override;
  void forward(const kalman::MapPoint& at, double* F, double* e, double* scratch) const override;
  void backward(const kalman::MapPoint& at, const double* d_F, const double* d_e, double* d_x,
                double* d_theta, double* scratch) const override;

 private:
  int order_;
  std::shared_ptr<const StateMatrix> A_;
};

}  // namespace kalmia::prior
