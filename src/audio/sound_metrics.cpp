#include "audio/sound_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kalmia::audio {
namespace {

constexpr double kHeardShare = 0.1;
constexpr double kLeastDb = -10, kMostDb = 35;

double square(double x) { return x * x; }

double decibels(double ratio) { return 10 * std::log10(ratio); }

// Energies of the clean signal and of the error at samples begin..end-1, where it counts.
struct Energies {
  double clean = 0, error = 0;
  std::size_t samples = 0;

  Energies(std::span<const float> estimate, std::span<const float> truth,
           std::span<const std::uint8_t> where, std::size_t begin, std::size_t end) {
    for (std::size_t n = begin; n < end; ++n) {
      if (!where.empty() && where[n] == 0) continue;
      clean += square(truth[n]);
      error += square(static_cast<double>(estimate[n]) - truth[n]);
      ++samples;
    }
  }
};

}  // namespace

std::vector<std::uint8_t> heard(std::span<const float> clean, int frame) {
  const auto length = static_cast<std::size_t>(frame);
  std::vector<double> energy;
  for (std::size_t at = 0; at + length <= clean.size(); at += length) {
    double& sum = energy.emplace_back();
    for (const float x : clean.subspan(at, length)) sum += square(x);
  }
  std::vector<std::uint8_t> result(clean.size());
  if (energy.empty()) return result;
  const double least = square(kHeardShare) * *std::max_element(energy.begin(), energy.end());
  for (std::size_t i = 0; i < energy.size(); ++i)
    std::fill_n(result.begin() + static_cast<std::ptrdiff_t>(i * length), length,
                energy[i] > least ? 1 : 0);
  return result;
}

double mean_square_error(std::span<const float> estimate, std::span<const float> clean,
                         std::span<const std::uint8_t> where) {
  const Energies all(estimate, clean, where, 0, clean.size());
  return all.samples > 0 ? all.error / static_cast<double>(all.samples)
                         : std::numeric_limits<double>::quiet_NaN();
}

double snr_db(std::span<const float> estimate, std::span<const float> clean,
              std::span<const std::uint8_t> where) {
  const Energies all(estimate, clean, where, 0, clean.size());
  return decibels(all.clean / all.error);
}

double segmental_snr_db(std::span<const float> estimate, std::span<const float> clean, int frame,
                        std::span<const std::uint8_t> where) {
  const auto length = static_cast<std::size_t>(frame);
  double sum = 0, count = 0;
  for (std::size_t at = 0; at + length <= clean.size(); at += length) {
    const Energies segment(estimate, clean, where, at, at + length);
    if (segment.samples == 0 || segment.clean == 0) continue;
    sum += std::clamp(decibels(segment.clean / segment.error), kLeastDb, kMostDb);
    count += 1;
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

double si_sdr_db(std::span<const float> estimate, std::span<const float> clean) {
  const auto mean = [](std::span<const float> x) {
    double sum = 0;
    for (const float each : x) sum += each;
    return sum / static_cast<double>(x.size());
  };
  const double estimate_mean = mean(estimate), clean_mean = mean(clean);
  double product = 0, energy = 0, total = 0;
  for (std::size_t n = 0; n < clean.size(); ++n) {
    const double e = estimate[n] - estimate_mean, c = clean[n] - clean_mean;
    product += e * c;
    energy += c * c;
    total += e * e;
  }
  const double parallel = product * product / energy;
  return decibels(parallel / std::max(total - parallel, 0.0));
}

}  // namespace kalmia::audio
