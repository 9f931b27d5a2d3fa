// The model file: a file of tensors (model/tensor_file.hpp). Those are the parameters by name (F32)
// and noise.R (F64); those of the smoother begin with `smoother.`; those of further members of an
// ensemble with `member.1.`, `member.2.`, ...
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "model/learned_model.hpp"

namespace kalmia::model {

inline constexpr int kModelFileVersion = 6;

using FurtherMembers = std::span<const std::unique_ptr<const LearnedModel<float>>>;

/// The bytes of the file. They depend on the model alone, and on the further members of an
/// ensemble: models of the same description, the sizes of the smoother excepted.
std::string model_file_bytes(const LearnedModel<float>& model, FurtherMembers others = {});

/// `source` is for messages. Throws DataError if the bytes are not a whole model file of a version
/// this build knows.
std::vector<std::unique_ptr<LearnedModel<float>>> parse_members(const std::string& bytes,
                                                                const std::string& source);
/// The first member.
std::unique_ptr<LearnedModel<float>> parse_model_file(const std::string& bytes,
                                                      const std::string& source);

/// The description as JSON text, for `info`.
std::string description_json(const LearnedModel<float>& model, FurtherMembers others = {});

}  // namespace kalmia::model
