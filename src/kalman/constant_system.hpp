// The likelihood of a linear system that is the same at every step, and its gradient: for a sparse
// F a step costs O(N^2).
#pragma once

#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "base/threads.hpp"

namespace kalmia::kalman {

/// An entry of a matrix.
struct MatrixEntry {
  int row = 0, col = 0;
};

/// x[k] = F x[k-1] + q,   y[k] = H x[k] + r,   q ~ N(0, Q),   r ~ N(0, diag(R)),   x[0] ~ N(x0, P0)
///
/// Matrices are row-major; Q and P0 are symmetric.
struct ConstantSystem {
  std::vector<double> F, Q, H;
  std::vector<double> R;  ///< M variances
  std::vector<double> x0, P0;

  int state_dim() const { return static_cast<int>(x0.size()); }
  int meas_dim() const { return static_cast<int>(R.size()); }
};

/// The loss of all series and its derivatives. Those by F are of the entries that can differ from
/// zero, in their order; that by Q is the full symmetric matrix.
struct ConstantLoss {
  double nll = 0;  ///< sum of r' S^-1 r + log det S; NaN where a variance is not positive
  std::vector<double> d_F, d_Q, d_R;
};

/// Measurements of one series: steps x M, NaN where one is missing. They are copied.
struct MeasuredSteps {
  const double* y = nullptr;
  int steps = 0;
};

/// The loss of series of measurements, as a function of a ConstantSystem. The components of a step
/// are taken one after another,
///
///   g = P h,   s = h' g + R_m,   x <- x + g (y_m - h' x) / s,   P <- P - g g' / s
///
/// and the next step is x <- F x, P <- F P F' + Q, by the entries of F that can differ from zero.
/// The adjoint is exact.
///
/// P - g g' / s loses digits where a measurement is far sharper than the prediction, some eps P /
/// R; where that is much, a variance is no longer positive and the loss is NaN. It serves to learn
/// constants; states are estimated with a square root of P (update-inl.h).
///
/// Cost: of a step, about (5 entries + 3 M N) N multiply-adds forward and backward.
class ConstantLikelihood {
 public:
  /// `entries`: those of F that can differ from zero.
  ConstantLikelihood(int state_dim, int meas_dim, std::vector<MatrixEntry> entries,
                     std::span<const MeasuredSteps> series, ThreadTeam& team);

  ConstantLoss operator()(const ConstantSystem& system);

  /// The measurements of a line of lanes.
  struct Line {
    Buffer<double> y;     ///< steps x M lines; 0 where one is missing
    Buffer<double> seen;  ///< steps x M lines of flags
    int steps = 0;
  };
  /// What one line adds to the loss.
  struct Share {
    double nll = 0;
    std::vector<double> d_F, d_Q, d_R;
  };

 private:
  int state_dim_, meas_dim_, longest_ = 0;
  std::vector<MatrixEntry> entries_;
  std::vector<Line> lines_;
  std::vector<Share> shares_;
  std::vector<Buffer<double>> tapes_;  // of each thread
  ThreadTeam& team_;
};

}  // namespace kalmia::kalman
