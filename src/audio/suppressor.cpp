#include "audio/suppressor.hpp"

#include <algorithm>
#include <cmath>

#include "audio/wiener.hpp"

namespace kalmia::audio {
namespace {

// Bins first .. first + count - 1 of all frames.
Spectrogram some_bins(const Spectrogram& all, int first, int count) {
  Spectrogram some{all.frames, count, {}};
  some.values.resize(static_cast<std::size_t>(some.frames) * static_cast<std::size_t>(count));
  for (int t = 0; t < all.frames; ++t)
    std::ranges::copy(
        all.frame(t).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
        some.frame(t).begin());
  return some;
}

void put_bins(const Spectrogram& some, int first, Spectrogram& all) {
  for (int t = 0; t < all.frames; ++t)
    std::ranges::copy(some.frame(t), all.frame(t).begin() + first);
}

Spectrogram filtered(const Spectrogram& noisy, std::span<const float> noise_power, int first) {
  Spectrogram some = some_bins(noisy, first, noisy.bins - first);
  wiener_filter(noise_power.subspan(static_cast<std::size_t>(first)), {}, some);
  return some;
}

// What lies above the bins there are is noise of their mean level, always at its mean power.
Spectrogram widened(const Spectrogram& narrow, int bins, std::vector<float>& noise_power) {
  double level = 0;
  for (const float each : noise_power) level += std::log(each);
  const auto power = static_cast<float>(std::exp(level / static_cast<double>(noise_power.size())));
  noise_power.resize(static_cast<std::size_t>(bins), power);
  Spectrogram wide{narrow.frames, bins, {}};
  wide.values.assign(static_cast<std::size_t>(narrow.frames) * static_cast<std::size_t>(bins),
                     std::sqrt(power));
  put_bins(narrow, 0, wide);
  return wide;
}

}  // namespace

std::vector<Spectrogram> Suppressor::by_networks(std::span<const Spectrogram> pieces,
                                                 std::span<const std::vector<float>> noise_power,
                                                 ThreadTeam& team) const {
  const int bins = model_->bins();
  std::vector<Spectrogram> known(pieces.size());
  std::vector<std::vector<float>> power(noise_power.begin(), noise_power.end());
  const int count = static_cast<int>(pieces.size());
  team.run(count, [&](int index, int) {
    const auto i = static_cast<std::size_t>(index);
    if (pieces[i].bins < bins) {
      known[i] = widened(pieces[i], bins, power[i]);
    } else {
      known[i] = some_bins(pieces[i], 0, bins);
      power[i].resize(static_cast<std::size_t>(bins));
    }
  });
  apply_gains(*model_, known, power, team);
  team.run(count, [&](int index, int) {
    const auto i = static_cast<std::size_t>(index);
    const Spectrogram& piece = pieces[i];
    if (piece.bins <= bins) {
      known[i] = some_bins(known[i], 0, piece.bins);
      return;
    }
    Spectrogram all{piece.frames, piece.bins, {}};
    all.values.resize(piece.values.size());
    put_bins(known[i], 0, all);
    put_bins(filtered(piece, noise_power[i], bins), bins, all);
    known[i] = std::move(all);
  });
  return known;
}

void Suppressor::apply(std::span<Spectrogram> pieces,
                       std::span<const std::vector<float>> noise_power, ThreadTeam& team) const {
  std::vector<Spectrogram> clean(pieces.size());
  if (model_ != nullptr) clean = by_networks(pieces, noise_power, team);
  const auto least = static_cast<float>(options_.least_gain);
  const auto strength = static_cast<float>(options_.strength);
  team.run(static_cast<int>(pieces.size()), [&](int index, int) {
    const auto i = static_cast<std::size_t>(index);
    if (model_ == nullptr) clean[i] = filtered(pieces[i], noise_power[i], 0);
    for (std::size_t k = 0; k < pieces[i].values.size(); ++k) {
      std::complex<float>& noisy = pieces[i].values[k];
      std::complex<float> estimate = clean[i].values[k];
      if (std::norm(estimate) < least * least * std::norm(noisy)) estimate = least * noisy;
      noisy += strength * (estimate - noisy);
    }
  });
}

}  // namespace kalmia::audio
