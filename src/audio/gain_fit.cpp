#include "audio/gain_fit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "audio/denoiser.hpp"
#include "audio/gain_data.hpp"
#include "kalmia/error.hpp"

namespace kalmia::audio {
namespace {

using Clock = std::chrono::steady_clock;

// Frames of a piece: a second.
constexpr int kPieceFrames = 125;
constexpr int kBatch = 8;
constexpr std::size_t kFewestPieces = 4;
constexpr std::size_t kMostPieces = 256;
// One of so many pieces is held out. They are looked at often, so that not many are.
constexpr std::size_t kHeldOutEvery = 4, kMostPiecesHeldOut = 16;
constexpr double kSilence = 1e-5;
// The rate is low: networks that know speech already must not forget it.
constexpr double kLearningRate = 1e-3;
constexpr int kTimedUpdates = 5, kFewestUpdates = 20, kMostUpdates = 5000;

double root_mean_square(std::span<const float> samples) {
  double sum = 0;
  for (const float x : samples) sum += static_cast<double>(x) * x;
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, samples.size())));
}

// Pieces of all channels in turn, evenly from the whole recording: when there are too many, every
// other one goes, and from then on only every other one is kept.
std::vector<std::vector<float>> read_pieces(data::SoundReader& sound, std::size_t length) {
  const auto channels = static_cast<std::size_t>(sound.info().channels);
  std::vector<float> block(length * channels);
  std::vector<std::vector<float>> pieces;
  std::size_t every = 1;
  for (std::size_t count = 0;; ++count) {
    std::size_t filled = 0;
    while (filled < block.size()) {
      const std::size_t got = sound.read(std::span(block).subspan(filled));
      if (got == 0) return pieces;
      Denoiser::check_samples(std::span(block).subspan(filled, got),
                              count * length + filled / channels, channels);
      filled += got;
    }
    if (count % every != 0) continue;
    std::vector<float> piece;
    for (std::size_t i = count / every % channels; i < block.size(); i += channels)
      piece.push_back(block[i]);
    if (!(root_mean_square(piece) > kSilence)) continue;
    pieces.push_back(std::move(piece));
    if (pieces.size() <= kMostPieces) continue;
    for (std::size_t i = 0; 2 * i < pieces.size(); ++i) pieces[i] = std::move(pieces[2 * i]);
    pieces.resize((pieces.size() + 1) / 2);
    every *= 2;
  }
}

struct Pieces {
  GainData training, held_out;
};

Pieces split(const std::vector<std::vector<float>>& pieces, int window, Stft& stft) {
  Stft own(window);
  std::vector<std::vector<float>> training, held_out;
  const std::size_t every = std::max(kHeldOutEvery, pieces.size() / kMostPiecesHeldOut);
  for (std::size_t i = 0; i < pieces.size(); ++i)
    (i % every == 1 ? held_out : training).push_back(at_rate_of(stft, own, pieces[i]));
  return {gain_data(std::move(training), stft.window()),
          gain_data(std::move(held_out), stft.window())};
}

}  // namespace

std::vector<float> at_rate_of(Stft& to, Stft& from, std::span<const float> piece) {
  if (to.window() == from.window()) return {piece.begin(), piece.end()};
  const Spectrogram wide = from.forward(piece);
  Spectrogram narrow{wide.frames, to.bins(), {}};
  const float scale = static_cast<float>(to.window()) / static_cast<float>(from.window());
  for (int t = 0; t < wide.frames; ++t)
    for (std::size_t f = 0; f < static_cast<std::size_t>(to.bins()); ++f)
      narrow.values.push_back(scale * wide.frame(t)[f]);
  const std::size_t length = piece.size() * static_cast<std::size_t>(to.window()) /
                             static_cast<std::size_t>(from.window());
  return to.inverse(narrow, length);
}

DenoiseFit fit_gains(GainModel& model, const std::string& source, data::SoundReader& sound,
                     int window, const GainFitOptions& options, ThreadTeam& team,
                     const std::function<bool(double)>& progress) {
  const Clock::time_point start = Clock::now();
  const auto elapsed = [start] {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  if (window < model.sizes().window)
    throw DataError(source + ": " + std::to_string(sound.info().rate) +
                    " samples a second, but networks can be trained from 16000 on; leave out the "
                    "fit");
  Stft stft(model.sizes().window);
  const auto length = static_cast<std::size_t>(kPieceFrames * window / Stft::kOverlap);
  std::vector<std::vector<float>> pieces;
  try {
    pieces = read_pieces(sound, length);
  } catch (const DataError& error) {
    throw DataError(source + ": " + error.what());
  }
  if (pieces.size() < kFewestPieces)
    throw DataError(source + ": " + std::to_string(pieces.size()) +
                    " pieces of a second in which something is heard, but a fit needs " +
                    std::to_string(kFewestPieces) + "; leave out the fit");
  const Pieces data = split(pieces, window, stft);

  GainTraining training;
  training.seed = options.seed;
  training.learning_rate = kLearningRate;
  training.batch = kBatch;
  // Some updates of a copy show how long an update takes.
  training.updates = kTimedUpdates;
  GainModel copy(model.sizes(), model.parameters());
  const double timed = train_gains(copy, data.training, data.held_out, training, team, {}).seconds;
  const double left = std::max(0.0, options.seconds - elapsed());
  training.updates = static_cast<int>(
      std::clamp(left / (timed / kTimedUpdates), double{kFewestUpdates}, double{kMostUpdates}));
  const train::LoopResult result =
      train_gains(model, data.training, data.held_out, training, team, [&](FitProgress& p) {
        return progress(static_cast<double>(p.update) / p.updates) &&
               (elapsed() < options.seconds || p.update < kFewestUpdates);
      });
  return {elapsed(), result.updates, result.best_update > 0};
}

}  // namespace kalmia::audio
