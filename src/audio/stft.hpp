// Short-time spectra of sound, and back.
#pragma once

#include <complex>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace kalmia::audio {

/// Spectra of frames, frame after frame.
struct Spectrogram {
  int frames = 0;
  int bins = 0;  ///< 0 to half the rate
  std::vector<std::complex<float>> values;

  std::span<std::complex<float>> frame(int t) { return {values.data() + begin(t), width()}; }
  std::span<const std::complex<float>> frame(int t) const {
    return {values.data() + begin(t), width()};
  }

 private:
  std::size_t begin(int t) const { return static_cast<std::size_t>(t) * width(); }
  std::size_t width() const { return static_cast<std::size_t>(bins); }
};

/// The window nearest to this many samples that Stft takes.
int nearest_window(double samples);

/// Frames of `window` samples, a quarter of that apart, seen through the root of a Hann window.
/// Frames seen through it once more and added up give the signal again, twice: the squares of the
/// four windows over a sample sum to 2.
///
/// Frame t holds the samples from (t + 1) hop - window on, those outside the signal being 0: the
/// first frame ends with the first `hop` samples, the last begins with the last sample or before.
class Stft {
 public:
  /// Throws ConfigError unless `window` is 8 at least, a multiple of 4 and a product of primes up
  /// to 11, of which spectra are fast.
  explicit Stft(int window);
  ~Stft();
  Stft(Stft&&) noexcept;
  Stft& operator=(Stft&&) noexcept;

  /// Frames over a sample.
  static constexpr int kOverlap = 4;

  int window() const { return window_; }
  int hop() const { return window_ / kOverlap; }
  int bins() const { return window_ / 2 + 1; }
  /// Frames of so many samples.
  int frames(std::size_t samples) const;

  Spectrogram forward(std::span<const float> signal);
  /// The signal of `samples` samples whose frames these are; of frames that fit no signal, the
  /// nearest one in mean square.
  std::vector<float> inverse(const Spectrogram& spectrogram, std::size_t samples);

  /// One frame: `window` samples to `bins` numbers, and back; both through the window, the way back
  /// with the factor 1/2.
  void forward_frame(const float* samples, std::complex<float>* spectrum);
  void inverse_frame(const std::complex<float>* spectrum, float* samples);

 private:
  struct Fourier;
  int window_ = 0;
  std::vector<float> root_hann_;
  std::unique_ptr<Fourier> fourier_;
};

}  // namespace kalmia::audio
