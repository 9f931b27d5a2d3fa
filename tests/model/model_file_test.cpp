#include "model/model_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kalmia/error.hpp"
#include "model/expert_json.hpp"
#include "model/learned_cases.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::model {
namespace {

using Json = nlohmann::ordered_json;
using test::LearnedCase;

LearnedCase full_case() {
  LearnedCase made = test::network_case(2, 41);
  made.description.noise = "0.5,0.3";
  // Numbers that are not short in decimals.
  made.description.units.y_offset[0] = 1.0 / 3;
  made.description.dt = 0.1;
  StateClimate& climate = made.description.climate;
  climate.mean = {1.0 / 3, 2, 0, 4};
  climate.spread = {0.1, 3, std::numeric_limits<double>::infinity(), 5};
  climate.measured_spread = {0.1, std::numeric_limits<double>::infinity()};
  climate.A.assign(16, 1.0 / 7);
  climate.Q.assign(16, 0.3);
  made.R[1] = made.R[2] = 0.1 * 3;
  return made;
}

// What is said of a whole, with a member.
Ensemble full_ensemble(std::unique_ptr<LearnedModel<float>> member) {
  Ensemble ensemble;
  ensemble.members.push_back(std::move(member));
  ensemble.calibration = Calibration{1.0 / 3, 1.25, 2};
  ensemble.calibration->linearized.steps = {0.5, 7.25, 30};
  ensemble.calibration->linearized.factors = {{1.0 / 7, 2, 3}, {4, 0.5, 1.0 / 9}};
  ensemble.calibration->linearized.unmeasured = 1;
  ensemble.data = {{"north", "east"}, {"true_n"}, {"u0", "u1"}, "t_s", "robot", {"n_std", "e_std"}};
  ensemble.summary_json = R"({"loss":0.125,"notes":["a \"quoted\" one"]})";
  return ensemble;
}

// A model alone.
std::string file_bytes(const LearnedModel<float>& model) {
  Ensemble ensemble;
  ensemble.members.emplace_back(std::shared_ptr<void>(), &model);
  return model_file_bytes(ensemble);
}

struct Parsed {
  std::size_t header_length = 0;
  Json header;
  std::string data;
};

// The safetensors layout, read without the library.
Parsed read(const std::string& bytes) {
  Parsed parsed;
  for (int i = 7; i >= 0; --i)
    parsed.header_length =
        parsed.header_length * 256 + static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
  parsed.header = Json::parse(bytes.substr(8, parsed.header_length));
  parsed.data = bytes.substr(8 + parsed.header_length);
  return parsed;
}

std::string write(const Json& header, const std::string& data) {
  const std::string text = header.dump();
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>((text.size() >> (8 * i)) & 0xff);
  return bytes + text + data;
}

// CRC-32 bit by bit.
std::uint32_t test_crc(const std::string& text) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

