#include "model/features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kalmia::model {

int FeatureSpec::input_dim() const {
  int count = 0;
  for (const int level : use_level) count += level != 0 ? 3 : 2;
  return count;
}

template <typename T>
void FeatureSpec::step_to(const double* y, double* last, T* features, double* centre,
                          std::ptrdiff_t stride) const {
  const auto put = [&](double value) {
    *features = static_cast<T>(std::clamp(value, -kFeatureLimit, kFeatureLimit));
    features += stride;
  };
  for (int n = 0; n < state_dim(); ++n) {
    const bool measured = !std::isnan(y[channel_of_state[static_cast<std::size_t>(n)]]);
    centre[n * stride] = measured ? 0 : std::numeric_limits<double>::quiet_NaN();
  }
  for (std::size_t c = 0; c < mean.size(); ++c) {
    const bool measured = !std::isnan(y[c]);
    const bool seen = !std::isnan(last[c]);
    put(measured && seen ? (y[c] - last[c]) / step[c] : 0.0);
    if (measured) last[c] = y[c];
    const bool known = measured || seen;
    if (use_level[c] != 0) put(known ? (last[c] - mean[c]) / spread[c] : 0.0);
    put(measured ? 1.0 : 0.0);
    if (measured) centre[measured_state[c] * stride] = y[c];
  }
}

template void FeatureSpec::step_to<float>(const double*, double*, float*, double*,
                                          std::ptrdiff_t) const;
template void FeatureSpec::step_to<double>(const double*, double*, double*, double*,
                                           std::ptrdiff_t) const;

}  // namespace kalmia::model
