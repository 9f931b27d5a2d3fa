#include "model/model_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "base/json.hpp"
#include "kalmia/error.hpp"
#include "kalmia/version.hpp"
#include "model/description_checks.hpp"
#include "model/expert_json.hpp"
#include "model/filters.hpp"
#include "model/tensor_file.hpp"

namespace kalmia::model {
namespace {

using Json = OrderedJson;

constexpr TensorFormat kFormat{"kalmia", "a Kalmia model", kOldestModelFile, kModelFileVersion,
                               "update, or fit the model again"};

const std::string kSmootherPrefix = "smoother.";

// The names of TimeKind, in its order.
constexpr const char* kTimeNames[] = {"none", "number", "date"};

TimeKind time_of_name(const std::string& name) {
  for (const TimeKind kind : {TimeKind::None, TimeKind::Number, TimeKind::Date})
    if (name == kTimeNames[static_cast<int>(kind)]) return kind;
  throw ConfigError("time = \"" + name + "\", but it must be none, number or date");
}

Json to_json(const SmootherSizes& sizes) {
  return {
      {"kind", smoother_name(sizes.kind)}, {"hidden", sizes.hidden}, {"decoder", sizes.decoder}};
}

SmootherSizes sizes_of(const Json& json) {
  SmootherSizes sizes;
  sizes.kind = smoother_of_name(json.at("kind").get<std::string>());
  sizes.hidden = whole_number(json, "hidden");
  sizes.decoder = whole_numbers(json, "decoder");
  if (sizes.hidden < 0)
    throw ConfigError("smoother.hidden = " + std::to_string(sizes.hidden) +
                      ", but it must be >= 0");
  return sizes;
}

Json to_json(const DistanceFactors& factors) {
  return {
      {"steps", factors.steps}, {"factors", factors.factors}, {"unmeasured", factors.unmeasured}};
}

// Files of version 6 have one number for all distances.
DistanceFactors factors_of(const Json& json) {
  if (json.is_number()) return DistanceFactors(json.get<double>());
  DistanceFactors factors;
  json.at("steps").get_to(factors.steps);
  json.at("factors").get_to(factors.factors);
  json.at("unmeasured").get_to(factors.unmeasured);
  return factors;
}

Json to_json(const std::optional<Calibration>& calibration) {
  if (!calibration) return nullptr;
  return {{"filter", to_json(calibration->filter)},
          {"linearized", to_json(calibration->linearized)},
          {"trained", to_json(calibration->trained)}};
}

std::optional<Calibration> calibration_of(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return Calibration{factors_of(json.at("filter")), factors_of(json.at("linearized")),
                     factors_of(json.at("trained"))};
}

// JSON has no infinity: what wanders has null for its spread.
Json spreads_json(const std::vector<double>& spreads) {
  Json json = Json::array();
  for (const double each : spreads) json.push_back(std::isinf(each) ? Json(nullptr) : Json(each));
  return json;
}

std::vector<double> spreads_of(const Json& json) {
  std::vector<double> spreads;
  for (const Json& each : json)
    spreads.push_back(each.is_null() ? std::numeric_limits<double>::infinity()
                                     : each.get<double>());
  return spreads;
}

Json to_json(const StateClimate& climate) {
  return {{"mean", climate.mean},
          {"spread", spreads_json(climate.spread)},
          {"A", climate.A},
          {"Q", climate.Q},
          {"measured_spread", spreads_json(climate.measured_spread)}};
}

StateClimate climate_of(const Json& json) {
  StateClimate climate;
  json.at("mean").get_to(climate.mean);
  climate.spread = spreads_of(json.at("spread"));
  json.at("A").get_to(climate.A);
  json.at("Q").get_to(climate.Q);
  climate.measured_spread = spreads_of(json.at("measured_spread"));
  return climate;
}

// What the names of a member's tensors begin with.
std::string member_prefix(std::size_t member) {
  return member == 0 ? "" : "member." + std::to_string(member) + ".";
}

// The first member's description stands for what all share.
Json to_json(const Ensemble& ensemble) {
  const ModelDescription& d = ensemble.first().description();
  Json further = Json::array();
  for (std::size_t i = 1; i < ensemble.members.size(); ++i) {
    const ModelDescription& each = ensemble.members[i]->description();
    further.push_back({{"smoother", to_json(each.smoother)},
                       {"gap_trust", each.gap_trust},
                       {"iterated_noise", each.iterated_noise}});
  }
  return {
      {"measured", d.measured_names},
      {"inputs", d.input_names},
      {"prior", expert_json(d.prior)},
      {"theta", d.theta},
      {"time", kTimeNames[static_cast<int>(d.time)]},
      {"dt", d.dt},
      {"noise", d.noise},
      {"noise_std", d.noise_std},
      {"tails", d.tails},
      {"climate", to_json(d.climate)},
      {"gap_trust", d.gap_trust},
      {"iterated_noise", d.iterated_noise},
      {"networks",
       {{"filter", filter_name(d.head)},
        {"encoder", nn::encoder_name(d.encoder)},
        {"taps", d.taps},
        {"hidden", d.hidden},
        {"decoder", d.decoder}}},
      {"smoother", to_json(d.smoother)},
      {"further_members", further},
      {"calibration", to_json(ensemble.calibration)},
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
       {{"measure", ensemble.data.measure},
        {"truth", ensemble.data.truth},
        {"inputs", ensemble.data.inputs},
        {"time", ensemble.data.time},
        {"key", ensemble.data.key},
        {"noise_columns", ensemble.data.noise_columns}}},
      {"training", Json::parse(ensemble.summary_json)},
  };
}

// What files of every version have is read by `at`; a field that was added later has its default
// where it is absent.
ModelDescription description_of(const Json& json) {
  ModelDescription d;
  json.at("measured").get_to(d.measured_names);
  json.at("inputs").get_to(d.input_names);
  d.prior = expert_from_json(json.at("prior"));
  json.at("theta").get_to(d.theta);
  d.time = time_of_name(json.at("time").get<std::string>());
  json.at("dt").get_to(d.dt);
  json.at("noise").get_to(d.noise);
  json.at("noise_std").get_to(d.noise_std);
  json.at("tails").get_to(d.tails);
  d.climate = climate_of(json.at("climate"));
  json.at("gap_trust").get_to(d.gap_trust);
  json.at("iterated_noise").get_to(d.iterated_noise);
  const Json& networks = json.at("networks");
  d.head = filter_of_name(networks.at("filter").get<std::string>());
  d.encoder = nn::encoder_of_name(networks.at("encoder").get<std::string>());
  d.taps = whole_number(networks, "taps");
  d.hidden = whole_number(networks, "hidden");
  d.decoder = whole_numbers(networks, "decoder");
  d.smoother = sizes_of(json.at("smoother"));
  const Json& units = json.at("units");
  units.at("y_scale").get_to(d.units.y_scale);
  units.at("y_offset").get_to(d.units.y_offset);
  units.at("x_scale").get_to(d.units.x_scale);
  units.at("x_offset").get_to(d.units.x_offset);
  const Json& features = json.at("features");
  features.at("mean").get_to(d.features.mean);
  features.at("spread").get_to(d.features.spread);
  features.at("step").get_to(d.features.step);
  d.features.use_level = whole_numbers(features, "use_level");
  features.at("use_dt").get_to(d.features.use_dt);
  features.at("u_mean").get_to(d.features.u_mean);
  features.at("u_spread").get_to(d.features.u_spread);
  return d;
}

DataOptions data_options_of(const Json& json) {
  DataOptions data;
  json.at("measure").get_to(data.measure);
  json.at("truth").get_to(data.truth);
  json.at("inputs").get_to(data.inputs);
  json.at("time").get_to(data.time);
  json.at("key").get_to(data.key);
  json.at("noise_columns").get_to(data.noise_columns);
  return data;
}

// The parameters of networks, whose names have `prefix` in the file.
std::vector<float> read_parameters(const heads::Architecture& architecture,
                                   const std::string& prefix, const TensorReader& file) {
  if (static_cast<std::size_t>(architecture.parameters.size()) > file.size() / sizeof(float))
    file.refuse("the description asks for " + std::to_string(architecture.parameters.size()) +
                " parameters, more than there are numbers in the file");
  std::vector<float> parameters(static_cast<std::size_t>(architecture.parameters.size()));
  for (const nn::ParameterView& view : architecture.parameters.views()) {
    const auto size = static_cast<std::size_t>(view.size()) * sizeof(float);
    const std::string_view found = file.tensor(prefix + view.name, "F32", tensor_shape(view), size);
    std::memcpy(parameters.data() + view.offset, found.data(), size);
  }
  return parameters;
}

// Before anything is laid out by these sizes: each has at least a row of numbers in the data.
void check_widths(int hidden, const std::vector<int>& decoder, const TensorReader& file) {
  const int widest = std::max(hidden, decoder.empty() ? 0 : *std::ranges::max_element(decoder));
  if (widest > 0 && static_cast<std::size_t>(widest) > file.size() / sizeof(float))
    file.refuse("the networks are " + std::to_string(widest) +
                " units wide, more than there are numbers in the file");
}

// Member number `member` of a description; `smoother`: the sizes of its smoother.
std::unique_ptr<LearnedModel<float>> read_member(std::size_t member, const ModelDescription& d,
                                                 const SmootherSizes& smoother,
                                                 const TensorReader& file) {
  check_widths(d.hidden, d.decoder, file);
  check_widths(smoother.hidden, smoother.decoder, file);
  const std::string prefix = member_prefix(member);
  const prior::Expert expert = expert_of(d);
  const heads::Architecture architecture(architecture_options(d, expert));
  std::vector<float> parameters = read_parameters(architecture, prefix, file);
  std::vector<float> smoother_parameters;
  if (smoother.hidden > 0)
    smoother_parameters = read_parameters(
        heads::Architecture(smoother_options(d, expert, smoother)), prefix + kSmootherPrefix, file);
  const int M = expert.meas_dim();
  std::vector<double> R(static_cast<std::size_t>(M * M));
  const std::string_view found =
      file.tensor(prefix + "noise.R", "F64", {M, M}, R.size() * sizeof(double));
  std::memcpy(R.data(), found.data(), found.size());
  auto model = std::make_unique<LearnedModel<float>>(d, std::move(parameters), std::move(R));
  model->set_smoother(smoother, smoother_parameters);
  return model;
}

Ensemble parse(const std::string& bytes, const std::string& source) {
  const TensorReader file(kFormat, bytes, source);
  const Json json = file.description();
  const ModelDescription d = description_of(json);
  Ensemble ensemble;
  ensemble.calibration = calibration_of(json.at("calibration"));
  ensemble.data = data_options_of(json.at("data"));
  ensemble.summary_json = json.at("training").dump();
  auto& members = ensemble.members;
  members.push_back(read_member(0, d, d.smoother, file));
  for (const Json& each : json.at("further_members")) {
    ModelDescription own = d;
    each.at("gap_trust").get_to(own.gap_trust);
    each.at("iterated_noise").get_to(own.iterated_noise);
    members.push_back(read_member(members.size(), own, sizes_of(each.at("smoother")), file));
  }
  check_ensemble(ensemble);
  return ensemble;
}

}  // namespace

