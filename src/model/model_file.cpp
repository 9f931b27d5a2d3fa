#include "model/model_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "kalmia/error.hpp"
#include "kalmia/version.hpp"
#include "model/expert_json.hpp"

namespace kalmia::model {
namespace {

// Keys in the order they are written: the same model gives the same bytes, and people read headers.
using Json = nlohmann::ordered_json;

const std::string kSmootherPrefix = "smoother.";
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kLargestHeader = std::size_t{100} << 20;  // the limit of safetensors

Json to_json(const SmootherSizes& sizes) {
  return {
      {"kind", smoother_name(sizes.kind)}, {"hidden", sizes.hidden}, {"decoder", sizes.decoder}};
}

SmootherSizes sizes_of(const Json& json) {
  SmootherSizes sizes;
  sizes.kind = smoother_of_name(json.at("kind").get<std::string>());
  json.at("hidden").get_to(sizes.hidden);
  json.at("decoder").get_to(sizes.decoder);
  return sizes;
}

Json to_json(const std::optional<Calibration>& calibration) {
  if (!calibration) return nullptr;
  return {{"filter", calibration->filter},
          {"linearized", calibration->linearized},
          {"trained", calibration->trained}};
}

std::optional<Calibration> calibration_of(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return Calibration{json.at("filter").get<double>(), json.at("linearized").get<double>(),
                     json.at("trained").get<double>()};
}

// What the names of a member's tensors begin with.
std::string member_prefix(std::size_t member) {
  return member == 0 ? "" : "member." + std::to_string(member) + ".";
}

Json to_json(const ModelDescription& d, FurtherMembers others) {
  Json further = Json::array();
  for (const auto& each : others)
    further.push_back({{"smoother", to_json(each->description().smoother)},
                       {"iterated_noise", each->description().iterated_noise}});
  return {
      {"measured", d.measured_names},
      {"inputs", d.input_names},
      {"prior", expert_json(d.prior)},
      {"theta", d.theta},
      {"dt", d.dt},
      {"noise", d.noise},
      {"noise_std", d.noise_std},
      {"tails", d.tails},
      {"iterated_noise", d.iterated_noise},
      {"networks",
       {{"filter", d.recursive ? "recursive" : "recurrent"},
        {"encoder", nn::encoder_name(d.encoder)},
        {"taps", d.taps},
        {"hidden", d.hidden},
        {"decoder", d.decoder}}},
      {"smoother", to_json(d.smoother)},
      {"further_members", further},
      {"calibration", to_json(d.calibration)},
      {"units",
       {{"y_scale", d.units.y_scale},
        {"y_offset", d.units.y_offset},
        {"x_scale", d.units.x_scale},
        {"x_offset", d.units.x_offset}}},
      {"features",
       {{"mean", d.features.mean},
        {"spread", d.features.spread},
        {"step", d.features.step},
        {"use_level", d.features.use_level},
        {"use_dt", d.features.use_dt},
        {"u_mean", d.features.u_mean},
        {"u_spread", d.features.u_spread}}},
      {"data",
       {{"measure", d.data.measure},
        {"truth", d.data.truth},
        {"inputs", d.data.inputs},
        {"time", d.data.time},
        {"key", d.data.key},
        {"noise_columns", d.data.noise_columns}}},
      {"training", Json::parse(d.summary_json)},
  };
}

bool is_recursive(const std::string& filter) {
  if (filter != "recursive" && filter != "recurrent")
    throw ConfigError("filter = \"" + filter + "\", but it must be recursive or recurrent");
  return filter == "recursive";
}

ModelDescription description_of(const Json& json) {
  ModelDescription d;
  json.at("measured").get_to(d.measured_names);
  json.at("inputs").get_to(d.input_names);
  d.prior = expert_from_json(json.at("prior"));
  json.at("theta").get_to(d.theta);
  json.at("dt").get_to(d.dt);
  json.at("noise").get_to(d.noise);
  json.at("noise_std").get_to(d.noise_std);
  json.at("tails").get_to(d.tails);
  json.at("iterated_noise").get_to(d.iterated_noise);
  const Json& networks = json.at("networks");
  d.recursive = is_recursive(networks.at("filter").get<std::string>());
  d.encoder = nn::encoder_of_name(networks.at("encoder").get<std::string>());
  networks.at("taps").get_to(d.taps);
  networks.at("hidden").get_to(d.hidden);
  networks.at("decoder").get_to(d.decoder);
  d.smoother = sizes_of(json.at("smoother"));
  d.calibration = calibration_of(json.at("calibration"));
  const Json& units = json.at("units");
  units.at("y_scale").get_to(d.units.y_scale);
  units.at("y_offset").get_to(d.units.y_offset);
  units.at("x_scale").get_to(d.units.x_scale);
  units.at("x_offset").get_to(d.units.x_offset);
  const Json& features = json.at("features");
  features.at("mean").get_to(d.features.mean);
  features.at("spread").get_to(d.features.spread);
  features.at("step").get_to(d.features.step);
  features.at("use_level").get_to(d.features.use_level);
  features.at("use_dt").get_to(d.features.use_dt);
  features.at("u_mean").get_to(d.features.u_mean);
  features.at("u_spread").get_to(d.features.u_spread);
  const Json& data = json.at("data");
  data.at("measure").get_to(d.data.measure);
  data.at("truth").get_to(d.data.truth);
  data.at("inputs").get_to(d.data.inputs);
  data.at("time").get_to(d.data.time);
  data.at("key").get_to(d.data.key);
  data.at("noise_columns").get_to(d.data.noise_columns);
  d.summary_json = json.at("training").dump();
  return d;
}

// Names of columns may hold bytes that are no UTF-8; those become the replacement character, so
// that a model can always be saved.
std::string text_of(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

// Of a header without its checksum, and the data.
std::string checksum(const Json& header, std::string_view data) {
  const std::string text = text_of(header);
  uLong crc = crc32(0, nullptr, 0);
  for (const std::string_view part : {std::string_view(text), data})
    crc = crc32_z(crc, reinterpret_cast<const Bytef*>(part.data()), part.size());
  return std::to_string(crc);
}

[[noreturn]] void refuse(const std::string& source, const std::string& why) {
  throw DataError(source + ": " + why);
}

// A tensor's bytes; checks type, shape and place against what the model needs.
std::string_view tensor(const Json& tensors, const std::string& name, const std::string& dtype,
                        const std::vector<int>& shape, std::size_t bytes, std::string_view data,
                        const std::string& source) {
  if (!tensors.contains(name)) refuse(source, "tensor " + name + " is missing");
  const Json& entry = tensors.at(name);
  const auto offsets = entry.at("data_offsets").get<std::vector<std::size_t>>();
  if (entry.at("dtype") != dtype || entry.at("shape") != Json(shape) || offsets.size() != 2 ||
      offsets[0] > offsets[1] || offsets[1] > data.size() || offsets[1] - offsets[0] != bytes)
    refuse(source, "tensor " + name + " has not the type, shape or size the description asks for");
  return data.substr(offsets[0], bytes);
}

std::vector<int> shape_of(const nn::ParameterView& view) {
  return view.cols == 1 ? std::vector<int>{view.rows} : std::vector<int>{view.rows, view.cols};
}

// The parameters of networks, whose names have `prefix` in the file.
std::vector<float> read_parameters(const Architecture& architecture, const std::string& prefix,
                                   const Json& tensors, std::string_view data,
                                   const std::string& source) {
  if (static_cast<std::size_t>(architecture.parameters.size()) > data.size() / sizeof(float))
    refuse(source, "the description asks for " + std::to_string(architecture.parameters.size()) +
                       " parameters, more than there are numbers in the file");
  std::vector<float> parameters(static_cast<std::size_t>(architecture.parameters.size()));
  for (const nn::ParameterView& view : architecture.parameters.views()) {
    const auto size = static_cast<std::size_t>(view.size()) * sizeof(float);
    const std::string_view found =
        tensor(tensors, prefix + view.name, "F32", shape_of(view), size, data, source);
    std::memcpy(parameters.data() + view.offset, found.data(), size);
  }
  return parameters;
}

// The header of a file: its JSON and what follows it.
struct Parts {
  Json header;
  std::string_view data;
};

Parts split(const std::string& bytes, const std::string& source) {
  const std::string not_model = "not a Kalmia model: ";
  if (bytes.size() < kLengthBytes)
    refuse(source, not_model + "the file has " + std::to_string(bytes.size()) +
                       " bytes, fewer than the length of a header takes");
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  if (length > kLargestHeader) refuse(source, not_model + "it has no header");
  if (length > bytes.size() - kLengthBytes)
    refuse(source, "the file is cut off: its header should have " + std::to_string(length) +
                       " bytes, but " + std::to_string(bytes.size() - kLengthBytes) + " follow");
  const std::string_view text(bytes.data() + kLengthBytes, length);
  Parts parts;
  parts.header = Json::parse(text, nullptr, false);
  if (!parts.header.is_object()) refuse(source, not_model + "its header is not JSON");
  parts.data = std::string_view(bytes).substr(kLengthBytes + length);
  return parts;
}

std::size_t end_of_data(const Json& tensors) {
  std::size_t end = 0;
  for (const Json& entry : tensors)
    end = std::max(end, entry.at("data_offsets").at(1).get<std::size_t>());
  return end;
}

// Before anything is laid out by these sizes: each has at least a row of numbers in the data.
void check_widths(int hidden, const std::vector<int>& decoder, std::string_view data,
                  const std::string& source) {
  const int widest = std::max(hidden, decoder.empty() ? 0 : *std::ranges::max_element(decoder));
  if (widest > 0 && static_cast<std::size_t>(widest) > data.size() / sizeof(float))
    refuse(source, "the networks are " + std::to_string(widest) +
                       " units wide, more than there are numbers in the file");
}

// Member number `member` of a description; `smoother`: the sizes of its smoother.
std::unique_ptr<LearnedModel<float>> read_member(std::size_t member, const ModelDescription& d,
                                                 const SmootherSizes& smoother, const Json& tensors,
                                                 std::string_view data, const std::string& source) {
  check_widths(d.hidden, d.decoder, data, source);
  check_widths(smoother.hidden, smoother.decoder, data, source);
  const std::string prefix = member_prefix(member);
  const prior::Expert expert = expert_of(d);
  const Architecture architecture(architecture_options(d, expert));
  std::vector<float> parameters = read_parameters(architecture, prefix, tensors, data, source);
  std::vector<float> smoother_parameters;
  if (smoother.hidden > 0)
    smoother_parameters = read_parameters(Architecture(smoother_options(d, expert, smoother)),
                                          prefix + kSmootherPrefix, tensors, data, source);
  const int M = expert.meas_dim();
  std::vector<double> R(static_cast<std::size_t>(M * M));
  const std::string_view found =
      tensor(tensors, prefix + "noise.R", "F64", {M, M}, R.size() * sizeof(double), data, source);
  std::memcpy(R.data(), found.data(), found.size());
  auto model = std::make_unique<LearnedModel<float>>(d, std::move(parameters), std::move(R));
  model->set_smoother(smoother, smoother_parameters);
  return model;
}

std::vector<std::unique_ptr<LearnedModel<float>>> parse(const std::string& bytes,
                                                        const std::string& source) {
  Parts parts = split(bytes, source);
  if (!parts.header.contains("__metadata__"))
    refuse(source, "not a Kalmia model: its header has no __metadata__");
  const Json metadata = parts.header.at("__metadata__");
  if (metadata.value("format", "") != "kalmia")
    refuse(source, "not a Kalmia model: its format is not \"kalmia\"");
  const std::string version = metadata.at("format_version").get<std::string>();
  if (version != std::to_string(kModelFileVersion))
    refuse(source, "format version " + version + ", but this build reads version " +
                       std::to_string(kModelFileVersion) + "; update, or fit the model again");
  Json tensors = parts.header;
  tensors.erase("__metadata__");
  const std::size_t end = end_of_data(tensors);
  if (end != parts.data.size())
    refuse(source, "the file is cut off or has grown: " + std::to_string(end) +
                       " bytes of tensors are announced, but " + std::to_string(parts.data.size()) +
                       " follow the header");
  const Json crc = metadata.at("crc32");
  parts.header.at("__metadata__").erase("crc32");
  if (crc != checksum(parts.header, parts.data))
    refuse(source, "the file was altered: its checksum does not fit its content");

  const Json json = Json::parse(metadata.at("description").get<std::string>());
  const ModelDescription d = description_of(json);
  std::vector<std::unique_ptr<LearnedModel<float>>> members;
  members.push_back(read_member(0, d, d.smoother, tensors, parts.data, source));
  for (const Json& each : json.at("further_members")) {
    ModelDescription own = d;
    each.at("iterated_noise").get_to(own.iterated_noise);
    members.push_back(read_member(members.size(), own, sizes_of(each.at("smoother")), tensors,
                                  parts.data, source));
  }
  return members;
}

}  // namespace

std::string model_file_bytes(const LearnedModel<float>& model, FurtherMembers others) {
  Json tensors = Json::object();
  std::string data;
  const auto add = [&](const std::string& name, const char* dtype, const std::vector<int>& shape,
                       const void* from, std::size_t size) {
    tensors[name] = {
        {"dtype", dtype}, {"shape", shape}, {"data_offsets", {data.size(), data.size() + size}}};
    data.append(static_cast<const char*>(from), size);
  };
  std::vector<const LearnedModel<float>*> members{&model};
  for (const auto& each : others) members.push_back(each.get());
  // Doubles first, so that every tensor is aligned.
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::vector<double>& R = members[i]->emission().R();
    add(member_prefix(i) + "noise.R", "F64", {model.meas_dim(), model.meas_dim()}, R.data(),
        R.size() * sizeof(double));
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string prefix = member_prefix(i);
    for (const nn::ParameterView& view : members[i]->architecture().parameters.views())
      add(prefix + view.name, "F32", shape_of(view), members[i]->parameters().data() + view.offset,
          static_cast<std::size_t>(view.size()) * sizeof(float));
    if (const SmootherNetworks* smoother = members[i]->smoother())
      for (const nn::ParameterView& view : smoother->architecture().parameters.views())
        add(prefix + kSmootherPrefix + view.name, "F32", shape_of(view),
            smoother->parameters().data() + view.offset,
            static_cast<std::size_t>(view.size()) * sizeof(float));
  }

