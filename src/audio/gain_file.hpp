// The file of networks for gains: a file of tensors (model/tensor_file.hpp), the parameters by name
// as 16-bit floats. Rounded so, gains change by less than a thousandth, and a file is half the
// size.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "audio/gain_model.hpp"

namespace kalmia::audio {

/// The bytes of the file. They depend on the networks alone.
std::string gain_file_bytes(const GainModel& model);

/// `source` is for messages. Throws DataError if the bytes are not a whole file of a version that
/// this build knows.
std::unique_ptr<GainModel> parse_gain_file(std::string_view bytes, const std::string& source);

}  // namespace kalmia::audio
