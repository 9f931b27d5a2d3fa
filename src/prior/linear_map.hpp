// A constant expert map: x[k] ~ F x[k-1] + e.
#pragma once

#include <vector>

#include "base/buffer.hpp"
#include "kalman/transition_map.hpp"

namespace kalmia::prior {

class LinearMap : public kalman::TransitionMap {
 public:
  /// F is N x N, row-major; e has N entries, empty stands for zero. Throws ConfigError.
  LinearMap(int state_dim, const std::vector<double>& F, const std::vector<double>& e = {});

  int state_dim() const override { return state_dim_; }
  std::size_t scratch_size() const override { return 0; }
  void forward(const kalman::MapPoint& at, double* F, double* e, double* scratch) const override;
  /// Adds nothing: the map depends on nothing.
  void backward(const kalman::MapPoint& at, const double* d_F, const double* d_e, double* d_x,
                double* d_theta, double* scratch) const override;

 private:
  int state_dim_;
  Buffer<double> F_, e_;  // in lines
};

}  // namespace kalmia::prior
