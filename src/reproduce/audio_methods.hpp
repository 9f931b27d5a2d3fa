// The methods of the audio experiment.
#pragma once

#include <vector>

#include "reproduce/audio_method.hpp"

namespace kalmia::reproduction {

/// In the order of the table.
std::vector<AudioTask> audio_tasks();

/// Those that have a method of these names (all, if there are none), with their other methods.
/// Throws ConfigError that names the first method there is not.
std::vector<AudioTask> audio_tasks_with(const std::vector<std::string>& names);

}  // namespace kalmia::reproduction
