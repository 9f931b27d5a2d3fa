#include "model/channels.hpp"

#include <algorithm>
#include <cmath>

#include "kalman/matrix_checks.hpp"
#include "kalmia/text.hpp"
#include "model/drift.hpp"

namespace kalmia::model {
namespace {

// Differences this small are rounding errors of what is perfectly smooth.
constexpr double kSmooth = 1e-10;
// Fewer differences than this say nothing.
constexpr std::size_t kFewDifferences = 8;
std::string place(const Dataset& data, std::size_t channel) {
  return (data.source.empty() ? "" : data.source + ": ") + "column " +
         printable(data.y_names[channel]);
}

// The differences of a channel.
struct Differences {
  RunningMoments first, second;  // between neighbouring steps
  RunningMoments across;         // from the value seen last, however long ago
};

// Differences of white noise of deviation 1 have the deviations sqrt(2) and sqrt(6). A channel that
// is never measured at two steps in a row (a slow sensor among fast ones) has only those across its
// gaps.
double white_step(const Differences& differences) {
  const auto& [first, second, across] = differences;
  const RunningMoments& of = first.count < kFewDifferences ? across : first;
  const double one = std::sqrt((of.squares + static_cast<double>(of.count) * of.mean * of.mean) /
                               (2.0 * static_cast<double>(std::max<std::size_t>(of.count, 1))));
  if (second.count < kFewDifferences) return one;
  const double two = std::sqrt(second.squares / (6.0 * static_cast<double>(second.count)));
  return std::min(one, two);
}

// The deviation of differences beyond what white noise of deviation `step` has, whose differences
// have `factor` times its variance.
double beyond_white(const RunningMoments& differences, double factor, double step) {
  if (differences.count < kFewDifferences) return 0;
  const double square = differences.variance() + differences.mean * differences.mean;
  return std::sqrt(std::max(0.0, square - factor * step * step));
}

ChannelStatistics statistics_of(const Dataset& data, std::size_t channel) {
  const std::size_t M = data.y_names.size();
  DriftTest drift;
  Differences differences;
  double low = std::nan(""), high = low;
  for (const Series& series : data.series) {
    double before = std::nan(""), before_that = std::nan(""), last = std::nan("");
    const auto steps = static_cast<std::size_t>(series.steps);
    for (std::size_t k = 0; k < steps; ++k) {
      const double value = series.y[k * M + channel];
      if (std::isinf(value))
        throw DataError(place(data, channel) + ", step " + std::to_string(k + 1) +
                        ": the value is infinite; leave it empty to mark it as missing");
      if (!std::isnan(value)) {
        if (std::isnan(low)) low = high = value;
        low = std::min(low, value);
        high = std::max(high, value);
        if (!std::isnan(last)) differences.across.add(value - last);
        if (!std::isnan(before)) differences.first.add(value - before);
        if (!std::isnan(before) && !std::isnan(before_that))
          differences.second.add(value - 2 * before + before_that);
        last = value;
      }
      before_that = before;
      before = value;
    }
    drift.add_series(steps, [&](std::size_t k) { return series.y[k * M + channel]; });
  }
  const RunningMoments& all = drift.all();
  if (all.count == 0)
    throw DataError(place(data, channel) + ": all values are missing; leave the column out");
  if (all.count == 1)
    throw DataError(place(data, channel) + ": " + kalman::number_text(low) +
                    " is its only value, but a fit needs at least 2");
  if (low == high)
    throw DataError(place(data, channel) + ": all " + std::to_string(all.count) + " values are " +
                    kalman::number_text(low) +
                    ", so there is nothing to learn; leave the column out");
  ChannelStatistics result;
  result.measured = all.count;
  result.mean = all.mean;
  result.spread = std::sqrt(all.variance());
  if (!(result.spread > 0) || !std::isfinite(result.spread))
    throw DataError(place(data, channel) + ": the values, from " + kalman::number_text(low) +
                    " to " + kalman::number_text(high) +
                    ", are too small or too large to compute with; choose another unit");
  result.step = white_step(differences);
  if (!(result.step > kSmooth * result.spread)) result.step = 1e-3 * result.spread;
  result.rate = beyond_white(differences.first, 2, result.step);
  result.acceleration = beyond_white(differences.second, 6, result.step);
  result.wanders = drift.wanders();
  return result;
}

}  // namespace

std::vector<ChannelStatistics> channel_statistics(const Dataset& data) {
  std::vector<ChannelStatistics> result;
  for (std::size_t c = 0; c < data.y_names.size(); ++c) result.push_back(statistics_of(data, c));
  return result;
}

std::vector<double> channel_correlation(const Dataset& data,
                                        const std::vector<ChannelStatistics>& channels) {
  const std::size_t M = channels.size();
  std::vector<double> result(M * M, 0.0);
  for (std::size_t i = 0; i < M; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double products = 0, squares_i = 0, squares_j = 0;
      for (const Series& series : data.series)
        for (std::size_t k = 0; k < static_cast<std::size_t>(series.steps); ++k) {
          const double a = (series.y[k * M + i] - channels[i].mean) / channels[i].spread;
          const double b = (series.y[k * M + j] - channels[j].mean) / channels[j].spread;
          if (std::isnan(a) || std::isnan(b)) continue;
          products += a * b;
          squares_i += a * a;
          squares_j += b * b;
        }
      const double size = std::sqrt(squares_i * squares_j);
      result[i * M + j] = result[j * M + i] = size > 0 ? products / size : 0;
    }
  return result;
}

}  // namespace kalmia::model