std::string model_file_bytes(const Ensemble& ensemble) {
  TensorWriter file;
  const auto& members = ensemble.members;
  const int M = ensemble.first().meas_dim();
  // Doubles first, so that every tensor is aligned.
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::vector<double>& R = members[i]->emission().R();
    file.add(member_prefix(i) + "noise.R", "F64", {M, M}, R.data(), R.size() * sizeof(double));
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::string prefix = member_prefix(i);
    for (const nn::ParameterView& view : members[i]->architecture().parameters.views())
      file.add(prefix + view.name, "F32", tensor_shape(view),
               members[i]->parameters().data() + view.offset,
               static_cast<std::size_t>(view.size()) * sizeof(float));
    if (const SmootherNetworks* smoother = members[i]->smoother())
      for (const nn::ParameterView& view : smoother->architecture().parameters.views())
        file.add(prefix + kSmootherPrefix + view.name, "F32", tensor_shape(view),
                 smoother->parameters().data() + view.offset,
                 static_cast<std::size_t>(view.size()) * sizeof(float));
  }
  return file.bytes(kFormat, to_json(ensemble));
}

Ensemble parse_model_file(const std::string& bytes, const std::string& source) {
  try {
    return parse(bytes, source);
  } catch (const nlohmann::json::exception& error) {
    throw DataError(source + ": the header of the model file is damaged (" + error.what() + ")");
  } catch (const ConfigError& error) {
    throw DataError(source + ": the model file contradicts itself (" + error.what() + ")");
  }
}

std::string description_json(const Ensemble& ensemble) {
  const LearnedModel<float>& model = ensemble.first();
  Json json = to_json(ensemble);
  json.erase("further_members");
  json["members"] = ensemble.members.size();
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
  return json_text(json, 2);
}

}  // namespace kalmia::model
