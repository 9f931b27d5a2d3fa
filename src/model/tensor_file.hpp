// Files of named tensors in the safetensors layout, so that they can be read by what reads those.
//
//   8 bytes   length of the header, little endian
//   header    JSON: one entry a tensor {"dtype", "shape", "data_offsets"}, and "__metadata__" with
//             format, format_version, kalmia_version, description (JSON text) and crc32
//   data      the tensors, one after another
//
// The crc32 covers all of the header but itself, and the data, so that an altered file is refused.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "nn/parameters.hpp"

namespace kalmia::model {

/// One kind of file.
struct TensorFormat {
  const char* name;    ///< "kalmia"
  const char* what;    ///< "a Kalmia model"
  int oldest;          ///< version that is read
  int version;         ///< that is written, and the newest that is read
  const char* remedy;  ///< of a file of another version: "update, or fit the model again"
};

/// JSON with its keys in the order they are written: the same content gives the same bytes, and
/// people read headers.
using OrderedJson = nlohmann::ordered_json;

/// JSON as text. Bytes that are no UTF-8 become the replacement character, so that anything can be
/// saved.
std::string json_text(const OrderedJson& json, int indent = -1);

/// Collects tensors and puts the file together.
class TensorWriter {
 public:
  void add(const std::string& name, const char* dtype, const std::vector<int>& shape,
           const void* from, std::size_t bytes);
  std::string bytes(const TensorFormat& format, const OrderedJson& description) const;

 private:
  OrderedJson tensors_ = OrderedJson::object();
  std::string data_;
};

/// A file that has been checked as a whole. Refers to the bytes it was made of.
class TensorReader {
 public:
  /// `source` names the file in messages. Throws DataError, or an exception of the JSON library.
  TensorReader(const TensorFormat& format, std::string_view bytes, std::string source);

  OrderedJson description() const;
  /// Bytes of all tensors.
  std::size_t size() const { return data_.size(); }
  /// A tensor's bytes. Throws DataError unless it has this type, shape and size.
  std::string_view tensor(const std::string& name, const std::string& dtype,
                          const std::vector<int>& shape, std::size_t bytes) const;
  [[noreturn]] void refuse(const std::string& why) const;

 private:
  void require_shallow(std::string_view text, const char* what) const;

  std::string source_;
  OrderedJson metadata_, tensors_;
  std::string_view data_;
};

/// As it stands in the file.
std::vector<int> tensor_shape(const nn::ParameterView& view);

}  // namespace kalmia::model