void expect_same_model(const LearnedModel<float>& a, const LearnedModel<float>& b) {
  ASSERT_EQ(a.parameters().size(), b.parameters().size());
  EXPECT_EQ(std::memcmp(a.parameters().data(), b.parameters().data(), a.parameters().size_bytes()),
            0);
  EXPECT_EQ(a.emission().R(), b.emission().R());
  const ModelDescription& p = a.description();
  const ModelDescription& q = b.description();
  EXPECT_EQ(p.measured_names, q.measured_names);
  EXPECT_EQ(p.input_names, q.input_names);
  EXPECT_EQ(expert_json(p.prior), expert_json(q.prior));
  EXPECT_EQ(p.theta, q.theta);
  EXPECT_EQ(p.dt, q.dt);
  EXPECT_EQ(p.climate.mean, q.climate.mean);
  EXPECT_EQ(p.climate.spread, q.climate.spread);
  EXPECT_EQ(p.climate.measured_spread, q.climate.measured_spread);
  EXPECT_EQ(p.climate.A, q.climate.A);
  EXPECT_EQ(p.climate.Q, q.climate.Q);
  EXPECT_EQ(p.units.y_scale, q.units.y_scale);
  EXPECT_EQ(p.units.y_offset, q.units.y_offset);
  EXPECT_EQ(p.units.x_scale, q.units.x_scale);
  EXPECT_EQ(p.units.x_offset, q.units.x_offset);
  EXPECT_EQ(p.features.mean, q.features.mean);
  EXPECT_EQ(p.features.spread, q.features.spread);
  EXPECT_EQ(p.features.step, q.features.step);
  EXPECT_EQ(p.features.use_level, q.features.use_level);
  EXPECT_EQ(p.features.use_dt, q.features.use_dt);
  EXPECT_EQ(p.features.u_mean, q.features.u_mean);
  EXPECT_EQ(p.features.u_spread, q.features.u_spread);
  EXPECT_EQ(p.features.measured_state, q.features.measured_state);
  EXPECT_EQ(p.features.channel_of_state, q.features.channel_of_state);
  EXPECT_EQ(p.time, q.time);
  EXPECT_EQ(p.encoder, q.encoder);
  EXPECT_EQ(p.taps, q.taps);
  EXPECT_EQ(p.hidden, q.hidden);
  EXPECT_EQ(p.decoder, q.decoder);
  EXPECT_EQ(p.noise, q.noise);
  EXPECT_EQ(p.gap_trust, q.gap_trust);
  EXPECT_EQ(p.iterated_noise, q.iterated_noise);
}

TEST(ModelFile, RoundTripGivesTheSameNumbersAndBytes) {
  LearnedCase learned = test::pendulum_case();
  learned.description.theta = {1.0 / 3, 0.1};
  learned.description.time = TimeKind::Date;
  for (const LearnedCase& made : {full_case(), test::static_case(1), learned,
                                  test::network_case(1, 42, nn::EncoderKind::Lstm),
                                  test::network_case(2, 43, nn::EncoderKind::Conv),
                                  test::network_case(2, 44, nn::EncoderKind::Transformer),
                                  test::network_case(1, 45, nn::EncoderKind::Tcn)}) {
    const auto model = made.make<float>();
    const std::string bytes = file_bytes(*model);
    EXPECT_EQ(bytes, file_bytes(*model));
    const Ensemble again = parse_model_file(bytes, "m.kalmia");
    ASSERT_EQ(again.members.size(), 1u);
    expect_same_model(*model, again.first());
    EXPECT_FALSE(again.calibration);
    EXPECT_EQ(model_file_bytes(again), bytes);
  }
}

TEST(ModelFile, HoldsWhatIsSaidOfTheWhole) {
  const Ensemble ensemble = full_ensemble(full_case().make<float>());
  const std::string bytes = model_file_bytes(ensemble);
  const Ensemble again = parse_model_file(bytes, "m.kalmia");
  ASSERT_TRUE(again.calibration);
  const auto expect_same = [](const DistanceFactors& a, const DistanceFactors& b) {
    EXPECT_EQ(a.steps, b.steps);
    EXPECT_EQ(a.factors, b.factors);
    EXPECT_EQ(a.unmeasured, b.unmeasured);
  };
  expect_same(again.calibration->filter, ensemble.calibration->filter);
  expect_same(again.calibration->linearized, ensemble.calibration->linearized);
  expect_same(again.calibration->trained, ensemble.calibration->trained);
  EXPECT_EQ(again.data.measure, ensemble.data.measure);
  EXPECT_EQ(again.data.truth, ensemble.data.truth);
  EXPECT_EQ(again.data.inputs, ensemble.data.inputs);
  EXPECT_EQ(again.data.time, ensemble.data.time);
  EXPECT_EQ(again.data.key, ensemble.data.key);
  EXPECT_EQ(again.data.noise_columns, ensemble.data.noise_columns);
  EXPECT_EQ(again.summary_json, ensemble.summary_json);
  EXPECT_EQ(model_file_bytes(again), bytes);
}

