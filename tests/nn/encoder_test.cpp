#include "nn/encoder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
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
  ASSERT_EQ(encoder_table().size(), static_cast<std::size_t>(kEncoderCount));
  for (int index = 0; index < kEncoderCount; ++index) {
    const auto kind = static_cast<EncoderKind>(index);
    EXPECT_EQ(encoder_entry(kind).kind, kind);
    EXPECT_EQ(find_encoder(encoder_name(kind)), &encoder_entry(kind));
    EXPECT_EQ(encoder_of_name(encoder_name(kind)), kind);
  }
  EXPECT_EQ(find_encoder("rnn"), nullptr);
  EXPECT_EQ(encoder_name(EncoderKind::Gru), "gru");
  EXPECT_EQ(encoder_name(EncoderKind::Lstm), "lstm");
  EXPECT_EQ(encoder_name(EncoderKind::Conv), "conv");
  EXPECT_EQ(encoder_name(EncoderKind::Transformer), "transformer");
  EXPECT_EQ(encoder_name(EncoderKind::Tcn), "tcn");
  try {
    encoder_of_name("gruu");
    FAIL() << "no exception";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "encoder = \"gruu\", but it must be gru, lstm, conv, transformer or "
                 "tcn; did you mean gru?");
  }
}

TEST(Encoder, TapsAreForWhatLooksBackOnThem) {
  for (const EncoderEntry& each : encoder_table())
    EXPECT_EQ(each.reads_taps, each.kind != EncoderKind::Gru && each.kind != EncoderKind::Lstm)
        << each.name;
}

TEST(Encoder, LaysOutItsParametersAndRows) {
  struct Expected {
    EncoderKind kind;
    std::ptrdiff_t parameters;
    EncoderRows rows;
    double flops;
    double bound;  // of the first values of its first parameter
  };
  for (const Expected& e :
       {Expected{
            EncoderKind::Gru, 24 * (3 + 8 + 2), {8, 8, 32, 0}, 2.0 * 24 * 11, 1 / std::sqrt(8)},
        Expected{
            EncoderKind::Lstm, 32 * (3 + 8 + 2), {16, 16, 32, 0}, 2.0 * 32 * 11, 1 / std::sqrt(8)},
        Expected{EncoderKind::Conv, 8 * (15 + 1), {12, 8, 8, 0}, 2.0 * 8 * 15, 1 / std::sqrt(15)},
        // Two heads; slots of 17 rows; embed, query, keys and values, output, twice 8 x 16.
        Expected{EncoderKind::Transformer,
                 8 * 4 + 8 * 9 + 16 * 8 + 2 * 5 + 8 * 9 + 16 * 9 + 8 * 17,
                 {4 * 17, 8, 6 * 8 + 2 + 2 * 5, 16},
                 2.0 * 8 * (3 + 64) + 4 * 8 * 5,
                 1 / std::sqrt(3)},
        // Three layers, which read 8 inputs, the fewest that cover 5.
        Expected{EncoderKind::Tcn,
                 8 * 4 + 3 * 8 * 17,
                 {7 * 8, 8, 4 * 8, 8},
                 2.0 * 8 * (3 + 3 * 16),
                 1 / std::sqrt(3)}}) {
    SCOPED_TRACE(std::string(encoder_name(e.kind)));
    ParameterLayout parameters;
    const EncoderLayout layout = layout_of(e.kind, parameters);
    EXPECT_EQ(static_cast<EncoderKind>(layout.index()), e.kind);
    EXPECT_EQ(parameters.size(), e.parameters);
    EXPECT_EQ(encoder_rows(layout).state, e.rows.state);
    EXPECT_EQ(encoder_rows(layout).step, e.rows.step);
    EXPECT_EQ(encoder_rows(layout).tape, e.rows.tape);
    EXPECT_DOUBLE_EQ(encoder_flops(layout), e.flops);
    EXPECT_EQ(encoder_rows(layout).transposed, e.rows.transposed);
    const ParameterView& first = parameters.views()[0];
    std::vector<double> values(static_cast<std::size_t>(first.size()));
    RandomStream random(5, "encoder");
    initialise_encoder(layout, first, random, values.data());
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    EXPECT_LE(largest, e.bound);
    EXPECT_GT(largest, 0.8 * e.bound);
  }
}

// Packing again keeps the memory, packing another kind takes its place.
TEST(Encoder, PacksTheKindOfItsLayout) {
  PackedEncoder<float> packed;
  for (const EncoderKind kind : {EncoderKind::Conv, EncoderKind::Gru, EncoderKind::Transformer,
                                 EncoderKind::Tcn, EncoderKind::Lstm}) {
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
