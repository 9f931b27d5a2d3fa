#include "kalman/emission.hpp"

#include <utility>

#include "kalman/matrix_checks.hpp"
#include "kalmia/error.hpp"

namespace kalmia::kalman {

void check_measurement_noise(const std::vector<double>& R, int meas_dim) {
  check_matrix("R", R, meas_dim, meas_dim);
  check_symmetric("R", R, meas_dim);
  check_positive_definite("R", R, meas_dim,
                          "a measurement without noise makes the innovation covariance singular");
}

Emission::Emission(int state_dim, int meas_dim, std::vector<double> H, std::vector<double> R)
    : state_dim_(state_dim), meas_dim_(meas_dim), H_(std::move(H)), R_(std::move(R)) {
  if (state_dim < 1)
    throw ConfigError("state_dim = " + std::to_string(state_dim) + ", but it must be >= 1");
  if (meas_dim < 1)
    throw ConfigError("meas_dim = " + std::to_string(meas_dim) + ", but it must be >= 1");
  check_matrix("H", H_, meas_dim, state_dim);
  check_measurement_noise(R_, meas_dim);
  row_begin_.push_back(0);
  for (int m = 0; m < meas_dim; ++m) {
    for (int n = 0; n < state_dim; ++n) {
      const double entry = H_[static_cast<std::size_t>(m * state_dim + n)];
      if (entry == 0) continue;
      col_.push_back(n);
      value_.push_back(entry);
    }
    row_begin_.push_back(static_cast<int>(col_.size()));
  }
}

void Emission::set_R(std::vector<double> R) {
  check_measurement_noise(R, meas_dim_);
  R_ = std::move(R);
}

}  // namespace kalmia::kalman