TEST(ModelFile, HasTheLayoutOfSafetensors) {
  const Ensemble ensemble = full_ensemble(full_case().make<float>());
  const auto& model = ensemble.members[0];
  const Parsed file = read(model_file_bytes(ensemble));
  EXPECT_EQ((8 + file.header_length) % 8, 0u);
  const Json& metadata = file.header.at("__metadata__");
  EXPECT_EQ(metadata.at("format"), "kalmia");
  EXPECT_EQ(metadata.at("format_version"), std::to_string(kModelFileVersion));
  for (const auto& [key, value] : metadata.items()) EXPECT_TRUE(value.is_string()) << key;
  const Json description = Json::parse(metadata.at("description").get<std::string>());
  EXPECT_EQ(description.at("measured"), Json({"north", "east"}));
  EXPECT_EQ(description.at("networks").at("encoder"), "gru");
  EXPECT_EQ(description.at("networks").at("taps"), 4);
  EXPECT_EQ(description.at("networks").at("decoder"), Json({11}));
  EXPECT_EQ(description.at("training").at("loss"), 0.125);

  // Tensors follow one another without a gap, each aligned to its numbers.
  std::size_t end = 0, tensors = 0;
  for (const auto& [name, entry] : file.header.items()) {
    if (name == "__metadata__") continue;
    ++tensors;
    const std::size_t width = entry.at("dtype") == "F64" ? 8 : 4;
    std::size_t size = width;
    for (const Json& extent : entry.at("shape")) size *= extent.get<std::size_t>();
    EXPECT_EQ(entry.at("data_offsets"), Json({end, end + size})) << name;
    EXPECT_EQ(end % width, 0u) << name;
    end += size;
  }
  EXPECT_EQ(end, file.data.size());
  EXPECT_EQ(tensors, model->architecture().parameters.views().size() + 1);

  // A matrix and R, number by number.
  const nn::ParameterView& view = model->architecture().parameters.at("decoder.0.weight");
  const Json& entry = file.header.at("decoder.0.weight");
  EXPECT_EQ(entry.at("shape"), Json({view.rows, view.cols}));
  std::vector<float> weights(static_cast<std::size_t>(view.size()));
  std::memcpy(weights.data(), file.data.data() + entry.at("data_offsets")[0].get<std::size_t>(),
              weights.size() * sizeof(float));
  EXPECT_TRUE(std::equal(weights.begin(), weights.end(), model->parameters().data() + view.offset));
  std::vector<double> R(4);
  std::memcpy(R.data(),
              file.data.data() + file.header.at("noise.R").at("data_offsets")[0].get<std::size_t>(),
              32);
  EXPECT_EQ(R, model->emission().R());
}

TEST(ModelFile, HoldsTheKindsOfFilterAndSmoother) {
  for (const SmootherKind kind :
       {SmootherKind::Recurrent, SmootherKind::Recursive, SmootherKind::RecursiveAlternative}) {
    test::LearnedCase made = test::network_case(2, 45);
    made.description.head = heads::HeadKind::Direct;
    const heads::Architecture architecture = test::architecture_of(made.description);
    made.parameters.resize(static_cast<std::size_t>(architecture.parameters.size()));
    const auto model = made.make<float>();
    test::give_smoother(*model, 46, kind);
    const std::string bytes = file_bytes(*model);
    const auto again = parse_model_file(bytes, "m.kalmia");
    EXPECT_FALSE(again.first().description().recursive());
    EXPECT_FALSE(again.first().architecture().options.recursive());
    EXPECT_EQ(again.first().description().smoother.kind, kind);
    EXPECT_TRUE(std::ranges::equal(again.first().smoother()->parameters(),
                                   model->smoother()->parameters()));
    EXPECT_EQ(model_file_bytes(again), bytes);
  }
}

