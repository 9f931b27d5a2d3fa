#include "prior/lorenz_matrix.hpp"

#include "lanes/panel.hpp"

namespace kalmia::prior {
namespace {

constexpr int kLanes = lanes::kLineLanes<double>;

}  // namespace

void LorenzMatrix::evaluate(const double* x, double* A) const {
  for (int b = 0; b < kLanes; ++b) {
    const double x2 = x[1 * kLanes + b];
    const double x3 = x[2 * kLanes + b];
    const double rows[] = {-sigma_, sigma_, 0, rho_ - x3, -1, 0, x2, 0, -beta_};
    for (int i = 0; i < 9; ++i) A[i * kLanes + b] = rows[i];
  }
}

void LorenzMatrix::adjoint(const double*, const double* d_A, double* d_x) const {
  for (int b = 0; b < kLanes; ++b) {
    d_x[2 * kLanes + b] -= d_A[3 * kLanes + b];  // A(1, 0) = rho - x3
    d_x[1 * kLanes + b] += d_A[6 * kLanes + b];  // A(2, 0) = x2
  }
}

}  // namespace kalmia::prior
