// What the recursion asks of an expert map: a local linear map at a state, and its adjoint.
#pragma once

#include <cstddef>

namespace kalmia::kalman {

/// x[k] ~ F(x[k-1]) x[k-1] + e(x[k-1]), for one line of lanes (8 sequences in double).
/// All arrays are line matrices: entry i of a vector, or (i, j) of a row-major matrix, is 8
/// consecutive doubles, one per lane. Calls are const and thread-safe; `scratch` has
/// `scratch_size()` doubles and may be used freely.
class TransitionMap {
 public:
  virtual ~TransitionMap() = default;

  virtual int state_dim() const = 0;

  /// Doubles of scratch that the two functions below need.
  virtual std::size_t scratch_size() const = 0;

  /// Sets F (N x N) and e (N) to the local map at x (N).
  virtual void forward(const double* x, double* F, double* e, double* scratch) const = 0;

  /// Adjoint: d_x += (dF/dx)' d_F + (de/dx)' d_e.
  virtual void backward(const double* x, const double* d_F, const double* d_e, double* d_x,
                        double* scratch) const = 0;
};

}  // namespace kalmia::kalman
