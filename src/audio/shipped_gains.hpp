// The networks for speech that come with the library.
#pragma once

#include <memory>

#include "audio/gain_model.hpp"

namespace kalmia::audio {

/// Made of src/audio/shipped/speech.kalmia-gains, which is part of the library: no file is read.
std::unique_ptr<GainModel> shipped_gains();

}  // namespace kalmia::audio
