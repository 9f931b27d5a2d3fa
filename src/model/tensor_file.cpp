#include "model/tensor_file.hpp"

#include <zlib.h>

#include <algorithm>

#include "base/json.hpp"
#include "kalmia/error.hpp"
#include "kalmia/version.hpp"

namespace kalmia::model {
namespace {

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kLargestHeader = std::size_t{100} << 20;  // the limit of safetensors

// Of a header without its checksum, and the data.
std::string checksum(const OrderedJson& header, std::string_view data) {
  const std::string text = json_text(header);
  uLong crc = crc32(0, nullptr, 0);
  for (const std::string_view part : {std::string_view(text), data})
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
  return std::to_string(crc);
}

std::size_t end_of_data(const OrderedJson& tensors) {
  std::size_t end = 0;
  for (const OrderedJson& entry : tensors)
    end = std::max(end, entry.at("data_offsets").at(1).get<std::size_t>());
  return end;
}

}  // namespace

std::string json_text(const OrderedJson& json, int indent) {
  return json.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

void TensorWriter::add(const std::string& name, const char* dtype, const std::vector<int>& shape,
                       const void* from, std::size_t bytes) {
  tensors_[name] = {
      {"dtype", dtype}, {"shape", shape}, {"data_offsets", {data_.size(), data_.size() + bytes}}};
  data_.append(static_cast<const char*>(from), bytes);
}

std::string TensorWriter::bytes(const TensorFormat& format, const OrderedJson& description) const {
  OrderedJson header = OrderedJson::object();
  header["__metadata__"] = {{"format", format.name},
                            {"format_version", std::to_string(format.version)},
                            {"kalmia_version", kVersionText},
                            {"description", json_text(description)}};
  for (const auto& [name, entry] : tensors_.items()) header[name] = entry;
  header["__metadata__"]["crc32"] = checksum(header, data_);
  std::string text = json_text(header);
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');

  std::string bytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    bytes += static_cast<char>((text.size() >> (8 * i)) & 0xff);
  return bytes + text + data_;
}

TensorReader::TensorReader(const TensorFormat& format, std::string_view bytes, std::string source)
    : source_(std::move(source)) {
  const std::string other = std::string("not ") + format.what + ": ";
  if (bytes.size() < kLengthBytes)
    refuse(other + "the file has " + std::to_string(bytes.size()) +
           " bytes, fewer than the length of a header takes");
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  if (length > kLargestHeader) refuse(other + "it has no header");
  if (length > bytes.size() - kLengthBytes)
    refuse("the file is cut off: its header should have " + std::to_string(length) +
           " bytes, but " + std::to_string(bytes.size() - kLengthBytes) + " follow");
  const std::string_view text = bytes.substr(kLengthBytes, length);
  require_shallow(text, "its header");
  OrderedJson header = OrderedJson::parse(text, nullptr, false);
  if (!header.is_object()) refuse(other + "its header is not JSON");
  data_ = bytes.substr(kLengthBytes + length);

  if (!header.contains("__metadata__")) refuse(other + "its header has no __metadata__");
  metadata_ = header.at("__metadata__");
  if (metadata_.value("format", "") != format.name)
    refuse(other + "its format is not \"" + format.name + "\"");
  const std::string version = metadata_.at("format_version").get<std::string>();
  bool known = false;
  std::string read = "version " + std::to_string(format.oldest);
  for (int each = format.oldest; each <= format.version; ++each)
    known = known || version == std::to_string(each);
  if (format.version > format.oldest) read += " to " + std::to_string(format.version);
  if (!known)
    refuse("format version " + version + ", but this build reads " + read + "; " + format.remedy);
  tensors_ = header;
  tensors_.erase("__metadata__");
  const std::size_t end = end_of_data(tensors_);
  if (end != data_.size())
    refuse("the file is cut off or has grown: " + std::to_string(end) +
           " bytes of tensors are announced, but " + std::to_string(data_.size()) +
           " follow the header");
  const OrderedJson crc = metadata_.at("crc32");
  header.at("__metadata__").erase("crc32");
  if (crc != checksum(header, data_))
    refuse("the file was altered: its checksum does not fit its content");
}

OrderedJson TensorReader::description() const {
  const auto text = metadata_.at("description").get<std::string>();
  require_shallow(text, "its description");
  return OrderedJson::parse(text);
}

std::string_view TensorReader::tensor(const std::string& name, const std::string& dtype,
                                      const std::vector<int>& shape, std::size_t bytes) const {
  if (!tensors_.contains(name)) refuse("tensor " + name + " is missing");
  const OrderedJson& entry = tensors_.at(name);
  const auto offsets = entry.at("data_offsets").get<std::vector<std::size_t>>();
  if (entry.at("dtype") != dtype || entry.at("shape") != OrderedJson(shape) ||
      offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data_.size() ||
      offsets[1] - offsets[0] != bytes)
    refuse("tensor " + name + " has not the type, shape or size the description asks for");
  return data_.substr(offsets[0], bytes);
}

void TensorReader::require_shallow(std::string_view text, const char* what) const {
  const int depth = json_nesting(text);
  if (depth > kDeepestJson)
    refuse(std::string(what) + " has arrays and objects " + std::to_string(depth) +
           " deep within one another, but at most " + std::to_string(kDeepestJson) +
           " are read; the file is damaged");
}

void TensorReader::refuse(const std::string& why) const { throw DataError(source_ + ": " + why); }

std::vector<int> tensor_shape(const nn::ParameterView& view) {
  return view.cols == 1 ? std::vector<int>{view.rows} : std::vector<int>{view.rows, view.cols};
}

}  // namespace kalmia::model
