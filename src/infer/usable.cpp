#include "infer/usable.hpp"

#include <cmath>

#include "kalman/matrix_checks.hpp"
#include "kalmia/error.hpp"

namespace kalmia::infer {
namespace {

[[noreturn]] void refuse(const std::string& place, const char* what, const std::string& name,
                         double value, const char* rule) {
  throw NumericalError(place + (place.empty() ? "" : ": ") + "the " + what + " of " + name +
                       " is " + kalman::number_text(value) + ", but it must be " + rule +
                       ": the model cannot follow these data, or its file was altered");
}

bool usable_variance(double value) { return value >= 0 && std::isfinite(value); }

constexpr const char* kVarianceRule = "finite and not negative";

std::string place_of(const std::string& source, const std::string& key, std::size_t step) {
  return (source.empty() ? "the data" : source) + (key.empty() ? "" : ", series \"" + key + "\"") +
         ", step " + std::to_string(step + 1);
}

bool usable(std::span<const double> mean, std::span<const double> covariance) {
  const std::size_t N = mean.size();
  for (std::size_t i = 0; i < N; ++i)
    if (!std::isfinite(mean[i]) ||
        (!covariance.empty() && !usable_variance(covariance[i * (N + 1)])))
      return false;
  return true;
}

}  // namespace

void require_usable(const std::string& place, std::span<const std::string> names,
                    std::span<const double> mean, std::span<const double> covariance) {
  if (usable(mean, covariance)) return;
  const std::size_t N = mean.size();
  for (std::size_t i = 0; i < N; ++i) {
    if (!std::isfinite(mean[i])) refuse(place, "mean", names[i], mean[i], "finite");
    if (!covariance.empty() && !usable_variance(covariance[i * (N + 1)]))
      refuse(place, "variance", names[i], covariance[i * (N + 1)], kVarianceRule);
  }
}

void require_usable(const std::string& source, const Estimates& estimates) {
  const std::size_t N = estimates.state_names.size();
  for (const StateEstimates& series : estimates.series)
    for (std::size_t k = 0; k * N < series.mean.size(); ++k) {
      const std::span<const double> mean(series.mean.data() + k * N, N);
      const std::span<const double> covariance =
          series.covariance.empty()
              ? std::span<const double>()
              : std::span<const double>(series.covariance.data() + k * N * N, N * N);
      if (!usable(mean, covariance))
        require_usable(place_of(source, series.key, k), estimates.state_names, mean, covariance);
    }
}

void require_usable(const std::string& source, std::span<const std::string> names,
                    const Dataset& data, std::span<const Innovations> innovations) {
  const std::size_t M = names.size();
  for (std::size_t s = 0; s < innovations.size(); ++s) {
    const Innovations& each = innovations[s];
    for (std::size_t i = 0; i < each.residual.size(); ++i) {
      if (std::isnan(each.residual[i]) && std::isnan(data.series[s].y[i])) continue;
      const double variance = each.covariance[i * M + i % M];
      if (!std::isfinite(each.residual[i]))
        refuse(place_of(source, data.series[s].key, i / M), "innovation", names[i % M],
               each.residual[i], "finite");
      if (!usable_variance(variance))
        refuse(place_of(source, data.series[s].key, i / M), "innovation's variance", names[i % M],
               variance, kVarianceRule);
    }
  }
}

}  // namespace kalmia::infer
