// The encoders there are: what each is called, and what users may say of it.
#pragma once

#include <span>
#include <string_view>

#include "nn/encoder.hpp"

namespace kalmia::nn {

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

}  // namespace kalmia::nn
