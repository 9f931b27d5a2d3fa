#include "nn/encoder.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kalmia/error.hpp"

namespace kalmia::nn {
namespace {

constexpr int kInput = 3, kHidden = 8, kTaps = 5;

EncoderLayout layout_of(EncoderKind kind, ParameterLayout& parameters) {
  return add_encoder(parameters, "e", kind, kInput, kHidden, kTaps);
}

TEST(Encoder, HasANameForEveryKind) {
  for (const EncoderKind kind : {EncoderKind::Gru, EncoderKind::Lstm, EncoderKind::Conv})
    EXPECT_EQ(encoder_of_name(encoder_name(kind)), kind);
  EXPECT_EQ(encoder_name(EncoderKind::Lstm), "lstm");
  try {
    encoder_of_name("transformer");
    FAIL() << "no exception";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("transformer"), std::string::npos) << error.what();
  }
}

TEST(Encoder, LaysOutItsParametersAndRows) {
  struct Expected {
    EncoderKind kind;
    std::ptrdiff_t parameters;
    EncoderRows rows;
    double flops;
    int fan_in;
  };
  for (const Expected& e :
       {Expected{EncoderKind::Gru, 24 * (3 + 8 + 2), {8, 8, 32}, 2.0 * 24 * 11, 8},
        Expected{EncoderKind::Lstm, 32 * (3 + 8 + 2), {16, 16, 32}, 2.0 * 32 * 11, 8},
        Expected{EncoderKind::Conv, 8 * (15 + 1), {12, 8, 8}, 2.0 * 8 * 15, 15}}) {
    SCOPED_TRACE(std::string(encoder_name(e.kind)));
    ParameterLayout parameters;
    const EncoderLayout layout = layout_of(e.kind, parameters);
    EXPECT_EQ(static_cast<EncoderKind>(layout.index()), e.kind);
    EXPECT_EQ(parameters.size(), e.parameters);
    EXPECT_EQ(encoder_rows(layout).state, e.rows.state);
    EXPECT_EQ(encoder_rows(layout).step, e.rows.step);
    EXPECT_EQ(encoder_rows(layout).tape, e.rows.tape);
    EXPECT_DOUBLE_EQ(encoder_flops(layout), e.flops);
    EXPECT_EQ(encoder_fan_in(layout), e.fan_in);
  }
}

// Packing again keeps the memory, packing another kind takes its place.
TEST(Encoder, PacksTheKindOfItsLayout) {
  PackedEncoder<float> packed;
  for (const EncoderKind kind : {EncoderKind::Conv, EncoderKind::Gru, EncoderKind::Lstm}) {
    ParameterLayout parameters;
    const EncoderLayout layout = layout_of(kind, parameters);
    std::vector<float> values(static_cast<std::size_t>(parameters.size()), 0.5f);
    packed.pack(layout, values.data());
    EXPECT_EQ(packed.weights.index(), layout.index());
  }
  ParameterLayout parameters;
  const EncoderLayout layout = layout_of(EncoderKind::Lstm, parameters);
  const float* before = std::get<PackedLstm<float>>(packed.weights).bias.data();
  const std::vector<float> values(static_cast<std::size_t>(parameters.size()), 0.25f);
  packed.pack(layout, values.data());
  const Buffer<float>& bias = std::get<PackedLstm<float>>(packed.weights).bias;
  EXPECT_EQ(bias.data(), before);
  EXPECT_EQ(bias[0], 0.5f);
}

}  // namespace
}  // namespace kalmia::nn