TEST(ModelFile, HoldsTheSmootherWhereThereIsOne) {
  const auto model = full_case().make<float>();
  const std::size_t tensors = read(file_bytes(*model)).header.size();
  test::give_smoother(*model, 44);
  const std::string bytes = file_bytes(*model);
  const auto again = parse_model_file(bytes, "m.kalmia");
  expect_same_model(*model, again.first());
  EXPECT_EQ(again.first().description().smoother.hidden, 7);
  EXPECT_EQ(again.first().description().smoother.decoder, std::vector<int>{6});
  ASSERT_NE(again.first().smoother(), nullptr);
  EXPECT_TRUE(
      std::ranges::equal(again.first().smoother()->parameters(), model->smoother()->parameters()));
  EXPECT_EQ(model_file_bytes(again), bytes);

  // Its tensors stand beside the filter's, by the same names with a prefix.
  const Parsed file = read(bytes);
  const auto& views = model->smoother()->architecture().parameters.views();
  EXPECT_EQ(file.header.size(), tensors + views.size());
  for (const nn::ParameterView& view : views) {
    const Json& entry = file.header.at("smoother." + view.name);
    std::vector<float> values(static_cast<std::size_t>(view.size()));
    ASSERT_EQ(entry.at("data_offsets")[1].get<std::size_t>() -
                  entry.at("data_offsets")[0].get<std::size_t>(),
              values.size() * sizeof(float));
    std::memcpy(values.data(), file.data.data() + entry.at("data_offsets")[0].get<std::size_t>(),
                values.size() * sizeof(float));
    EXPECT_TRUE(std::equal(values.begin(), values.end(),
                           model->smoother()->parameters().data() + view.offset))
        << view.name;
  }

  // One that is missing is named.
  Json header = file.header;
  header["smoother.other"] = header.at("smoother.decoder.0.bias");
  header.erase("smoother.decoder.0.bias");
  header.at("__metadata__").erase("crc32");
  header.at("__metadata__")["crc32"] = std::to_string(test_crc(header.dump() + file.data));
  const std::string message =
      message_of<DataError>([&] { parse_model_file(write(header, file.data), "m.kalmia"); });
  EXPECT_EQ(message, "m.kalmia: tensor smoother.decoder.0.bias is missing");
}

TEST(ModelFile, HoldsTheMembersOfAnEnsemble) {
  Ensemble ensemble = full_ensemble(full_case().make<float>());
  for (const std::uint64_t seed : {45, 46}) {
    LearnedCase made = full_case();
    made.parameters = test::network_case(2, seed).parameters;
    made.R[0] += static_cast<double>(seed);
    made.description.iterated_noise = 1 / static_cast<double>(seed);
    made.description.gap_trust = 1 / static_cast<double>(seed);
    auto model = made.make<float>();
    if (seed == 46) test::give_smoother(*model, seed);
    ensemble.members.push_back(std::move(model));
  }
  const std::string bytes = model_file_bytes(ensemble);
  const Ensemble again = parse_model_file(bytes, "m.kalmia");
  ASSERT_EQ(again.members.size(), 3u);
  for (std::size_t j = 0; j < 3; ++j) expect_same_model(*ensemble.members[j], *again.members[j]);
  EXPECT_EQ(again.members[0]->smoother(), nullptr);
  EXPECT_EQ(again.members[1]->smoother(), nullptr);
  ASSERT_NE(again.members[2]->smoother(), nullptr);
  EXPECT_TRUE(std::ranges::equal(again.members[2]->smoother()->parameters(),
                                 ensemble.members[2]->smoother()->parameters()));
  EXPECT_EQ(model_file_bytes(again), bytes);

  // One that is missing is named.
  const Parsed file = read(bytes);
  Json header = file.header;
  header["member.other"] = header.at("member.2.initial.e");
  header.erase("member.2.initial.e");
  header.at("__metadata__").erase("crc32");
  header.at("__metadata__")["crc32"] = std::to_string(test_crc(header.dump() + file.data));
  EXPECT_EQ(message_of<DataError>([&] { parse_model_file(write(header, file.data), "m.kalmia"); }),
            "m.kalmia: tensor member.2.initial.e is missing");
}

