#include "train/noise_bound.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "kalman/student.hpp"

namespace kalmia::train {

bool NoiseBound::is_beaten_by(double held_out) const {
  constexpr double kClearly = 0.02;
  constexpr double kDeviations = 2;
  // At least one value a step; half the squares are summed.
  const double deviation =
      std::sqrt(0.5 / static_cast<double>(std::max<std::size_t>(1, held_out_steps)));
  return held_out < loss - std::max(kClearly, kDeviations * deviation);
}

NoiseBound find_noise_bound(const model::NoiseSpec& noise, double tails, const Dataset& data,
                            const std::vector<HeldOut>& held_out) {
  NoiseBound bound;
  for (const HeldOut& each : held_out)
    bound.held_out_steps += static_cast<std::size_t>(each.stretch.end - each.score_from);
  if (noise.learned()) return bound;
  const int M = data.meas_dim();
  const Eigen::Map<const Eigen::MatrixXd> R(noise.R.data(), M, M);
  std::map<std::vector<int>, double> half_log_det;  // by the channels measured
  double sum = 0, values = 0;
  for (const HeldOut& each : held_out)
    for (int k = each.score_from; k < each.stretch.end; ++k) {
      const double* y = data.series[static_cast<std::size_t>(each.stretch.series)].y.data() +
                        static_cast<std::ptrdiff_t>(k) * M;
      std::vector<int> measured;
      for (int m = 0; m < M; ++m)
        if (!std::isnan(y[m])) measured.push_back(m);
      if (measured.empty()) continue;
      const auto [entry, is_new] = half_log_det.try_emplace(measured, 0);
      if (is_new)
        entry->second =
            Eigen::MatrixXd(R(measured, measured).llt().matrixLLT()).diagonal().array().log().sum();
      sum += entry->second;
      // Each value's own deviation in place of the typical one.
      const std::vector<double>& stds =
          data.series[static_cast<std::size_t>(each.stretch.series)].y_std;
      if (!stds.empty())
        for (const int m : measured)
          sum += std::log(stds[static_cast<std::size_t>(k * M + m)] / std::sqrt(R(m, m)));
      values += static_cast<double>(measured.size());
    }
  const double entropy =
      tails > 0 ? kalman::student_entropy(tails) : 0.5 * (1 + std::log(2 * std::numbers::pi));
  if (values > 0) bound.loss = entropy + sum / values;
  return bound;
}

}  // namespace kalmia::train
