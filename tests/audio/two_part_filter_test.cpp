#include "audio/two_part_filter.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "audio/noise_power.hpp"
#include "audio/sound_cases.hpp"
#include "audio/sound_metrics.hpp"
#include "audio/wiener.hpp"

namespace kalmia::test {
namespace {

using audio::Autoregression;
using audio::Spectrogram;
using audio::Stft;
using audio::TwoPartFilter;

constexpr int kSteps = 20;

// Covariance of kSteps samples that go on as the coefficients say.
Eigen::MatrixXd covariance(const Autoregression& process) {
  std::vector<double> r = process.autocovariance;
  while (static_cast<int>(r.size()) < kSteps) {
    double next = 0;
    for (std::size_t k = 0; k < process.coefficients.size(); ++k)
      next += process.coefficients[k] * r[r.size() - 1 - k];
    r.push_back(next);
  }
  Eigen::MatrixXd C(kSteps, kSteps);
  for (int i = 0; i < kSteps; ++i)
    for (int j = 0; j < kSteps; ++j) C(i, j) = r[static_cast<std::size_t>(std::abs(i - j))];
  return C;
}

// Of s given y[0 .. last], y = s + v.
Eigen::VectorXd dense(const Eigen::MatrixXd& S, const Eigen::MatrixXd& V, const Eigen::VectorXd& y,
                      int last) {
  const int count = last + 1;
  const Eigen::MatrixXd heard = (S + V).topLeftCorner(count, count);
  return S.leftCols(count) * heard.ldlt().solve(y.head(count));
}

TEST(TwoPartFilter, IsTheJointPosteriorOfASpeechThatStaysAsItIs) {
  for (const int p : {1, 3, 5})
    for (const int q : {1, 2, 4}) {
      // Of orders 2 and 1, seen as of orders p and q.
      std::vector<double> speech{5, 3.5}, noise{2};
      while (static_cast<int>(speech.size()) <= p)
        speech.push_back(1.1 * speech[speech.size() - 1] - 0.57 * speech[speech.size() - 2]);
      speech.resize(static_cast<std::size_t>(p) + 1);
      while (static_cast<int>(noise.size()) <= q) noise.push_back(-0.6 * noise.back());
      const Autoregression s = audio::autoregression(speech), v = audio::autoregression(noise);
      const Eigen::MatrixXd S = covariance(s), V = covariance(v);
      RandomStream random(7, "heard");
      Eigen::VectorXd y(kSteps);
      for (int n = 0; n < kSteps; ++n) y[n] = 2 * random.normal();
      TwoPartFilter filter(s, v);
      ASSERT_EQ(filter.look_ahead(), p);
      for (int n = 0; n < kSteps; ++n) {
        const double left = filter.step(y[n]);
        const Eigen::VectorXd expected = dense(S, V, y, n);
        if (n >= p) {
          EXPECT_NEAR(left, expected[n - p], 1e-6) << p << " " << q << " " << n;
        }
        for (int k = 0; k <= std::min(n, p); ++k)
          EXPECT_NEAR(filter.later(static_cast<std::size_t>(p - k)), expected[n - k], 1e-6);
      }
    }
}

TEST(TwoPartFilter, FollowsSpeechThatChanges) {
  // With dynamics that say there is no speech, all is noise; then with those of a strong one.
  const Autoregression none = audio::autoregression(std::vector<double>{1e-9, 0});
  const Autoregression strong = audio::autoregression(std::vector<double>{1e3, 0});
  TwoPartFilter filter(none, audio::autoregression(std::vector<double>{1, 0.1}));
  filter.step(1);
  filter.step(1);
  EXPECT_NEAR(filter.later(1), 0, 1e-6);
  filter.set_speech(strong);
  filter.step(1);
  // The noise is known to have been 1, a tenth of it is left, and the rest must be speech.
  EXPECT_NEAR(filter.later(1), 0.9, 2e-3);
}

TEST(TwoPartFilter, TakesColouredNoiseOutOfAVoice) {
  Stft stft(512);
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const std::vector<float> clean = voice(16000, seed);
    const std::vector<float> noisy = sum(clean, rumble(16000, 0.5, seed));
    const Spectrogram frames = stft.forward(noisy);
    const std::vector<float> power = audio::noise_power(frames);
    Spectrogram speech = frames;
    wiener_filter(power, {}, speech);
    const std::vector<float> found = two_part_filter(noisy, speech, power);
    ASSERT_EQ(found.size(), noisy.size());
    EXPECT_LT(audio::mean_square_error(found, clean), 0.4 * audio::mean_square_error(noisy, clean));
  }
}

TEST(TwoPartFilter, ShortAndSilentRecordings) {
  Stft stft(64);
  for (const int samples : {0, 1, 5, 30, 200}) {
    const std::vector<float> silence(static_cast<std::size_t>(samples), 0.0f);
    const Spectrogram frames = stft.forward(silence);
    EXPECT_EQ(two_part_filter(silence, frames, audio::noise_power(frames)), silence);
  }
}

}  // namespace
}  // namespace kalmia::test
