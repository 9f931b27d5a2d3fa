// What the recursion asks of an expert map: a local linear map at a state, and its adjoint.
#pragma once

#include <cstddef>

namespace kalmia::kalman {

/// Where a map is evaluated, for one line of lanes (8 sequences in double): entry i of a vector is
/// 8 consecutive doubles, one per lane.
struct MapPoint {
  const double* x = nullptr;      ///< the state before the step, N lines
  const double* dt = nullptr;     ///< the length of the step, 1 line
  const double* u = nullptr;      ///< control inputs that act during the step, U lines
  const double* theta = nullptr;  ///< the map's parameters, P numbers, the same for all lanes
};

class FlowMap;

/// x[k] ~ F(x[k-1], dt, u; theta) x[k-1] + e(x[k-1], dt, u; theta).
///
/// Matrices are line matrices, row-major. Calls are const and thread-safe; `scratch` has
/// `scratch_size()` doubles, aligned to a line, and may be used freely.
class TransitionMap {
 public:
  virtual ~TransitionMap() = default;

  virtual int state_dim() const = 0;
  /// U, the number of inputs that are read.
  virtual int input_dim() const { return 0; }
  /// P, the number of parameters.
  virtual int parameter_count() const { return 0; }

  /// Doubles of scratch that the two functions below need.
  virtual std::size_t scratch_size() const = 0;

  /// Sets F (N x N) and e (N) to the local map at a point.
  virtual void forward(const MapPoint& at, double* F, double* e, double* scratch) const = 0;

  /// Adjoint: d_x += (dF/dx)' d_F + (de/dx)' d_e, and likewise d_theta (P lines: each lane's share)
  /// for the parameters.
  virtual void backward(const MapPoint& at, const double* d_F, const double* d_e, double* d_x,
                        double* d_theta, double* scratch) const = 0;

  /// The map as a flow in continuous time, which process noise enters all along the step; null: the
  /// noise of a step is in proportion to its length.
  virtual const FlowMap* as_flow() const { return nullptr; }
};

/// A map that adds up process noise of a constant density G = L L' along the step:
///
///   Q = integral over s from 0 to dt of W(s) G W(s)',   W(s) = d x(dt) / d x(s)
class FlowMap : public TransitionMap {
 public:
  const FlowMap* as_flow() const override { return this; }
  /// The map holds for a step of any length; else only for steps about as long as usual.
  virtual bool any_step() const { return false; }

  /// As `forward`; sets Q (N x N, both triangles) too. L: packed lower triangle, lines.
  virtual void forward_with_noise(const MapPoint& at, const double* L, double* F, double* e,
                                  double* Q, double* scratch) const = 0;
  /// As `backward`, from d_Q (full symmetric) too. Sets d_L (packed).
  virtual void backward_with_noise(const MapPoint& at, const double* L, const double* d_F,
                                   const double* d_e, const double* d_Q, double* d_L, double* d_x,
                                   double* d_theta, double* scratch) const = 0;
};

}  // namespace kalmia::kalman
