#include "train/holdout.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::train {
namespace {

// With fewer measured values there is nothing to hold out.
constexpr double kFewestValues = 500;

// Steps up to the last that has a value: arrays of series are often padded.
int measured_length(const Series& series, std::size_t M) {
  std::size_t size = series.y.size();
  while (size > 0 && std::isnan(series.y[size - 1])) --size;
  return static_cast<int>((size + M - 1) / M);
}

double measured_values(const Dataset& data, const Stretch& stretch) {
  const auto M = static_cast<std::ptrdiff_t>(data.meas_dim());
  const auto y = data.series[static_cast<std::size_t>(stretch.series)].y.begin();
  return static_cast<double>(std::count_if(y + stretch.begin * M, y + stretch.end * M,
                                           [](double value) { return !std::isnan(value); }));
}

void hold_out_share(const Dataset& data, const std::vector<int>& lengths,
                    const TrainOptions& options, Holdout& holdout) {
  holdout.little_data = holdout.values < kFewestValues;
  if (!holdout.little_data) {
    holdout.split = split_data(lengths, options.holdout, options.seed);
    double held_out = 0;
    for (const HeldOut& each : holdout.split.held_out)
      held_out += measured_values(data, {each.stretch.series, each.score_from, each.stretch.end});
    holdout.little_data = held_out < kFewestHeldOut || holdout.values - held_out < kFewestHeldOut;
  }
  if (holdout.little_data) holdout.split = split_data(lengths, 0, options.seed);
}

}  // namespace

std::size_t Holdout::held_out_steps() const {
  std::size_t steps = 0;
  for (const HeldOut& each : split.held_out)
    steps += static_cast<std::size_t>(each.stretch.end - each.score_from);
  return steps;
}

Holdout choose_holdout(const FitData& data, const std::vector<model::ChannelStatistics>& channels,
                       const TrainOptions& options) {
  std::vector<int> lengths;
  for (const Series& series : data.all().series)
    lengths.push_back(measured_length(series, data.all().y_names.size()));
  Holdout holdout;
  for (const auto& channel : channels) holdout.values += static_cast<double>(channel.measured);
  if (data.has_validation()) {
    holdout.split = split_series(lengths, static_cast<int>(data.training().series.size()));
    holdout.little_data = holdout.values < kFewestHeldOut;
  } else {
    hold_out_share(data.all(), lengths, options, holdout);
  }
  return holdout;
}

}  // namespace kalmia::train
