#include "audio/stft.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <unsupported/Eigen/FFT>

#include "kalmia/error.hpp"

namespace kalmia::audio {
namespace {

constexpr int kShortestFrame = 8;

bool is_window(int samples) {
  if (samples < kShortestFrame || samples % 4 != 0) return false;
  for (const int prime : {2, 3, 5, 7, 11})
    while (samples % prime == 0) samples /= prime;
  return samples == 1;
}

}  // namespace

int nearest_window(double samples) {
  const int near = std::max(kShortestFrame, 4 * static_cast<int>(std::lround(samples / 4)));
  for (int distance = 0;; distance += 4) {
    if (is_window(near - distance)) return near - distance;
    if (is_window(near + distance)) return near + distance;
  }
}

struct Stft::Fourier {
  Eigen::FFT<float> fft;
  std::vector<float> samples;
  std::vector<std::complex<float>> spectrum;
};

Stft::Stft(int window) : window_(window), fourier_(std::make_unique<Fourier>()) {
  if (!is_window(window))
    throw ConfigError("window = " + std::to_string(window) +
                      ", but the samples of a frame must be 8 at least, a multiple of 4, and have "
                      "no prime factor above 11; " +
                      std::to_string(nearest_window(window)) + " is the nearest");
  // sqrt(sin^2(pi n / window)).
  for (int n = 0; n < window; ++n)
    root_hann_.push_back(static_cast<float>(std::sin(std::numbers::pi * n / window)));
  fourier_->fft.SetFlag(Eigen::FFT<float>::HalfSpectrum);
  fourier_->samples.resize(static_cast<std::size_t>(window));
  fourier_->spectrum.resize(static_cast<std::size_t>(bins()));
}

Stft::~Stft() = default;
Stft::Stft(Stft&&) noexcept = default;
Stft& Stft::operator=(Stft&&) noexcept = default;

int Stft::frames(std::size_t samples) const {
  if (samples == 0) return 0;
  const auto last = samples - 1 + static_cast<std::size_t>(window_ - hop());
  return static_cast<int>(last / static_cast<std::size_t>(hop())) + 1;
}

void Stft::forward_frame(const float* samples, std::complex<float>* spectrum) {
  for (std::size_t n = 0; n < root_hann_.size(); ++n)
    fourier_->samples[n] = samples[n] * root_hann_[n];
  fourier_->fft.fwd(fourier_->spectrum.data(), fourier_->samples.data(), window_);
  std::copy(fourier_->spectrum.begin(), fourier_->spectrum.end(), spectrum);
}

void Stft::inverse_frame(const std::complex<float>* spectrum, float* samples) {
  std::copy_n(spectrum, bins(), fourier_->spectrum.begin());
  fourier_->fft.inv(fourier_->samples.data(), fourier_->spectrum.data(), window_);
  for (std::size_t n = 0; n < root_hann_.size(); ++n)
    samples[n] = 0.5f * fourier_->samples[n] * root_hann_[n];
}

Spectrogram Stft::forward(std::span<const float> signal) {
  Spectrogram result{frames(signal.size()), bins(), {}};
  result.values.resize(static_cast<std::size_t>(result.frames) *
                       static_cast<std::size_t>(result.bins));
  std::vector<float> frame(static_cast<std::size_t>(window_));
  const auto end = static_cast<std::ptrdiff_t>(signal.size());
  for (int t = 0; t < result.frames; ++t) {
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(t + 1) * hop() - window_;
    for (std::ptrdiff_t n = 0; n < window_; ++n) {
      const std::ptrdiff_t at = first + n;
      frame[static_cast<std::size_t>(n)] =
          at >= 0 && at < end ? signal[static_cast<std::size_t>(at)] : 0;
    }
    forward_frame(frame.data(), result.frame(t).data());
  }
  return result;
}

std::vector<float> Stft::inverse(const Spectrogram& spectrogram, std::size_t samples) {
  std::vector<float> signal(samples), frame(static_cast<std::size_t>(window_));
  const auto end = static_cast<std::ptrdiff_t>(samples);
  for (int t = 0; t < spectrogram.frames; ++t) {
    inverse_frame(spectrogram.frame(t).data(), frame.data());
    const std::ptrdiff_t first = static_cast<std::ptrdiff_t>(t + 1) * hop() - window_;
    for (std::ptrdiff_t n = std::max<std::ptrdiff_t>(0, -first);
         n < std::min<std::ptrdiff_t>(window_, end - first); ++n)
      signal[static_cast<std::size_t>(first + n)] += frame[static_cast<std::size_t>(n)];
  }
  return signal;
}

}  // namespace kalmia::audio