TEST(ModelFile, AnyAlteredByteIsRefusedOrMeansNothing) {
  const auto model = test::static_case(1).make<float>();
  const std::string bytes = file_bytes(*model);
  int accepted = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int flip : {0x01, 0x10, 0x80, 0x29}) {  // 0x29: a space becomes a tab
      std::string altered = bytes;
      altered[i] = static_cast<char>(altered[i] ^ flip);
      try {
        const auto parsed = parse_model_file(altered, "m.kalmia");
        ++accepted;
        ASSERT_EQ(model_file_bytes(parsed), bytes) << "byte " << i << " ^ " << flip;
      } catch (const DataError& error) {
        ASSERT_EQ(std::string(error.what()).rfind("m.kalmia: ", 0), 0u) << error.what();
      }
    }
  // Padding at most.
  EXPECT_LE(accepted, 8);
}

TEST(ModelFile, AnyPartOfAFileIsRefused) {
  const std::string bytes = file_bytes(*test::static_case(1).make<float>());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    ASSERT_THROW(parse_model_file(bytes.substr(0, size), "m.kalmia"), DataError) << size;
  EXPECT_THROW(parse_model_file(bytes + 'x', "m.kalmia"), DataError);
  const std::string cut = message_of<DataError>(
      [&] { parse_model_file(bytes.substr(0, bytes.size() - 4), "m.kalmia"); });
  EXPECT_NE(cut.find("cut off"), std::string::npos) << cut;
}

// Files of version 6 have one factor for all distances.
TEST(ModelFile, FactorsOfVersion6CountForAllDistances) {
  const Parsed file = read(model_file_bytes(full_ensemble(full_case().make<float>())));
  Json header = file.header;
  Json description = Json::parse(header["__metadata__"]["description"].get<std::string>());
  description["calibration"] = {{"filter", 0.5}, {"linearized", 2}, {"trained", 3}};
  header["__metadata__"]["description"] = description.dump();
  header["__metadata__"]["format_version"] = "6";
  header["__metadata__"].erase("crc32");
  header["__metadata__"]["crc32"] = std::to_string(test_crc(header.dump() + file.data));
  const Ensemble old = parse_model_file(write(header, file.data), "old.kalmia");
  ASSERT_TRUE(old.calibration);
  for (const double distance : {0.5, 3.0, 1e6, std::numeric_limits<double>::infinity()})
    for (const std::size_t m : {0, 1}) {
      EXPECT_EQ(old.calibration->filter.log_factor(m, distance), std::log(0.5));
      EXPECT_EQ(old.calibration->linearized.log_factor(m, distance), std::log(2.0));
      EXPECT_EQ(old.calibration->trained.log_factor(m, distance), std::log(3.0));
    }
}

TEST(ModelFile, AnotherVersionIsNamed) {
  const Parsed file = read(file_bytes(*test::static_case(1).make<float>()));
  Json header = file.header;
  header["__metadata__"]["format_version"] = "17";
  EXPECT_EQ(
      message_of<DataError>([&] { parse_model_file(write(header, file.data), "new.kalmia"); }),
      "new.kalmia: format version 17, but this build reads version " +
          std::to_string(kOldestModelFile) + " to " + std::to_string(kModelFileVersion) +
          "; update, or fit the model again");
}

TEST(ModelFile, WhatIsNoModelIsRefused) {
  const auto refused = [](const std::string& bytes) {
    return message_of<DataError>([&] { parse_model_file(bytes, "x"); });
  };
  EXPECT_EQ(refused(""),
            "x: not a Kalmia model: the file has 0 bytes, fewer than the length of a header takes");
  EXPECT_EQ(refused("t,y\n0,1.5\n1,2.5\n"), "x: not a Kalmia model: it has no header");
  EXPECT_EQ(refused(std::string(8, '\xff') + "{}"), "x: not a Kalmia model: it has no header");
  EXPECT_EQ(refused(std::string("\x05\0\0\0\0\0\0\0hello", 13)),
            "x: not a Kalmia model: its header is not JSON");
  EXPECT_EQ(refused(write(Json::parse("[1]"), "")),
            "x: not a Kalmia model: its header is not JSON");
  // Other programs write safetensors as well.
  EXPECT_EQ(refused(write(Json::object(), "")),
            "x: not a Kalmia model: its header has no __metadata__");
  EXPECT_EQ(refused(write({{"__metadata__", {{"format", "pt"}}}}, "")),
            "x: not a Kalmia model: its format is not \"kalmia\"");
  EXPECT_EQ(refused(std::string("\0\0\0\x01\0\0\0\0{}", 10)),
            "x: the file is cut off: its header should have 16777216 bytes, but 2 follow");
}

