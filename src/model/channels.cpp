#include "model/channels.hpp"

#include <algorithm>
#include <cmath>

#include "kalman/matrix_checks.hpp"

namespace kalmia::model {
namespace {

// Parts of a series for the test of wandering.
constexpr int kParts = 8;
// A stationary channel has nearly all its variance within each part; a random walk about a fifth.
constexpr double kWanders = 0.5;

struct Moments {
  std::size_t count = 0;
  double mean = 0;
  double squares = 0;  // about the mean

  // Welford's update: no cancellation for large offsets.
  void add(double value) {
    ++count;
    const double off = value - mean;
    mean += off / static_cast<double>(count);
    squares += off * (value - mean);
  }
  double variance() const { return count > 1 ? squares / static_cast<double>(count) : 0; }
};

std::string place(const Dataset& data, std::size_t channel) {
  return (data.source.empty() ? "" : data.source + ": ") + "column " + data.y_names[channel];
}

// Differences between measured neighbours: deviations that white noise of deviation 1 would have
// are sqrt(2) and sqrt(6).
double white_step(const Moments& first, const Moments& second) {
  const double one =
      std::sqrt((first.squares + static_cast<double>(first.count) * first.mean * first.mean) /
                (2.0 * static_cast<double>(std::max<std::size_t>(first.count, 1))));
  if (second.count < 8) return one;
  const double two = std::sqrt(second.squares / (6.0 * static_cast<double>(second.count)));
  return std::min(one, two);
}

ChannelStatistics statistics_of(const Dataset& data, std::size_t channel) {
  const std::size_t M = data.y_names.size();
  Moments all, first, second;
  double within = 0, low = 0, high = 0;
  std::size_t within_count = 0;
  for (const Series& series : data.series) {
    Moments parts[kParts];
    double before = std::nan(""), before_that = std::nan("");
    const auto steps = static_cast<std::size_t>(series.steps);
    for (std::size_t k = 0; k < steps; ++k) {
      const double value = series.y[k * M + channel];
      if (std::isinf(value))
        throw DataError(place(data, channel) + ", step " + std::to_string(k + 1) +
                        ": the value is infinite; leave it empty to mark it as missing");
      if (!std::isnan(value)) {
        if (all.count == 0) low = high = value;
        low = std::min(low, value);
        high = std::max(high, value);
        all.add(value);
        parts[k * kParts / steps].add(value);
        if (!std::isnan(before)) first.add(value - before);
        if (!std::isnan(before_that)) second.add(value - 2 * before + before_that);
      }
      before_that = before;
      before = value;
    }
    for (const Moments& part : parts) {
      within += part.squares;
      within_count += part.count;
    }
  }
  if (all.count == 0)
    throw DataError(place(data, channel) + ": all values are missing; leave the column out");
  if (low == high)
    throw DataError(place(data, channel) + ": all " + std::to_string(all.count) + " values are " +
                    kalman::number_text(low) +
                    ", so there is nothing to learn; leave the column out");
  ChannelStatistics result;
  result.measured = all.count;
  result.mean = all.mean;
  result.spread = std::sqrt(all.variance());
  result.step = white_step(first, second);
  if (!(result.step > 1e-6 * result.spread)) result.step = 1e-3 * result.spread;
  result.wanders = within / static_cast<double>(std::max<std::size_t>(within_count, 1)) <
                   kWanders * all.variance();
  return result;
}

}  // namespace

std::vector<ChannelStatistics> channel_statistics(const Dataset& data) {
  std::vector<ChannelStatistics> result;
  for (std::size_t c = 0; c < data.y_names.size(); ++c) result.push_back(statistics_of(data, c));
  return result;
}

}  // namespace kalmia::model
