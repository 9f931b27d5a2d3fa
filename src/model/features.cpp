#include "model/features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kalmia::model {

namespace {

template <typename T>
T limited(double value) {
  return static_cast<T>(std::clamp(value, -kFeatureLimit, kFeatureLimit));
}

}  // namespace

int FeatureSpec::input_dim() const { return channel_features() + (use_dt ? 1 : 0) + control_dim(); }

int FeatureSpec::channel_features() const {
  int count = 0;
  for (const int level : use_level) count += level != 0 ? 3 : 2;
  return count;
}

template <typename T>
void FeatureSpec::step_to(const double* y, double* last, T* features, double* centre,
                          std::ptrdiff_t stride) const {
  const auto put = [&](double value) {
    *features = limited<T>(value);
    features += stride;
  };
  const bool any = std::any_of(y, y + meas_dim(), [](double value) { return !std::isnan(value); });
  for (int n = 0; n < state_dim(); ++n) {
    const int channel = channel_of_state[static_cast<std::size_t>(n)];
    const bool measured = channel < 0 ? any : !std::isnan(y[channel]);
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
    if (measured && measured_state[c] >= 0) centre[measured_state[c] * stride] = y[c];
  }
}

void FeatureSpec::trust_to(const double* channel_trust, double* trust,
                           std::ptrdiff_t stride) const {
  const double all = std::accumulate(channel_trust, channel_trust + meas_dim(), 0.0) / meas_dim();
  for (int n = 0; n < state_dim(); ++n) {
    const int channel = channel_of_state[static_cast<std::size_t>(n)];
    trust[n * stride] = channel < 0 ? all : channel_trust[channel];
  }
}

void FeatureSpec::seen_centre(const double* seen, double* centre, std::ptrdiff_t stride) const {
  const bool any =
      std::any_of(seen, seen + meas_dim(), [](double value) { return !std::isnan(value); });
  for (int n = 0; n < state_dim(); ++n) {
    const int channel = channel_of_state[static_cast<std::size_t>(n)];
    const bool known = channel < 0 ? any : !std::isnan(seen[channel]);
    centre[n * stride] = known ? 0 : std::numeric_limits<double>::quiet_NaN();
  }
  for (std::size_t c = 0; c < mean.size(); ++c)
    if (measured_state[c] >= 0) centre[measured_state[c] * stride] = seen[c];
}

template <typename T>
void FeatureSpec::drive_to(double dt_ratio, const double* u, T* features,
                           std::ptrdiff_t stride) const {
  features += channel_features() * stride;
  if (use_dt) {
    *features = limited<T>(std::log(dt_ratio));
    features += stride;
  }
  for (std::size_t i = 0; i < u_mean.size(); ++i)
    features[static_cast<std::ptrdiff_t>(i) * stride] =
        limited<T>((u[i] - u_mean[i]) / u_spread[i]);
}

template void FeatureSpec::drive_to<float>(double, const double*, float*, std::ptrdiff_t) const;
template void FeatureSpec::drive_to<double>(double, const double*, double*, std::ptrdiff_t) const;
template void FeatureSpec::step_to<float>(const double*, double*, float*, double*,
                                          std::ptrdiff_t) const;
template void FeatureSpec::step_to<double>(const double*, double*, double*, double*,
                                           std::ptrdiff_t) const;

}  // namespace kalmia::model
