#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "audio/whitening.hpp"
#include "reproduce/audio_methods.hpp"
#include "reproduce/tasks.hpp"

namespace kalmia::reproduction {
namespace {

// Recordings that a fit reads, at most: more samples than it takes in.
constexpr std::size_t kFitted = 200, kHeldOut = 10;
// In quick runs; what is held out is read at every check, which then takes longer than training.
constexpr std::size_t kQuickHeldOut = 2;
constexpr int kQuickUpdates = 100;

// Recordings as series, and the way back.
struct Levelling {
  Dataset data;
  std::vector<audio::Whitening> ways;
};

Levelling levelled_series(const Sounds& sounds, Levelled levelled, std::size_t most) {
  Levelling result;
  result.data.y_names = {"y"};
  result.data.key_name = "recording";
  for (std::size_t i = 0; i < std::min(most, sounds.size()); ++i) {
    audio::Whitening& way = result.ways.emplace_back(audio::noise_whitening(sounds[i]));
    if (levelled == Levelled::Scaled) way.taps.clear();
    const Sound values = way.forward(sounds[i]);
    Series& series = result.data.series.emplace_back();
    series.key = std::to_string(i + 1);
    series.steps = static_cast<int>(values.size());
    series.y.assign(values.begin(), values.end());
  }
  return result;
}

// The first state of every step is what is measured.
Sounds sounds_of(const Estimates& estimates, const Levelling& levelling) {
  const std::size_t N = estimates.state_names.size();
  Sounds sounds;
  for (std::size_t i = 0; i < estimates.series.size(); ++i) {
    Sound values(static_cast<std::size_t>(estimates.series[i].steps));
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = static_cast<float>(estimates.series[i].mean[k * N]);
    sounds.push_back(levelling.ways[i].inverse(values));
  }
  return sounds;
}

Sounds predictions(const std::vector<Innovations>& innovations, const Levelling& levelling) {
  Sounds sounds;
  for (std::size_t i = 0; i < innovations.size(); ++i) {
    const std::vector<double>& y = levelling.data.series[i].y;
    Sound values(y.size());
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = static_cast<float>(y[k] - innovations[i].residual[k]);
    sounds.push_back(levelling.ways[i].inverse(values));
  }
  return sounds;
}

std::vector<AudioOutcome> run_fit(FitOptions options, Levelled levelled,
                                  const std::vector<FittedSound>& sounds, const AudioWork& work) {
  options.train.seed = work.seed;
  options.train.threads = work.threads;
  if (work.quick) options.train.updates = kQuickUpdates;
  const FitResult fitted = fit(
      levelled_series(work.noisy->training, levelled, kFitted).data,
      levelled_series(work.noisy->validation, levelled, work.quick ? kQuickHeldOut : kHeldOut).data,
      options, {}, [&work](const FitProgress&) { return !work.go_on || work.go_on(); });
  const FitSummary& summary = fitted.summary;
  const Levelling test = levelled_series(work.noisy->test, levelled, work.noisy->test.size());
  const Analysis analysis = fitted.model.analyse(test.data, work.threads, {"linearized", 0});
  std::vector<AudioOutcome> outcomes;
  for (const FittedSound& each : sounds) {
    AudioOutcome& outcome = outcomes.emplace_back();
    const bool trained = each.heard == Heard::Trained && summary.has_smoother();
    if (trained)
      outcome.estimates = sounds_of(fitted.model.smooth(test.data, work.threads), test);
    else if (each.heard == Heard::Predicted)
      outcome.estimates = predictions(analysis.innovations, test);
    else
      outcome.estimates =
          sounds_of(each.heard == Heard::Filtered ? analysis.filtered : analysis.smoothed, test);
    outcome.held_out = trained ? summary.smoother->held_out : summary.best_held_out;
    outcome.networks_kept =
        each.heard == Heard::Trained ? summary.has_smoother() : summary.networks.kept;
  }
  return outcomes;
}

}  // namespace

AudioTask fitted_audio(const FitOptions& options, Levelled levelled,
                       std::vector<FittedSound> sounds, double seconds) {
  AudioTask task;
  for (FittedSound& each : sounds) {
    each.method.settings = fmt::format("{}; {} recordings, {} held out; {}",
                                       levelled == Levelled::Whitened ? "whitened" : "scaled",
                                       kFitted, kHeldOut, settings_text(options));
    task.methods.push_back(each.method);
  }
  task.cost = [seconds](const AudioOptions& given) {
    return (given.quick ? 0.1 : 1.0) * seconds + 0.02 * given.test;
  };
  task.run = [options, levelled, sounds = std::move(sounds)](const AudioWork& work) {
    return run_fit(options, levelled, sounds, work);
  };
  return task;
}

}  // namespace kalmia::reproduction