// Depth of a file's own choosing must not reach anything that recurses.
TEST(ModelFile, NestingBeyondReasonIsRefused) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  const auto refused = [](const std::string& bytes) {
    return message_of<DataError>([&] { parse_model_file(bytes, "x"); });
  };
  const std::string text =
      R"({"__metadata__":{"format":"kalmia","format_version":"6","more":)" + deep + "}}";
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>((text.size() >> (8 * i)) & 0xff);
  EXPECT_EQ(refused(bytes + text),
            "x: its header has arrays and objects 100002 deep within one another, but at most 64 "
            "are read; the file is damaged");
  const Parsed file = read(file_bytes(*test::static_case(1).make<float>()));
  Json header = file.header;
  header["__metadata__"]["description"] = deep;
  header["__metadata__"].erase("crc32");
  header["__metadata__"]["crc32"] = std::to_string(test_crc(header.dump() + file.data));
  EXPECT_EQ(refused(write(header, file.data)),
            "x: its description has arrays and objects 100000 deep within one another, but at most "
            "64 are read; the file is damaged");
}

// The parameters of a file whose checksum is right, but whose parts do not fit.
TEST(ModelFile, ContradictionsAreRefused) {
  const Parsed file = read(file_bytes(*test::static_case(1).make<float>()));
  const auto refused = [&](const std::function<void(Json & header, Json & description)>& change) {
    Json header = file.header;
    Json description = Json::parse(header.at("__metadata__").at("description").get<std::string>());
    change(header, description);
    header["__metadata__"]["description"] = description.dump();
    header["__metadata__"].erase("crc32");
    header["__metadata__"]["crc32"] = std::to_string(test_crc(header.dump() + file.data));
    return message_of<DataError>([&] { parse_model_file(write(header, file.data), "x"); });
  };
  const auto expect_has = [](const std::string& message, const char* part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect_has(refused([](Json&, Json& d) { d["networks"]["filter"] = "recursion"; }),
             "filter = \"recursion\", but it must be recursive, recurrent or diagonal");
  expect_has(refused([](Json&, Json& d) { d["smoother"]["kind"] = "both"; }),
             "smoother = \"both\", but it must be fused");
  expect_has(refused([](Json&, Json& d) { d["networks"]["hidden"] = 2000000000; }),
             "2000000000 units wide");
  expect_has(refused([](Json&, Json& d) { d["networks"]["hidden"] = 12; }), "parameters, more");
  expect_has(refused([](Json&, Json& d) { d["networks"]["decoder"] = {1000000}; }), "units wide");
  expect_has(refused([](Json&, Json& d) { d["networks"]["hidden"] = -5; }), "hidden = -5");
  expect_has(refused([](Json&, Json& d) { d["networks"]["taps"] = 2000000000; }),
             "taps = 2000000000");
  expect_has(refused([](Json&, Json& d) { d["networks"]["encoder"] = "conv"; }),
             "parameters, more");
  expect_has(refused([](Json&, Json& d) { d["networks"]["encoder"] = "wave"; }), "\"wave\"");
  expect_has(refused([](Json&, Json& d) { d["prior"]["order"] = 2000000000; }), "order");
  expect_has(refused([](Json&, Json& d) { d["prior"]["name"] = "magic"; }), "magic");
  expect_has(refused([](Json&, Json& d) { d["prior"] = "constant-velocity"; }), "damaged");
  expect_has(refused([](Json&, Json& d) { d["theta"] = {1}; }), "theta");
  expect_has(refused([](Json&, Json& d) { d["inputs"] = {"u"}; }), "features.u_mean");
  expect_has(refused([](Json&, Json& d) { d["dt"] = 0; }), "dt");
  expect_has(refused([](Json&, Json& d) { d["climate"]["spread"] = {1}; }), "climate.mean");
  expect_has(refused([](Json&, Json& d) { d["climate"] = 1; }), "damaged");
  expect_has(refused([](Json&, Json& d) {
               d["climate"] = {{"mean", {0, 0}},
                               {"spread", {1, -1}},
                               {"A", {0, 0, 0, 0}},
                               {"Q", {0, 0, 0, 0}},
                               {"measured_spread", {1}}};
             }),
             "climate.spread[1] = -1");
  expect_has(refused([](Json&, Json& d) { d["time"] = "hours"; }), "time = \"hours\"");
  expect_has(refused([](Json&, Json& d) {
               d["calibration"] = {{"filter", -1}, {"linearized", 1}, {"trained", 1}};
             }),
             "calibration.filter.factors[0][0] = -1");
  expect_has(refused([](Json&, Json& d) {
               d["calibration"] = {{"filter", {{"steps", {1}}}}, {"linearized", 1}, {"trained", 1}};
             }),
             "damaged");
  expect_has(refused([](Json&, Json& d) {
               d["further_members"] = Json::array(
                   {{{"smoother", d["smoother"]}, {"gap_trust", 1}, {"iterated_noise", 1}}});
             }),
             "tensor member.1.");
  expect_has(refused([](Json&, Json& d) { d["units"]["y_scale"] = {nullptr}; }), "damaged");
  expect_has(refused([](Json&, Json& d) { d.erase("features"); }), "features");
  expect_has(refused([](Json&, Json& d) { d["features"]["use_level"] = {0}; }), "tensor");
  expect_has(refused([](Json&, Json& d) { d["measured"] = {"a", "b"}; }), "parameters, more");
  expect_has(refused([](Json& h, Json&) { h["initial.e"]["dtype"] = "F16"; }), "tensor initial.e");
  expect_has(refused([](Json& h, Json&) { h["initial.e"]["shape"] = {3}; }), "tensor initial.e");
  expect_has(refused([](Json& h, Json&) {
               h["noise.R"]["data_offsets"] = {0, 4};
             }),
             "tensor noise.R");
  expect_has(refused([](Json& h, Json&) {
               h["other"] = h["initial.e"];
               h.erase("initial.e");
             }),
             "tensor initial.e is missing");
}

// Column names of a file in another encoding must not cost the user the model.
TEST(ModelFile, NamesThatAreNoUtf8AreSavedAllTheSame) {
  LearnedCase made = test::static_case(1);
  made.description.measured_names = {"temp\xe9rature"};
  const auto model = made.make<float>();
  const auto again = parse_model_file(file_bytes(*model), "m.kalmia");
  EXPECT_EQ(again.first().description().measured_names[0], "temp\xef\xbf\xbdrature");
  EXPECT_EQ(model_file_bytes(again), file_bytes(*model));
  EXPECT_TRUE(Json::accept(description_json(again)));
}

TEST(DescriptionJson, TellsWhatTheModelIs) {
  const Ensemble ensemble = full_ensemble(full_case().make<float>());
  const Json json = Json::parse(description_json(ensemble));
  EXPECT_EQ(json.at("prior").at("name"), "constant-velocity");
  EXPECT_EQ(json.at("states"), Json({"north", "north_rate", "east", "east_rate"}));
  EXPECT_EQ(json.at("noise"), "0.5,0.3");
  EXPECT_EQ(json.at("time"), "number");
  EXPECT_EQ(json.at("parameters"), ensemble.first().parameters().size());
  EXPECT_EQ(json.at("training").at("notes")[0], "a \"quoted\" one");
}

}  // namespace
}  // namespace kalmia::model
