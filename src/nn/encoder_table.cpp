#include "nn/encoder_table.hpp"

#include <array>
#include <utility>

namespace kalmia::nn {
namespace {

using Everyone = std::make_index_sequence<std::variant_size_v<EncoderLayout>>;

template <std::size_t kIndex>
constexpr EncoderEntry entry_at() {
  using Layout = std::variant_alternative_t<kIndex, EncoderLayout>;
  return {static_cast<EncoderKind>(kIndex), Layout::kName, Layout::kMeaning, Layout::kReadsTaps};
}

template <std::size_t... kIndex>
constexpr std::array<EncoderEntry, sizeof...(kIndex)> all_entries(std::index_sequence<kIndex...>) {
  return {entry_at<kIndex>()...};
}

constexpr auto kTable = all_entries(Everyone());

}  // namespace

std::span<const EncoderEntry> encoder_table() { return kTable; }

const EncoderEntry& encoder_entry(EncoderKind kind) {
  return kTable[static_cast<std::size_t>(kind)];
}

}  // namespace kalmia::nn
