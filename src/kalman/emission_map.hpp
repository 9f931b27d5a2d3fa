// What the recursion asks of a nonlinear emission: its value and Jacobian at a state, and their
// adjoint.
#pragma once

#include "kalman/transition_map.hpp"

namespace kalmia::kalman {

/// y = h(x; theta) + r, linearised at a state (mostly the predicted one), for one line of lanes (8
/// sequences in double). theta is that of the transition map. Matrices are line matrices,
/// row-major. Calls are const and thread-safe; `scratch` has `scratch_size()` doubles, aligned to a
/// line, and may be used freely.
class EmissionMap {
 public:
  virtual ~EmissionMap() = default;

  virtual int state_dim() const = 0;
  virtual int meas_dim() const = 0;
  virtual std::size_t scratch_size() const = 0;

  /// Sets y (M) to h and H (M x N) to its Jacobian at a point.
  virtual void forward(const MapPoint& at, double* y, double* H, double* scratch) const = 0;

  /// Adjoint: d_x += (dy/dx)' d_y + (dH/dx)' d_H, and likewise d_theta (P lines).
  virtual void backward(const MapPoint& at, const double* d_y, const double* d_H, double* d_x,
                        double* d_theta, double* scratch) const = 0;
};

}  // namespace kalmia::kalman
