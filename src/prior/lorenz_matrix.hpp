// The Lorenz system as dx/dt = A(x) x.
#pragma once

#include "prior/taylor_map.hpp"

namespace kalmia::prior {

/// A(x) = [-sigma, sigma, 0; rho - x3, -1, 0; x2, 0, -beta], states x1, x2, x3.
///
/// Paper: Sec. 8.2. Differs from the paper: it prints rho - x1 in the second row, which is not the
/// Lorenz system. See docs/errata.md.
class LorenzMatrix : public StateMatrix {
 public:
  explicit LorenzMatrix(double sigma = 10, double rho = 28, double beta = 8.0 / 3)
      : sigma_(sigma), rho_(rho), beta_(beta) {}
  int state_dim() const override { return 3; }
  void evaluate(const double* x, double* A) const override;
  void adjoint(const double* x, const double* d_A, double* d_x) const override;

 private:
  double sigma_, rho_, beta_;
};

}  // namespace kalmia::prior
