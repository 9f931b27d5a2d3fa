#include "nn/encoder_table.hpp"

#include <algorithm>

namespace kalmia::nn {
namespace {

constexpr EncoderEntry kTable[] = {
    {.kind = EncoderKind::Gru, .name = "gru", .meaning = "the paper's"},
    {.kind = EncoderKind::Lstm, .name = "lstm", .meaning = ""},
    {.kind = EncoderKind::Conv,
     .name = "conv",
     .meaning = "a causal convolution",
     .reads_taps = true},
};

}  // namespace

std::span<const EncoderEntry> encoder_table() { return kTable; }

const EncoderEntry& encoder_entry(EncoderKind kind) {
  return *std::ranges::find(kTable, kind, &EncoderEntry::kind);
}

}  // namespace kalmia::nn
