#include "nn/encoder.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/option_rules.hpp"
#include "kalmia/error.hpp"

namespace kalmia::nn {
namespace {

using AddTo = EncoderLayout (*)(ParameterLayout&, const std::string&, int input, int hidden,
                                int taps);

template <EncoderKindLayout Layout>
EncoderLayout add_layout(ParameterLayout& parameters, const std::string& prefix, int input,
                         int hidden, [[maybe_unused]] int taps) {
  if constexpr (Layout::kReadsTaps)
    return Layout::add_to(parameters, prefix, input, hidden, taps);
  else
    return Layout::add_to(parameters, prefix, input, hidden);
}

template <std::size_t... kIndex>
constexpr auto entries_of(std::index_sequence<kIndex...>) {
  return std::array{EncoderEntry{static_cast<EncoderKind>(kIndex),
                                 std::variant_alternative_t<kIndex, EncoderLayout>::kName,
                                 std::variant_alternative_t<kIndex, EncoderLayout>::kMeaning,
                                 std::variant_alternative_t<kIndex, EncoderLayout>::kReadsTaps}...};
}
template <std::size_t... kIndex>
constexpr auto adders_of(std::index_sequence<kIndex...>) {
  return std::array<AddTo, sizeof...(kIndex)>{
      &add_layout<std::variant_alternative_t<kIndex, EncoderLayout>>...};
}

// In the order of EncoderKind.
using Everyone = std::make_index_sequence<std::variant_size_v<EncoderLayout>>;
constexpr auto kEntries = entries_of(Everyone());
constexpr auto kAddTo = adders_of(Everyone());

}  // namespace

std::span<const EncoderEntry> encoder_table() { return kEntries; }

const EncoderEntry& encoder_entry(EncoderKind kind) {
  return kEntries[static_cast<std::size_t>(kind)];
}

const EncoderEntry* find_encoder(std::string_view name) {
  const auto* found = std::ranges::find(kEntries, name, &EncoderEntry::name);
  return found == kEntries.end() ? nullptr : found;
}

EncoderKind encoder_of_name(std::string_view name) {
  if (const EncoderEntry* entry = find_encoder(name)) return entry->kind;
  throw ConfigError("encoder = \"" + std::string(name) + "\", but it must be " +
                    name_rule(name, choices_in(encoder_table())));
}

EncoderLayout add_encoder(ParameterLayout& parameters, const std::string& prefix, EncoderKind kind,
                          int input, int hidden, int taps) {
  return kAddTo[static_cast<std::size_t>(kind)](parameters, prefix, input, hidden, taps);
}

EncoderRows encoder_rows(const EncoderLayout& layout) {
  return std::visit([](const auto& l) { return l.rows(); }, layout);
}

std::ptrdiff_t encoder_scratch_rows(const EncoderLayout& layout, const WindowShape& window) {
  return std::visit([&](const auto& l) { return l.scratch_rows(window); }, layout);
}

double encoder_flops(const EncoderLayout& layout) {
  return std::visit([](const auto& l) { return l.flops(); }, layout);
}

template <typename T>
void initialise_encoder(const EncoderLayout& layout, const ParameterView& parameter,
                        RandomStream& random, T* values) {
  std::visit(
      [&](const auto& l) {
        for (std::ptrdiff_t i = 0; i < parameter.size(); ++i)
          values[i] = static_cast<T>(l.first_value(parameter, i, random));
      },
      layout);
}

template <typename T>
void PackedEncoder<T>::pack(const EncoderLayout& layout, const T* parameters) {
  std::visit(
      [&]<typename Layout>(const Layout& l) {
        using Packed = PackedOf<T, Layout>;
        if (!std::holds_alternative<Packed>(weights)) weights.template emplace<Packed>();
        std::get<Packed>(weights).pack(l, parameters);
      },
      layout);
}

template <typename T>
void StreamedEncoder<T>::assign(const EncoderLayout& layout, const T* parameters) {
  std::visit(
      [&]<typename Layout>(const Layout& l) {
        weights.template emplace<StreamedOf<T, Layout>>().assign(l, parameters);
      },
      layout);
}

template void initialise_encoder<float>(const EncoderLayout&, const ParameterView&, RandomStream&,
                                        float*);
template void initialise_encoder<double>(const EncoderLayout&, const ParameterView&, RandomStream&,
                                         double*);
template struct PackedEncoder<float>;
template struct PackedEncoder<double>;
template struct StreamedEncoder<float>;
template struct StreamedEncoder<double>;

}  // namespace kalmia::nn
