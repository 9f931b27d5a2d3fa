#include "prior/linear_map.hpp"

#include <algorithm>
#include <string>

#include "kalman/classical_state.hpp"
#include "kalman/matrix_checks.hpp"
#include "kalmia/error.hpp"

namespace kalmia::prior {

LinearMap::LinearMap(int state_dim, const std::vector<double>& F, const std::vector<double>& e)
    : state_dim_(state_dim) {
  if (state_dim < 1)
    throw ConfigError("state_dim = " + std::to_string(state_dim) + ", but it must be >= 1");
  kalman::check_matrix("F", F, state_dim, state_dim);
  const std::vector<double> offset =
      e.empty() ? std::vector<double>(static_cast<std::size_t>(state_dim)) : e;
  kalman::check_matrix("e", offset, state_dim, 1);
  F_ = kalman::spread_over_lanes(F);
  e_ = kalman::spread_over_lanes(offset);
}

void LinearMap::forward(const kalman::MapPoint&, double* F, double* e, double*) const {
  std::copy_n(F_.data(), F_.size(), F);
  std::copy_n(e_.data(), e_.size(), e);
}

void LinearMap::backward(const kalman::MapPoint&, const double*, const double*, double*, double*,
                         double*) const {}

}  // namespace kalmia::prior
