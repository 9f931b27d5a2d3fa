#include "engine/batch.hpp"

namespace kalmia::engine {

void BatchResult::require_success() const {
  if (failed_lanes == 0) return;
  const std::string others =
      failed_lanes > 1 ? " (and " + std::to_string(failed_lanes - 1) + " more sequences)" : "";
  const std::string place = "step " + std::to_string(failed_step) + ", sequence " +
                            std::to_string(failed_sequence) + ": ";
  if (failed_covariance)
    throw NumericalError(place + "innovation covariance H P H' + R is not positive definite" +
                         others +
                         "; check that Q and the carried P are covariances of a sane size");
  throw NumericalError(place + "the likelihood is not finite" + others +
                       "; measurements must be finite, or marked as missing");
}

template <typename T>
BatchResult result_of(const NetworkWorkspace<T>& ws, double nll, int lanes) {
  BatchResult result{.nll = nll};
  for (int lane = 0; lane < lanes; ++lane) {
    if (ws.lane_ok[static_cast<std::size_t>(lane)] != 0) continue;
    if (result.failed_lanes++ > 0) continue;
    result.failed_sequence = lane;
    result.failed_step = ws.failed_step[static_cast<std::size_t>(lane)];
    result.failed_covariance = ws.failed_covariance[static_cast<std::size_t>(lane)] != 0;
  }
  return result;
}

BatchResult total_of(std::span<const BatchResult> groups, std::span<const int> lanes) {
  BatchResult sum;
  int first_lane = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const BatchResult& part = groups[g];
    if (sum.failed_lanes == 0 && part.failed_lanes > 0) {
      sum.failed_sequence = first_lane + part.failed_sequence;
      sum.failed_step = part.failed_step;
      sum.failed_covariance = part.failed_covariance;
    }
    sum.nll += part.nll;
    sum.failed_lanes += part.failed_lanes;
    first_lane += lanes[g];
  }
  return sum;
}

template BatchResult result_of<float>(const NetworkWorkspace<float>&, double, int);
template BatchResult result_of<double>(const NetworkWorkspace<double>&, double, int);

}  // namespace kalmia::engine
