// The model file: a file of tensors (model/tensor_file.hpp). Those are the parameters by name (F32)
// and noise.R (F64); those of the smoother begin with `smoother.`; those of further members of an
// ensemble with `member.1.`, `member.2.`, ...
#pragma once

#include <string>

#include "model/ensemble.hpp"

namespace kalmia::model {

inline constexpr int kModelFileVersion = 7;
/// Files of this version and of all later ones are read (tests/infer/files keeps some of each).
inline constexpr int kOldestModelFile = 6;

/// The bytes of the file. They depend on the ensemble alone.
std::string model_file_bytes(const Ensemble& ensemble);

/// `source` is for messages. Throws DataError if the bytes are not a whole model file of a version
/// this build knows.
Ensemble parse_model_file(const std::string& bytes, const std::string& source);

/// What the ensemble is as JSON text, for `info`.
std::string description_json(const Ensemble& ensemble);

}  // namespace kalmia::model
