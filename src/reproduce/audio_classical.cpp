#include <algorithm>
#include <cmath>
#include <map>

#include "audio/noise_power.hpp"
#include "audio/sound_metrics.hpp"
#include "audio/stft.hpp"
#include "audio/whitening.hpp"
#include "audio/wiener.hpp"
#include "reproduce/audio_methods.hpp"
#include "reproduce/supervised_noise.hpp"

namespace kalmia::reproduction {
namespace {

using audio::Spectrogram;

constexpr int kWindow = 512;
// Of the clean predictor; and utterances that it is tuned on, at most.
constexpr int kSpeechOrder = 8;
constexpr std::size_t kTuning = 32;
// Series in one call of the classical filter, whose results take 8 bytes x order x steps each.
constexpr std::size_t kTogether = 16;

Sounds filtered(const LinearModel& model, const Sounds& noisy, int threads) {
  FilterOptions keep;
  keep.predicted = keep.covariances = keep.innovations = false;
  keep.threads = threads;
  const auto N = static_cast<std::size_t>(model.state_dim);
  Sounds result;
  for (std::size_t first = 0; first < noisy.size(); first += kTogether) {
    const std::size_t series = std::min(kTogether, noisy.size() - first);
    std::size_t steps = 0;
    std::vector<int> lengths;
    for (std::size_t i = 0; i < series; ++i) {
      steps = std::max(steps, noisy[first + i].size());
      lengths.push_back(static_cast<int>(noisy[first + i].size()));
    }
    std::vector<double> y(series * steps);
    for (std::size_t i = 0; i < series; ++i)
      std::copy(noisy[first + i].begin(), noisy[first + i].end(),
                y.begin() + static_cast<std::ptrdiff_t>(i * steps));
    const FilterResult found = kalman_filter(
        model, {y.data(), static_cast<int>(series), static_cast<int>(steps), 1, lengths}, keep);
    for (std::size_t i = 0; i < series; ++i) {
      Sound& sound = result.emplace_back(noisy[first + i].size());
      for (std::size_t k = 0; k < sound.size(); ++k)
        sound[k] = static_cast<float>(found.filtered.mean[(i * steps + k) * N]);
    }
  }
  return result;
}

// Mean over utterances of the error where they are heard.
double error_of(const Sounds& estimates, const Sounds& clean) {
  double sum = 0;
  for (std::size_t i = 0; i < estimates.size(); ++i)
    sum += audio::mean_square_error(estimates[i], clean[i], audio::heard(clean[i], kHeardFrame));
  return sum / static_cast<double>(estimates.size());
}

// The clean utterances, one after the other, where they are heard.
Sound heard_speech(const Sounds& clean) {
  Sound all;
  for (const Sound& each : clean) {
    const std::vector<std::uint8_t> where = audio::heard(each, kHeardFrame);
    for (std::size_t n = 0; n < each.size(); ++n)
      if (where[n] != 0) all.push_back(each[n]);
  }
  return all;
}

// q of least error, by golden section in its logarithm.
double tuned(const std::function<double(double q)>& error, double low, double high) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double a = std::log(low), b = std::log(high);
  double c = b - golden * (b - a), d = a + golden * (b - a);
  double at_c = error(std::exp(c)), at_d = error(std::exp(d));
  for (int round = 0; round < 12; ++round) {
    if (at_c < at_d) {
      b = d, d = c, at_d = at_c;
      at_c = error(std::exp(c = b - golden * (b - a)));
    } else {
      a = c, c = d, at_c = at_d;
      at_d = error(std::exp(d = a + golden * (b - a)));
    }
  }
  return std::exp((a + b) / 2);
}

// A predictor of clean speech; its process noise has the covariance of least error: first its one
// entry that is not zero, then all.
LinearModel supervised_model(const Sounds& noisy, const Sounds& clean, int threads) {
  const auto first = [](const Sounds& all) {
    return Sounds(all.begin(),
                  all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), kTuning)));
  };
  const Sounds mine = first(noisy), truth = first(clean);
  const audio::Whitening speech =
      audio::noise_whitening(heard_speech(truth), {kSpeechOrder, 1, kWindow});
  if (speech.taps.empty())
    throw NumericalError(
        "kalman-supervised: clean training utterances are silent, but they must "
        "not be for a predictor to be found");
  const double start = speech.deviation * speech.deviation;
  LinearModel model = autoregression(speech.taps, start, kNoiseLevel * kNoiseLevel);
  const auto error = [&] { return error_of(filtered(model, mine, threads), truth); };
  const auto error_of_variance = [&](double q) {
    model.Q[0] = q;
    return error();
  };
  model.Q[0] = tuned(error_of_variance, 1e-3 * start, 1e3 * start);
  model.Q = tune_process_noise(model.Q, model.state_dim, [&](const std::vector<double>& Q) {
    model.Q = Q;
    return error();
  });
  return model;
}

double seconds_of(const AudioOptions& options, double each) { return each * options.test; }

