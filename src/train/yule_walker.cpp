#include "train/yule_walker.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::train {
namespace {

// A reflection coefficient beyond this is taken for it: the series that goes with it is stationary.
constexpr double kMostReflection = 0.9999;

}  // namespace

std::vector<double> autocovariances(const Dataset& data, std::size_t channel, int lags) {
  const std::size_t M = data.y_names.size();
  double sum = 0, count = 0, steps = 0;
  for (const Series& series : data.series)
    for (std::size_t i = channel; i < series.y.size(); i += M) {
      ++steps;
      if (std::isnan(series.y[i])) continue;
      sum += series.y[i];
      ++count;
    }
  const double mean = count > 0 ? sum / count : 0;
  std::vector<double> c;
  for (int lag = 0; lag <= lags; ++lag) {
    double products = 0, pairs = 0, all = 0;
    for (const Series& series : data.series)
      for (std::size_t i = channel + static_cast<std::size_t>(lag) * M; i < series.y.size();
           i += M) {
        ++all;
        const double product =
            (series.y[i] - mean) * (series.y[i - static_cast<std::size_t>(lag) * M] - mean);
        if (std::isnan(product)) continue;
        products += product;
        ++pairs;
      }
    c.push_back(pairs > 0 ? products / pairs * all / steps : 0);
  }
  return c;
}

std::vector<double> yule_walker(std::span<const double> c) {
  std::vector<double> a(c.size() - 1);
  double error = c[0];
  for (std::size_t p = 0; p < a.size() && error > 0; ++p) {
    double rest = c[p + 1];
    for (std::size_t j = 0; j < p; ++j) rest -= a[j] * c[p - j];
    const double reflection = rest / error;
    if (!(std::abs(reflection) < 1)) break;
    const double k = std::clamp(reflection, -kMostReflection, kMostReflection);
    for (std::size_t j = 0; j < p / 2; ++j) {
      const double front = a[j], back = a[p - 1 - j];
      a[j] = front - k * back;
      a[p - 1 - j] = back - k * front;
    }
    if (p % 2 == 1) a[p / 2] -= k * a[p / 2];
    a[p] = k;
    error *= 1 - k * k;
  }
  return a;
}

std::vector<double> starting_constants(const prior::ExpertSpec& spec, const prior::Expert& expert,
                                       const Dataset& data) {
  std::vector<double> theta = expert.theta();
  const std::vector<prior::ChannelPart> parts = prior::channel_parts(spec, expert.meas_dim());
  for (const prior::ChannelPart& each : parts) {
    const bool alone = std::ranges::count(parts, each.channel, &prior::ChannelPart::channel) == 1;
    if (each.part.kind != prior::PartKind::Ar || !alone || expert.map_states > 0) continue;
    const auto channel = static_cast<std::size_t>(each.channel);
    const std::string first = "lag 1 of " + data.y_names[channel];
    const auto found = std::ranges::find(expert.parameters, first, &prior::ExpertParameter::name);
    if (found == expert.parameters.end()) continue;
    const std::vector<double> a = yule_walker(autocovariances(data, channel, each.part.count));
    std::ranges::copy(a, theta.begin() + (found - expert.parameters.begin()));
  }
  return theta;
}

}  // namespace kalmia::train
