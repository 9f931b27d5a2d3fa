// Speech and noise as two parts of one state, each with dynamics of its own.
#pragma once

#include <span>
#include <vector>

#include "audio/autoregression.hpp"
#include "audio/stft.hpp"

namespace kalmia::audio {

/// What is heard is y[n] = s[n] + v[n]. The state holds the last samples of both,
///
///   (s[n], ..., s[n-p], v[n], ..., v[n-q+1]),
///
/// s moves by an autoregression of order p that may change, v by one of order q. Samples that are
/// kept in the state go on being corrected: s[n-p], which leaves it, has been seen with the p
/// samples after it, a smoother with a look-ahead for the price of a filter.
class TwoPartFilter {
 public:
  /// `speech`: the dynamics at the start.
  TwoPartFilter(const Autoregression& speech, const Autoregression& noise);

  /// From now on speech moves so. Of the same order.
  void set_speech(const Autoregression& speech);
  /// Takes in the next sample. Returns E s[n-p | y[0 .. n]].
  double step(double heard);
  /// E s[n-p+k | y[0 .. n]] of the last step, k = 0 .. p.
  double later(std::size_t k) const { return mean_[speech_ - k]; }
  /// p: samples that step() looks ahead.
  int look_ahead() const { return static_cast<int>(speech_); }

 private:
  void predict();

  std::size_t speech_, noise_;  // p, q
  std::size_t size_;            // p + 1 + q
  std::vector<double> a_, b_;   // coefficients of speech and noise
  double speech_innovation_, noise_innovation_;
  std::vector<double> mean_, covariance_;  // size_, size_ x size_
  std::vector<double> gain_, row_;
  bool started_ = false;
};

struct TwoPartOptions {
  int speech_order = 20;
  int noise_order = 20;
};

/// The speech of a recording. The noise's dynamics follow from its power in each bin, those of
/// speech, anew for every hop, from the frames of a first estimate of it (`speech`: of the Wiener
/// filter, or of networks).
std::vector<float> two_part_filter(std::span<const float> noisy, const Spectrogram& speech,
                                   std::span<const float> noise_power,
                                   const TwoPartOptions& options = {});

}  // namespace kalmia::audio
