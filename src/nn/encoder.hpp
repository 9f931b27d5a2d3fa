// The encoder: what turns the inputs up to a step into the hidden units the decoder reads. One of
// several kinds; encoder_parts.hpp says what a kind has. All that lists them is here: the kinds,
// and their layouts in the same order.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "nn/conv.hpp"
#include "nn/encoder_parts.hpp"
#include "nn/gru.hpp"
#include "nn/lstm.hpp"
#include "nn/parameters.hpp"
#include "nn/tcn.hpp"
#include "nn/transformer.hpp"

namespace kalmia::nn {

enum class EncoderKind {
  Gru,          ///< gated recurrent unit (gru.hpp), the paper's
  Lstm,         ///< long short-term memory (lstm.hpp)
  Conv,         ///< causal convolution over the last inputs (conv.hpp)
  Transformer,  ///< self-attention over the last inputs (transformer.hpp)
  Tcn,          ///< residual convolutions, each looking back twice as far as the last (tcn.hpp)
};

/// In the order of EncoderKind, here and wherever something is made of each.
using EncoderLayout = std::variant<GruLayout, LstmLayout, ConvLayout, TransformerLayout, TcnLayout>;

inline constexpr int kEncoderCount = static_cast<int>(std::variant_size_v<EncoderLayout>);

/// What the layout of an encoder says of it (encoder_parts.hpp).
struct EncoderEntry {
  EncoderKind kind;
  std::string_view name;     ///< as users write it: ModelOptions::encoder
  std::string_view meaning;  ///< for those who choose
  bool reads_taps = false;   ///< it looks back on ModelOptions::taps steps
};

/// In the order of EncoderKind, in which they are listed to users.
std::span<const EncoderEntry> encoder_table();
const EncoderEntry& encoder_entry(EncoderKind kind);
/// Null if there is none of that name.
const EncoderEntry* find_encoder(std::string_view name);

inline std::string_view encoder_name(EncoderKind kind) { return encoder_entry(kind).name; }
/// Throws ConfigError if there is none of that name.
EncoderKind encoder_of_name(std::string_view name);

/// Adds the parameters of an encoder, named `prefix`.*. `taps` is for those that read them.
EncoderLayout add_encoder(ParameterLayout& parameters, const std::string& prefix, EncoderKind kind,
                          int input, int hidden, int taps);

/// See encoder_parts.hpp.
EncoderRows encoder_rows(const EncoderLayout& layout);
std::ptrdiff_t encoder_scratch_rows(const EncoderLayout& layout, const WindowShape& window);
double encoder_flops(const EncoderLayout& layout);

/// Sets a parameter of the encoder (in `values`, its own numbers) to what training starts with.
template <typename T>
void initialise_encoder(const EncoderLayout& layout, const ParameterView& parameter,
                        RandomStream& random, T* values);

/// `Of<T>` of each kind.
template <typename T, template <typename, typename> typename Of, typename Layouts = EncoderLayout>
struct OfEachEncoder;
template <typename T, template <typename, typename> typename Of, typename... Layouts>
struct OfEachEncoder<T, Of, std::variant<Layouts...>> {
  using type = std::variant<Of<T, Layouts>...>;
};
template <typename T, typename Layout>
using PackedOf = typename Layout::template Packed<T>;
template <typename T, typename Layout>
using StreamedOf = typename Layout::template Streamed<T>;

/// The weights in the order the kernels read them.
template <typename T>
struct PackedEncoder {
  typename OfEachEncoder<T, PackedOf>::type weights;

  /// Packs the encoder at `layout` in `parameters`. Allocates on the first call only.
  void pack(const EncoderLayout& layout, const T* parameters);
};

/// The weights as the kernel of one sequence reads them, and its scratch.
template <typename T>
struct StreamedEncoder {
  typename OfEachEncoder<T, StreamedOf>::type weights;

  void assign(const EncoderLayout& layout, const T* parameters);
};

}  // namespace kalmia::nn
