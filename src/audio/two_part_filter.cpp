#include "audio/two_part_filter.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::audio {
namespace {

// The autocovariance at lag k, continued by the coefficients where it is not known.
std::vector<double> continued(const Autoregression& process, std::size_t lags) {
  std::vector<double> r = process.autocovariance;
  while (r.size() < lags) {
    double next = 0;
    for (std::size_t k = 0; k < process.coefficients.size(); ++k)
      next += process.coefficients[k] * r[r.size() - 1 - k];
    r.push_back(next);
  }
  return r;
}

// The covariance of `count` samples of a process that goes on like this, in a block of `P`.
void set_stationary(const Autoregression& process, std::size_t first, std::size_t count,
                    std::size_t size, std::vector<double>& P) {
  const std::vector<double> r = continued(process, count);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < count; ++j)
      P[(first + i) * size + first + j] = r[i > j ? i - j : j - i];
}

std::vector<float> power_of(std::span<const std::complex<float>> frame) {
  std::vector<float> power;
  for (const std::complex<float>& each : frame) power.push_back(std::norm(each));
  return power;
}

}  // namespace

TwoPartFilter::TwoPartFilter(const Autoregression& speech, const Autoregression& noise)
    : speech_(speech.coefficients.size()),
      noise_(noise.coefficients.size()),
      size_(speech_ + 1 + noise_),
      a_(speech.coefficients),
      b_(noise.coefficients),
      speech_innovation_(speech.innovation),
      noise_innovation_(noise.innovation),
      mean_(size_),
      covariance_(size_ * size_),
      gain_(size_),
      row_(size_) {
  set_stationary(speech, 0, speech_ + 1, size_, covariance_);
  set_stationary(noise, speech_ + 1, noise_, size_, covariance_);
}

void TwoPartFilter::set_speech(const Autoregression& speech) {
  a_ = speech.coefficients;
  speech_innovation_ = speech.innovation;
}

// mean <- F mean, P <- F P F' + Q. F moves each part by a sample and puts a new one first, so that
// of F P only two rows are sums; the others are rows of P.
void TwoPartFilter::predict() {
  const auto move = [&](std::size_t first, std::size_t count, const std::vector<double>& by) {
    double* P = covariance_.data();
    double next = 0;
    std::fill(row_.begin(), row_.end(), 0.0);
    for (std::size_t k = 0; k < by.size(); ++k) {
      next += by[k] * mean_[first + k];
      for (std::size_t j = 0; j < size_; ++j) row_[j] += by[k] * P[(first + k) * size_ + j];
    }
    double variance = 0;
    for (std::size_t k = 0; k < by.size(); ++k) variance += by[k] * row_[first + k];
    for (std::size_t i = count - 1; i > 0; --i) {
      mean_[first + i] = mean_[first + i - 1];
      std::copy_n(P + (first + i - 1) * size_, size_, P + (first + i) * size_);
    }
    for (std::size_t r = 0; r < size_; ++r)
      for (std::size_t i = count - 1; i > 0; --i)
        P[r * size_ + first + i] = P[r * size_ + first + i - 1];
    for (std::size_t i = count - 1; i > 0; --i) row_[first + i] = row_[first + i - 1];
    row_[first] = variance;
    mean_[first] = next;
    for (std::size_t j = 0; j < size_; ++j) P[first * size_ + j] = P[j * size_ + first] = row_[j];
  };
  move(0, speech_ + 1, a_);
  move(speech_ + 1, noise_, b_);
  covariance_[0] += speech_innovation_;
  const std::size_t v = speech_ + 1;
  covariance_[v * size_ + v] += noise_innovation_;
}

double TwoPartFilter::step(double heard) {
  if (started_) predict();
  started_ = true;
  // y = H x with ones at s[n] and v[n], measured exactly: gain = P H' / (H P H').
  const std::size_t v = speech_ + 1;
  for (std::size_t i = 0; i < size_; ++i)
    row_[i] = covariance_[i * size_] + covariance_[i * size_ + v];
  const double variance = row_[0] + row_[v];
  const double innovation = heard - mean_[0] - mean_[v];
  for (std::size_t i = 0; i < size_; ++i) {
    gain_[i] = row_[i] / variance;
    mean_[i] += gain_[i] * innovation;
    for (std::size_t j = 0; j < size_; ++j) covariance_[i * size_ + j] -= gain_[i] * row_[j];
  }
  return mean_[speech_];
}

std::vector<float> two_part_filter(std::span<const float> noisy, const Spectrogram& speech,
                                   std::span<const float> noise_power,
                                   const TwoPartOptions& options) {
  if (noisy.empty()) return {};
  const int window = 2 * (speech.bins - 1), hop = window / Stft::kOverlap;
  // The frame in whose middle, give or take half a hop, a sample is.
  const auto dynamics = [&](int t) {
    t = std::clamp(t, 0, speech.frames - 1);
    return autoregression(autocovariance_of(power_of(speech.frame(t)), options.speech_order));
  };
  const int lead = window / 2 - hop / 2;
  TwoPartFilter filter(dynamics(lead / hop),
                       autoregression(autocovariance_of(noise_power, options.noise_order)));
  const auto ahead = static_cast<std::size_t>(filter.look_ahead());
  std::vector<float> result(noisy.size());
  for (std::size_t n = 0; n < noisy.size() + ahead; ++n) {
    // After the end nothing more is known of samples that are in the state.
    const int at = static_cast<int>(n) + lead;
    if (n > 0 && n < noisy.size() && at % hop == 0) filter.set_speech(dynamics(at / hop));
    const double estimate = n < noisy.size() ? filter.step(noisy[n])
                                             : filter.later(std::min(n - noisy.size() + 1, ahead));
    if (n >= ahead) result[n - ahead] = static_cast<float>(estimate);
  }
  return result;
}

}  // namespace kalmia::audio