  Json header = Json::object();
  header["__metadata__"] = {{"format", "kalmia"},
                            {"format_version", std::to_string(kModelFileVersion)},
                            {"kalmia_version", kVersionText},
                            {"description", text_of(to_json(model.description(), others))}};
  for (const auto& [name, entry] : tensors.items()) header[name] = entry;
  header["__metadata__"]["crc32"] = checksum(header, data);
  std::string text = text_of(header);
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');

  std::string bytes;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    bytes += static_cast<char>((text.size() >> (8 * i)) & 0xff);
  return bytes + text + data;
}

std::unique_ptr<LearnedModel<float>> parse_model_file(const std::string& bytes,
                                                      const std::string& source) {
  return std::move(parse_members(bytes, source)[0]);
}

std::vector<std::unique_ptr<LearnedModel<float>>> parse_members(const std::string& bytes,
                                                                const std::string& source) {
  try {
    return parse(bytes, source);
  } catch (const nlohmann::json::exception& error) {
    throw DataError(source + ": the header of the model file is damaged (" + error.what() + ")");
  } catch (const ConfigError& error) {
    throw DataError(source + ": the model file contradicts itself (" + error.what() + ")");
  }
}

std::string description_json(const LearnedModel<float>& model, FurtherMembers others) {
  Json json = to_json(model.description(), others);
  json.erase("further_members");
  json["members"] = 1 + others.size();
  json["kalmia_version"] = kVersionText;
  json["states"] = model.expert().state_names;
  Json theta = Json::array();
  const auto bound = [](double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
  };
  for (std::size_t i = 0; i < model.theta().size(); ++i) {
    const prior::ExpertParameter& each = model.expert().parameters[i];
    theta.push_back({{"name", each.name},
                     {"value", model.theta()[i]},
                     {"learned", each.learn},
                     {"lower", bound(each.lower)},
                     {"upper", bound(each.upper)}});
  }
  json["theta"] = theta;
  json["parameters"] = model.architecture().parameters.size();
  return text_of(json, 2);
}

}  // namespace kalmia::model
