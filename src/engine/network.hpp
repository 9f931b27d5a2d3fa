// Networks over time: an encoder that reads the features of each step, from one side or both, and a
// decoder that makes rows of numbers of what it remembers. What the rows mean is the head's affair.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/encoder.hpp"
#include "nn/mlp.hpp"
#include "nn/parameters.hpp"

namespace kalmia::engine {

/// Sizes of the networks.
struct NetworkOptions {
  /// Features the encoder reads at each step (the measurement, and what else the caller adds).
  int input_dim = 0;
  /// What reads the features. The paper's is the GRU.
  nn::EncoderKind encoder = nn::EncoderKind::Gru;
  /// Inputs that an encoder looks back on, the newest among them; for those that read taps.
  int taps = 16;
  /// Hidden units of each encoder.
  int hidden = 64;
  /// Widths of the decoder's hidden layers.
  std::vector<int> decoder = {64};
  /// true: a second encoder reads the future, y[k+1], y[k+2], ...: the smoothers.
  bool two_sided = false;

  /// The violated rules, each a line "\n  name = value, but it must be ..."; empty: none.
  std::string violations() const;
};

/// One line of `violations`, or nothing if the rule holds.
std::string violation(bool holds, const std::string& name, int value, const std::string& rule);

/// What the decoder puts out.
struct OutputRows {
  int count = 0;
  /// Rows that go through softplus: standard deviations. The head finds them beside the others.
  std::vector<int> positive;
};

/// The parameters of the networks, in one block.
///
/// In this order: those of the encoder, named after its kind (gru_fwd.*, lstm_fwd.* and so on), the
/// same for the backward direction (gru_bwd.* and so on) if two-sided, decoder.{0, 1, ...}.
/// {weight, bias}; a head adds its own.
struct NetworkLayout {
  /// Takes the options as they are: they must be valid.
  NetworkLayout(const NetworkOptions& sizes, OutputRows outputs);

  NetworkOptions networks;
  OutputRows rows;
  nn::ParameterLayout parameters;
  nn::EncoderLayout encoder_fwd;
  nn::EncoderLayout encoder_bwd;  ///< two-sided networks only
  std::ptrdiff_t bwd_begin = 0;   ///< where the parameters of the backward direction begin
  nn::MlpLayout decoder;

  int directions() const { return networks.two_sided ? 2 : 1; }
  int output_rows() const { return rows.count; }
  /// What the encoder remembers between steps, per sequence (see nn::EncoderRows).
  int encoder_state_rows() const { return nn::encoder_rows(encoder_fwd).state; }

  /// FLOP of the networks per time step, forward only (a training step takes three times that).
  double network_flops() const;
};

/// Sets `values` (layout.parameters.size() numbers) to a starting point: encoders as their kinds
/// say, hidden layers uniform within 1/sqrt(fan-in) as PyTorch does, the decoder's last layer and
/// what a head has added zero. Streams are keyed by the parameter's name.
template <typename T>
void initialise_network(const NetworkLayout& layout, std::uint64_t seed, T* values);

/// The weights as the kernels read them: packed from a parameter block after each optimiser step,
/// then shared by all threads.
template <typename T>
struct PackedNetwork {
  nn::PackedEncoder<T> encoder_fwd;
  nn::PackedEncoder<T> encoder_bwd;
  nn::PackedMlp<T> decoder;

  void pack(const NetworkLayout& layout, const T* parameters);
};

}  // namespace kalmia::engine
