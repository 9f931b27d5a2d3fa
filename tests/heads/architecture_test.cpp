#include "heads/architecture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kalmia/error.hpp"

namespace kalmia::heads {
namespace {

ArchitectureOptions lorenz_options() {
  ArchitectureOptions options;
  options.state_dim = 3;
  options.meas_dim = 3;
  options.input_dim = 3;
  return options;
}

TEST(Architecture, CountsItsParametersAndItsArithmetic) {
  const Architecture a(lorenz_options());
  EXPECT_EQ(a.output_rows(), 9 + 3 + 6);
  EXPECT_EQ(a.parameters.size(),
            192 * 3 + 192 * 64 + 2 * 192 + 64 * 64 + 64 + 18 * 64 + 18 + 3 + 6);
  EXPECT_DOUBLE_EQ(a.network_flops(), 2.0 * (192 * 67 + 64 * 64 + 18 * 64));
}

TEST(Architecture, RecurrentModelsHaveNoF) {
  ArchitectureOptions options = lorenz_options();
  options.head = heads::HeadKind::Direct;
  options.two_sided = true;
  const Architecture a(options);
  EXPECT_EQ(a.e_row(), 0);
  EXPECT_EQ(a.output_rows(), 3 + 6);
  EXPECT_EQ(a.decoder.widths.front(), 128);
  EXPECT_EQ(a.parameters.at("gru_bwd.weight_hh").rows, 192);
}

TEST(Architecture, NamesItsParametersAfterTheEncoder) {
  ArchitectureOptions options = lorenz_options();
  options.two_sided = true;
  options.encoder = nn::EncoderKind::Lstm;
  const Architecture lstm(options);
  EXPECT_EQ(lstm.parameters.at("lstm_fwd.weight_ih").rows, 256);
  EXPECT_EQ(lstm.parameters.at("lstm_bwd.weight_hh").cols, 64);
  EXPECT_EQ(lstm.encoder_state_rows(), 128);
  options.encoder = nn::EncoderKind::Conv;
  options.taps = 10;
  const Architecture conv(options);
  EXPECT_EQ(conv.parameters.at("conv_bwd.weight").cols, 30);
  EXPECT_EQ(conv.encoder_state_rows(), 27);
  EXPECT_DOUBLE_EQ(conv.network_flops(), 2.0 * (2 * 64 * 30 + 128 * 64 + 18 * 64));
}

TEST(Architecture, NamesEveryOptionThatIsWrong) {
  ArchitectureOptions options = lorenz_options();
  options.state_dim = 0;
  options.taps = 0;
  options.decoder = {64, -2};
  try {
    const Architecture a(options);
    FAIL() << "no exception";
  } catch (const ConfigError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("state_dim = 0"), std::string::npos) << message;
    EXPECT_NE(message.find("taps = 0"), std::string::npos) << message;
    EXPECT_NE(message.find("decoder[1] = -2"), std::string::npos) << message;
  }
}

// The residual F and e start at zero, Q and the initial covariance at the given scales.
TEST(Architecture, StartsFromTheExpertMap) {
  const Architecture a(lorenz_options());
  std::vector<double> values(static_cast<std::size_t>(a.parameters.size()));
  initialise(a, 7, 0.3, 2.0, values.data());
  const nn::ParameterView& last = a.parameters.at("decoder.1.weight");
  for (std::ptrdiff_t i = 0; i < last.size(); ++i)
    ASSERT_EQ(values[static_cast<std::size_t>(last.offset + i)], 0.0);
  const auto softplus = [](double x) { return std::log1p(std::exp(x)); };
  const auto bias = static_cast<std::size_t>(a.parameters.at("decoder.1.bias").offset);
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(values[bias + i], 0.0);
  EXPECT_NEAR(softplus(values[bias + 12]), 0.3, 1e-12);
  EXPECT_EQ(values[bias + 13], 0.0);
  EXPECT_NEAR(softplus(values[bias + 14]), 0.3, 1e-12);
  EXPECT_NEAR(softplus(values[static_cast<std::size_t>(a.initial_L)]), 2.0, 1e-12);

  std::vector<double> again(values.size()), other(values.size());
  initialise(a, 7, 0.3, 2.0, again.data());
  initialise(a, 8, 0.3, 2.0, other.data());
  EXPECT_EQ(values, again);
  EXPECT_NE(values, other);
}

// As PyTorch does: within 1/sqrt(64) for recurrent encoders, 1/sqrt(what it reads) for a layer.
TEST(Architecture, DrawsTheEncoderWithinItsFanIn) {
  const auto largest = [](nn::EncoderKind encoder, const char* name) {
    ArchitectureOptions options = lorenz_options();
    options.encoder = encoder;
    const Architecture a(options);
    std::vector<double> values(static_cast<std::size_t>(a.parameters.size()));
    initialise(a, 7, 0.3, 2.0, values.data());
    const nn::ParameterView& view = a.parameters.at(name);
    double most = 0;
    for (std::ptrdiff_t i = 0; i < view.size(); ++i)
      most = std::max(most, std::abs(values[static_cast<std::size_t>(view.offset + i)]));
    return most;
  };
  const auto expect_bound = [](double most, double bound) {
    EXPECT_LE(most, bound);
    EXPECT_GT(most, 0.96 * bound);
  };
  expect_bound(largest(nn::EncoderKind::Gru, "gru_fwd.weight_hh"), 1 / std::sqrt(64.0));
  expect_bound(largest(nn::EncoderKind::Lstm, "lstm_fwd.weight_ih"), 1 / std::sqrt(64.0));
  expect_bound(largest(nn::EncoderKind::Conv, "conv_fwd.weight"), 1 / std::sqrt(48.0));
  const auto transformer = nn::EncoderKind::Transformer, tcn = nn::EncoderKind::Tcn;
  expect_bound(largest(transformer, "transformer_fwd.embed.weight"), 1 / std::sqrt(3.0));
  expect_bound(largest(transformer, "transformer_fwd.key_value.weight"), 1 / std::sqrt(64.0));
  expect_bound(largest(transformer, "transformer_fwd.contract.weight"), 1 / std::sqrt(128.0));
  expect_bound(largest(tcn, "tcn_fwd.embed.weight"), 1 / std::sqrt(3.0));
  expect_bound(largest(tcn, "tcn_fwd.3.older"), 1 / std::sqrt(128.0));
}

}  // namespace
}  // namespace kalmia::heads
