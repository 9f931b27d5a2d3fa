// The encoder: what turns the inputs up to a step into the hidden units the decoder reads. One of
// three kinds.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "nn/conv.hpp"
#include "nn/gru.hpp"
#include "nn/lstm.hpp"
#include "nn/parameters.hpp"

namespace kalmia::nn {

enum class EncoderKind {
  Gru,   ///< gated recurrent unit (gru.hpp), the paper's
  Lstm,  ///< long short-term memory (lstm.hpp)
  Conv,  ///< causal convolution over the last inputs (conv.hpp)
};

/// "gru", "lstm", "conv".
std::string_view encoder_name(EncoderKind kind);

/// Whether there is an encoder of that name, and all there are: "gru, lstm or conv".
bool is_encoder(std::string_view name);
std::string encoder_alternatives();

/// The kind of that name. Throws ConfigError if there is none.
EncoderKind encoder_of_name(std::string_view name);

/// Alternatives in the order of EncoderKind, here and in PackedEncoder.
using EncoderLayout = std::variant<GruLayout, LstmLayout, ConvLayout>;

/// Adds the parameters of an encoder, named `prefix`.*. `taps` is the convolution's alone.
EncoderLayout add_encoder(ParameterLayout& parameters, const std::string& prefix, EncoderKind kind,
                          int input, int hidden, int taps);

/// Rows of panels that an encoder needs.
struct EncoderRows {
  /// What a sequence remembers between steps: GRU h; LSTM h, c; convolution the last taps - 1
  /// inputs, oldest first.
  int state = 0;
  /// Recorded at each step, h first: h, and the LSTM's c.
  int step = 0;
  /// Recorded at each step of training: gates, replaced by the adjoints that the weight gradients
  /// are made of.
  int tape = 0;
};
EncoderRows encoder_rows(const EncoderLayout& layout);

/// FLOP of one step.
double encoder_flops(const EncoderLayout& layout);

/// Numbers each hidden unit sums over, which set the scale of its first weights: those of h for
/// recurrent encoders, as PyTorch has it.
int encoder_fan_in(const EncoderLayout& layout);

/// The weights in the order the kernels read them.
template <typename T>
struct PackedEncoder {
  std::variant<PackedGru<T>, PackedLstm<T>, PackedConv<T>> weights;

  /// Packs the encoder at `layout` in `parameters`. Allocates on the first call only.
  void pack(const EncoderLayout& layout, const T* parameters);
};

}  // namespace kalmia::nn
