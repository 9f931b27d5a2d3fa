#include "model/outliers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace kalmia::model {
namespace {

constexpr std::size_t kEachSide = 3;
// With fewer neighbours than this nothing is known of a value.
constexpr std::size_t kFewNeighbours = 2;
constexpr double kDeviations = 4;
constexpr double kNormal = 1.4826;  // the deviation of normal numbers over their median distance

// Of an even number, the mean of the two in the middle.
double median_of(std::span<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 == 1 ? *middle
                                : 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

// The values around one: their median, and how far it may be off where they move: how far apart they
// are if one side has more of them, as at the ends of a series, or if only isolated outliers count.
struct Around {
  double median, apart;
};

// How far apart values are without the one that is furthest from their median.
double range_without_furthest(std::span<const double> values, double median) {
  std::size_t furthest = 0;
  for (std::size_t i = 1; i < values.size(); ++i)
    if (std::abs(values[i] - median) > std::abs(values[furthest] - median)) furthest = i;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i == furthest) continue;
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  return high - low;
}

// One channel of a series.
struct Channel {
  std::vector<double>& values;  // steps x stride
  std::size_t channel, stride;
  OutlierRule rule;

  std::size_t steps() const { return values.size() / stride; }
  double& at(std::size_t step) const { return values[step * stride + channel]; }

  // Nothing where there are too few values, or the one at this step is missing.
  std::optional<Around> around(std::size_t step) const {
    if (std::isnan(at(step))) return std::nullopt;
    double near[2 * kEachSide];
    std::size_t count = 0, before = 0;
    const std::size_t begin = step - std::min(step, kEachSide);
    const std::size_t end = std::min(step + kEachSide + 1, steps());
    for (std::size_t k = begin; k < end; ++k) {
      if (k == step) before = count;
      if (k != step && !std::isnan(at(k))) near[count++] = at(k);
    }
    if (count < kFewNeighbours) return std::nullopt;
    const std::span<double> all(near, count);
    const auto [low, high] = std::minmax_element(all.begin(), all.end());
    double apart = 2 * before == count ? 0 : *high - *low;
    const double median = median_of(all);
    if (rule == OutlierRule::Isolated) apart = std::max(apart, range_without_furthest(all, median));
    return Around{median, apart};
  }
};

}  // namespace

void replace_outliers(std::size_t channel, std::size_t channels,
                      std::span<std::vector<double>> series, OutlierRule rule) {
  std::vector<double> distances;
  for (std::vector<double>& values : series) {
    const Channel own{values, channel, channels, rule};
    for (std::size_t k = 0; k < own.steps(); ++k)
      if (const std::optional<Around> around = own.around(k))
        distances.push_back(std::abs(own.at(k) - around->median));
  }
  if (distances.empty()) return;
  const double far = kDeviations * kNormal * median_of(distances);
  if (far == 0) return;  // values that stay as they are say nothing of noise
  for (std::vector<double>& values : series) {
    const Channel own{values, channel, channels, rule};
    // A value that is nearer than the median to the one before it, which the sweep has already
    // dealt with, is none: that median is of outliers.
    double before = std::nan("");
    const auto replace = [&](std::size_t k) {
      if (const std::optional<Around> around = own.around(k))
        if (std::abs(own.at(k) - around->median) > far + around->apart &&
            !(std::abs(own.at(k) - before) < std::abs(around->median - before)))
          own.at(k) = around->median;
      if (!std::isnan(own.at(k))) before = own.at(k);
    };
    for (std::size_t k = 0; k < own.steps(); ++k) replace(k);
    for (std::size_t k = own.steps(); k > 0; --k) replace(k - 1);
  }
}

namespace {

Dataset outliers_replaced(Dataset data, OutlierRule rule) {
  std::vector<std::vector<double>> values;
  for (Series& series : data.series) values.push_back(std::move(series.y));
  for (std::size_t m = 0; m < data.y_names.size(); ++m)
    replace_outliers(m, data.y_names.size(), values, rule);
  for (std::size_t s = 0; s < values.size(); ++s) data.series[s].y = std::move(values[s]);
  return data;
}

}  // namespace

Dataset without_outliers(Dataset data) {
  return outliers_replaced(std::move(data), OutlierRule::Usual);
}

Dataset isolated_outliers_missing(Dataset data) {
  const Dataset replaced = outliers_replaced(data, OutlierRule::Isolated);
  for (std::size_t s = 0; s < data.series.size(); ++s)
    for (std::size_t i = 0; i < data.series[s].y.size(); ++i)
      if (data.series[s].y[i] != replaced.series[s].y[i])
        data.series[s].y[i] = std::numeric_limits<double>::quiet_NaN();
  return data;
}

}  // namespace kalmia::model
