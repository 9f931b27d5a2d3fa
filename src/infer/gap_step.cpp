#include "infer/gap_step.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::infer {
namespace {

// h P h' of a row h of H.
double variance_along(const double* h, const double* P, std::size_t N) {
  double sum = 0;
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j) sum += h[i] * P[i * N + j] * h[j];
  return sum;
}

// The square of a share of a variance, at most 1; 1 where it is not a number.
double squared_share(double part, double spread) {
  const double share = part / (spread * spread);
  return share < 1 ? share * share : 1;
}

}  // namespace

bool any_missing(const double* y, int meas_dim) {
  return std::any_of(y, y + meas_dim, [](double value) { return std::isnan(value); });
}

template <typename T>
void GapStep::set(const model::LearnedModel<T>& model, const double* measured, const double* last,
                  const double* x, const double* P) {
  const std::size_t M = shown.size();
  const auto N = static_cast<std::size_t>(model.state_dim());
  std::copy_n(measured, M, shown.begin());
  std::ranges::fill(trust, 1.0);
  lost = 0;
  if (!any_missing(measured, static_cast<int>(M))) return;
  const model::ModelDescription& description = model.description();
  model.measure(x, predicted_.data());
  const bool bent = model.expert().emission != nullptr;
  if (bent) H_ = model.emission_at(x);
  const std::vector<double>& H = bent ? H_ : model.expert().H;
  const bool begun = std::any_of(last, last + M, [](double value) { return !std::isnan(value); }) ||
                     std::any_of(measured, measured + M, [](double y) { return !std::isnan(y); });
  for (std::size_t m = 0; m < M; ++m) {
    if (!std::isnan(measured[m])) continue;
    const bool seen = !std::isnan(last[m]);
    const double variance = variance_along(H.data() + m * N, P, N);
    trust[m] =
        description.gap_trust * (1 - squared_share(variance, description.features.spread[m]));
    if ((seen || !begun) && !description.climate.measured_spread.empty())
      lost = std::max(lost, squared_share(variance, description.climate.measured_spread[m]));
    if (seen && description.gap_trust > 0 && std::isfinite(predicted_[m])) shown[m] = predicted_[m];
  }
}

template void GapStep::set<float>(const model::LearnedModel<float>&, const double*, const double*,
                                  const double*, const double*);
template void GapStep::set<double>(const model::LearnedModel<double>&, const double*, const double*,
                                   const double*, const double*);

}  // namespace kalmia::infer
