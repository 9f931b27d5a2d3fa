// The linear emission y = H x + r, r ~ N(0, R), checked once and laid out for the kernels.
#pragma once

#include <vector>

namespace kalmia::kalman {

/// What the kernels read. H by sparse rows: the non-zero entries of row m are
/// value[i] at column col[i] for i in row_begin[m] .. row_begin[m + 1] - 1.
struct EmissionView {
  int state_dim;         ///< N
  int meas_dim;          ///< M
  const int* row_begin;  ///< M + 1 entries
  const int* col;
  const double* value;
  const double* R;  ///< M x M, row-major, symmetric positive definite
};

/// Throws ConfigError unless R (M x M) is symmetric positive definite.
void check_measurement_noise(const std::vector<double>& R, int meas_dim);

/// H (M x N) and R (M x M), the same for all sequences and steps. A selection of states, the
/// usual case, has one entry per row, so that products with H are copies.
class Emission {
 public:
  /// Row-major matrices. Throws ConfigError naming the matrix, the entry, its value and the rule
  /// if sizes do not fit, an entry is not finite, or R is not symmetric positive definite.
  Emission(int state_dim, int meas_dim, std::vector<double> H, std::vector<double> R);

  int state_dim() const { return state_dim_; }
  int meas_dim() const { return meas_dim_; }
  const std::vector<double>& H() const { return H_; }
  const std::vector<double>& R() const { return R_; }
  /// Replaces R, with the same checks.
  void set_R(std::vector<double> R);

  /// Valid as long as this object lives and is not assigned to.
  EmissionView view() const {
    return {state_dim_, meas_dim_, row_begin_.data(), col_.data(), value_.data(), R_.data()};
  }

 private:
  int state_dim_;
  int meas_dim_;
  std::vector<double> H_;
  std::vector<double> R_;
  std::vector<int> row_begin_;
  std::vector<int> col_;
  std::vector<double> value_;
};

}  // namespace kalmia::kalman
