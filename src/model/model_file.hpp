// The model file: the safetensors layout, so that its tensors can be read by what reads those.
//
//   8 bytes   length of the header, little endian
//   header    JSON: one entry a tensor {"dtype", "shape", "data_offsets"}, and "__metadata__" with
//             format, format_version, kalmia_version, description (JSON text) and crc32
//   data      the tensors, one after another: the parameters by name (F32) and noise.R (F64)
//
// The crc32 covers all of the header but itself, and the data, so that an altered file is refused.
#pragma once

#include <memory>
#include <string>

#include "model/learned_model.hpp"

namespace kalmia::model {

inline constexpr int kModelFileVersion = 3;

/// The bytes of the file. They depend on the model alone.
std::string model_file_bytes(const LearnedModel<float>& model);

/// `source` is for messages. Throws DataError if the bytes are not a whole model file of a version
/// this build knows.
std::unique_ptr<LearnedModel<float>> parse_model_file(const std::string& bytes,
                                                      const std::string& source);

/// The description as JSON text, for `info`.
std::string description_json(const LearnedModel<float>& model);

}  // namespace kalmia::model
