// Runs the cells of the audio experiment.
#pragma once

#include <functional>
#include <vector>

#include "reproduce/audio_methods.hpp"

namespace kalmia::reproduction {

/// Called with all rows so far when a cell is finished, one thread at a time.
using RowsSoFar = std::function<void(const std::vector<AudioRow>&)>;

struct AudioRun {
  std::vector<AudioRow> rows;  ///< by method (as in the tasks), noise (as in the options)
  bool complete = false;
};

/// Prepares tasks that learn once, then runs every task on every noise of the options (resolved).
/// Tasks that do not say that they know more are given noisy recordings alone. A NumericalError
/// becomes rows with an error.
AudioRun run_audio(const std::vector<AudioTask>& tasks, const SpeechMixer& mixer,
                   const AudioOptions& options,
                   const std::function<bool(const ReproduceProgress&)>& progress,
                   const RowsSoFar& rows_so_far = {});

}  // namespace kalmia::reproduction
