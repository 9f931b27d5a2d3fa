#include "reproduce/audio_methods.hpp"

#include <algorithm>

#include "base/suggest.hpp"
#include "reproduce/experiment.hpp"

namespace kalmia::reproduction {
namespace {

// A line of the paper's table, whose columns are ours.
std::vector<AudioPaperFigure> paper(const std::vector<double>& mse) {
  std::vector<AudioPaperFigure> figures;
  const std::vector<std::string> names = noise_names();
  for (std::size_t i = 0; i < names.size(); ++i) figures.push_back({names[i], mse[i]});
  return figures;
}

AudioTask kalman() {
  AudioTask task = supervised_kalman_audio();
  task.methods[0].paper = paper({0.225, 0.230, 0.232, 0.237, 0.235, 0.230, 0.227});
  return task;
}

// Speech, sample by sample. The state is the sample itself: what would be the taps of a companion
// matrix is the networks' to say, which read all that came before, and a state of 8 to 16 samples
// with its covariances takes some twenty times as long to filter. The noise is known, since
// recordings are brought to it: white, of unit variance.
FitOptions sample_by_sample() {
  FitOptions options;
  options.model.effort = "quick";
  options.model.calibrate = false;
  options.model.prior = "mean-reverting";
  options.model.noise = std::string("1");
  options.train.updates = 1500;
  options.train.window = 64;
  return options;
}

FitOptions recurrent_options() {
  FitOptions options = sample_by_sample();
  options.model.filter = "recurrent";
  return options;
}

// As the paper has them: the noise is not made white. Noise2Noise predicts a sample from those
// before it, which is what the filter does before it sees the sample.
AudioTask recurrent_plain() {
  return fitted_audio(
      recurrent_options(), Levelled::Scaled,
      {{{"noise2noise", "networks predict a sample from those before it, whatever its own value",
         true, true, paper({0.327, 0.399, 0.448, 0.430, 0.440, 0.383, 0.526})},
        Heard::Predicted},
       {{"recurrent-plain", "networks give the sample directly", true, true,
         paper({0.102, 0.207, 0.213, 0.200, 0.234, 0.175, 0.181})},
        Heard::Filtered}},
      50);
}

AudioTask recursive_plain() {
  return fitted_audio(sample_by_sample(), Levelled::Scaled,
                      {{{"recursive-plain", "networks say how a sample follows from the last", true,
                         true, paper({0.107, 0.206, 0.213, 0.198, 0.232, 0.166, 0.175})},
                        Heard::Filtered},
                       {{"recursive-plain-linearized", "the same, then the linearized smoother",
                         true, true, paper({0.100, 0.204, 0.215, 0.197, 0.231, 0.166, 0.176})},
                        Heard::Linearized}},
                      50);
}

// The same methods on recordings whose noise was made white first.
AudioTask recurrent_audio() {
  return fitted_audio(
      recurrent_options(), Levelled::Whitened,
      {{{"recurrent-filter", "recurrent-plain after the noise was made white", true, false},
        Heard::Filtered}},
      50);
}

// One fit for three methods.
AudioTask recursive_audio() {
  FitOptions options = sample_by_sample();
  options.model.smoother = "fused";
  return fitted_audio(
      options, Levelled::Whitened,
      {{{"recursive-filter", "recursive-plain after the noise was made white", true, false},
        Heard::Filtered},
       {{"recursive-linearized", "the same, then the linearized smoother", true, false},
        Heard::Linearized},
       {{"recursive-fused", "the same, then the leak-free smoother of two-sided networks", true,
         false},
        Heard::Trained}},
      80);
}

}  // namespace

std::vector<AudioTask> audio_tasks() {
  return {raw_audio(),         kalman(),          recurrent_plain(),    recursive_plain(),
          recurrent_audio(),   recursive_audio(), wiener_quiet_audio(), wiener_known_audio(),
          noise_model_audio(), gains_audio(),     wiener_oracle_audio()};
}

std::vector<AudioTask> audio_tasks_with(const std::vector<std::string>& names) {
  std::vector<AudioTask> tasks = audio_tasks();
  std::vector<std::string> all;
  for (const AudioTask& task : tasks)
    for (const AudioMethod& method : task.methods) all.push_back(method.name);
  for (const std::string& name : names)
    if (std::find(all.begin(), all.end(), name) == all.end())
      throw ConfigError("methods: audio has no method \"" + name + "\"" + did_you_mean(name, all) +
                        " (--list shows all)");
  if (names.empty()) return tasks;
  std::erase_if(tasks, [&names](const AudioTask& task) {
    return std::none_of(task.methods.begin(), task.methods.end(), [&](const AudioMethod& method) {
      return std::find(names.begin(), names.end(), method.name) != names.end();
    });
  });
  return tasks;
}

}  // namespace kalmia::reproduction