// Each recording's spectrum is changed and made sound again.
Sounds spectrally(const Sounds& noisy,
                  const std::function<void(std::size_t, audio::Stft&, Spectrogram&)>& change) {
  audio::Stft stft(kWindow);
  Sounds result;
  for (std::size_t i = 0; i < noisy.size(); ++i) {
    Spectrogram spectrogram = stft.forward(noisy[i]);
    change(i, stft, spectrogram);
    result.push_back(stft.inverse(spectrogram, noisy[i].size()));
  }
  return result;
}

std::vector<float> average_power(const Sound& noise) {
  audio::Stft stft(kWindow);
  const Spectrogram spectrogram = stft.forward(noise);
  std::vector<int> frames;
  for (int t = audio::Stft::kOverlap - 1; t <= spectrogram.frames - audio::Stft::kOverlap; ++t)
    frames.push_back(t);
  return mean_power(spectrogram, frames);
}

}  // namespace

LinearModel autoregression(const std::vector<double>& taps, double q, double R) {
  const std::size_t N = taps.size();
  LinearModel model;
  model.state_dim = static_cast<int>(N);
  model.meas_dim = 1;
  model.F.assign(N * N, 0.0);
  std::copy(taps.begin(), taps.end(), model.F.begin());
  for (std::size_t i = 1; i < N; ++i) model.F[i * N + i - 1] = 1;
  model.Q.assign(N * N, 0.0);
  model.Q[0] = q;
  model.H.assign(N, 0.0);
  model.H[0] = 1;
  model.R = {R};
  model.P0.assign(N * N, 0.0);
  for (std::size_t i = 0; i < N; ++i) model.P0[i * N + i] = 1;
  return model;
}

AudioTask raw_audio() {
  AudioTask task;
  task.methods = {{"raw", "the recordings themselves", true, true}};
  task.cost = [](const AudioOptions& options) { return seconds_of(options, 1e-3); };
  task.run = [](const AudioWork& work) { return std::vector<AudioOutcome>{{work.noisy->test}}; };
  return task;
}

AudioTask supervised_kalman_audio() {
  AudioTask task;
  task.methods = {{"kalman-supervised",
                   "Kalman filter of the last samples, tuned on clean speech",
                   false,
                   true,
                   {},
                   "order " + std::to_string(kSpeechOrder) + ", tuned on " +
                       std::to_string(kTuning) + " utterances"}};
  task.knows = true;
  task.cost = [](const AudioOptions& options) { return 3 + seconds_of(options, 0.01); };
  task.run = [](const AudioWork& work) {
    const LinearModel model =
        supervised_model(work.noisy->training, *work.known->training, work.threads);
    return std::vector<AudioOutcome>{{filtered(model, work.noisy->test, work.threads)}};
  };
  return task;
}

AudioTask wiener_quiet_audio() {
  AudioTask task;
  task.methods = {
      {"wiener-quiet", "spectral Wiener filter, noise from quiet frames of the recording", true}};
  task.cost = [](const AudioOptions& options) { return seconds_of(options, 5e-3); };
  task.run = [](const AudioWork& work) {
    const auto change = [](std::size_t, audio::Stft&, Spectrogram& spectrogram) {
      const std::vector<int> quiet = quiet_frames(spectrogram, {audio::Quiet::Energy, 0.2, 2});
      wiener_filter(mean_power(spectrogram, quiet), {}, spectrogram);
    };
    return std::vector<AudioOutcome>{{spectrally(work.noisy->test, change)}};
  };
  return task;
}

AudioTask wiener_known_audio() {
  AudioTask task;
  task.methods = {{"wiener-known", "the same with the noise's average spectrum known", false}};
  task.knows = true;
  task.cost = [](const AudioOptions& options) { return 0.3 + seconds_of(options, 5e-3); };
  task.run = [](const AudioWork& work) {
    std::map<std::size_t, std::vector<float>> power;
    for (const std::size_t kind : work.known->test_kind)
      if (!power.contains(kind)) power[kind] = average_power((*work.known->noise_ranges)[kind]);
    const auto change = [&](std::size_t i, audio::Stft&, Spectrogram& spectrogram) {
      wiener_filter(power.at(work.known->test_kind[i]), {}, spectrogram);
    };
    return std::vector<AudioOutcome>{{spectrally(work.noisy->test, change)}};
  };
  return task;
}

AudioTask wiener_oracle_audio() {
  AudioTask task;
  task.methods = {
      {"wiener-oracle", "Wiener gains from the true spectra of speech and noise", false}};
  task.knows = true;
  task.cost = [](const AudioOptions& options) { return seconds_of(options, 1e-2); };
  task.run = [](const AudioWork& work) {
    const auto change = [&work](std::size_t i, audio::Stft& stft, Spectrogram& spectrogram) {
      const Spectrogram S = stft.forward((*work.known->test)[i]);
      const Spectrogram N = stft.forward(work.known->test_noise[i]);
      for (std::size_t b = 0; b < spectrogram.values.size(); ++b) {
        const float speech = std::norm(S.values[b]), noise = std::norm(N.values[b]);
        spectrogram.values[b] *= speech / std::max(speech + noise, audio::kLeastPower);
      }
    };
    return std::vector<AudioOutcome>{{spectrally(work.noisy->test, change)}};
  };
  return task;
}

}  // namespace kalmia::reproduction
