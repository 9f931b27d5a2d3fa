// Rows of the audio experiment: scores, and rows as JSON, CSV and text.
#pragma once

#include <string>
#include <vector>

#include "kalmia/reproduce_audio.hpp"
#include "reproduce/audio_methods.hpp"
#include "reproduce/rows.hpp"

namespace kalmia::reproduction {

/// Scores estimates where the clean utterances are heard, against the recordings. Throws
/// NumericalError for estimates of another length or that are not finite.
AudioRow audio_row(const Sounds& estimates, const Sounds& noisy, const Sounds& clean);

Json audio_row_json(const AudioRow& row);
/// Rows, methods, provenance.
Json audio_json(const AudioReproduction& result);
/// A header, and one line a row; empty fields where there is no figure.
std::string audio_csv(const std::vector<AudioRow>& rows);
/// Tables: errors over those of the recordings, errors next to the paper's, gains in dB, seconds.
std::string audio_text(const AudioReproduction& result);

}  // namespace kalmia::reproduction
