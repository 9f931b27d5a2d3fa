#include "nn/encoder.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/option_rules.hpp"
#include "kalmia/error.hpp"
#include "nn/encoder_table.hpp"

namespace kalmia::nn {
namespace {

const EncoderEntry* find(std::string_view name) {
  const auto found = std::ranges::find(encoder_table(), name, &EncoderEntry::name);
  return found == encoder_table().end() ? nullptr : &*found;
}

template <std::size_t kIndex>
using LayoutAt = std::variant_alternative_t<kIndex, EncoderLayout>;

using Everyone = std::make_index_sequence<std::variant_size_v<EncoderLayout>>;

using AddTo = EncoderLayout (*)(ParameterLayout&, const std::string&, int input, int hidden,
                                int taps);

template <EncoderKindLayout Layout>
constexpr AddTo add_to_of() {
  return [](ParameterLayout& parameters, const std::string& prefix, int input, int hidden,
            [[maybe_unused]] int taps) -> EncoderLayout {
    if constexpr (Layout::kReadsTaps)
      return Layout::add_to(parameters, prefix, input, hidden, taps);
    else
      return Layout::add_to(parameters, prefix, input, hidden);
  };
}

template <std::size_t... kIndex>
constexpr std::array<AddTo, sizeof...(kIndex)> add_to_of_all(std::index_sequence<kIndex...>) {
  return {add_to_of<LayoutAt<kIndex>>()...};
}

// In the order of EncoderKind.
constexpr auto kAddTo = add_to_of_all(Everyone());

}  // namespace

std::string_view encoder_name(EncoderKind kind) { return encoder_entry(kind).name; }

bool is_encoder(std::string_view name) { return find(name) != nullptr; }

std::string encoder_alternatives() { return alternatives(choices_in(encoder_table())); }

EncoderKind encoder_of_name(std::string_view name) {
  if (const EncoderEntry* entry = find(name)) return entry->kind;
  throw ConfigError("encoder = \"" + std::string(name) + "\", but it must be " +
                    encoder_alternatives() + did_you_mean(name, choices_in(encoder_table())));
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
