#include "nn/encoder.hpp"

#include <algorithm>

#include "base/option_rules.hpp"
#include "kalmia/error.hpp"
#include "nn/encoder_table.hpp"

namespace kalmia::nn {
namespace {

const EncoderEntry* find(std::string_view name) {
  const auto found = std::ranges::find(encoder_table(), name, &EncoderEntry::name);
  return found == encoder_table().end() ? nullptr : &*found;
}

// One function of several, chosen by the type of its argument.
template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};

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
  switch (kind) {
    case EncoderKind::Lstm:
      return LstmLayout::add_to(parameters, prefix, input, hidden);
    case EncoderKind::Conv:
      return ConvLayout::add_to(parameters, prefix, input, hidden, taps);
    default:
      return GruLayout::add_to(parameters, prefix, input, hidden);
  }
}

EncoderRows encoder_rows(const EncoderLayout& layout) {
  return std::visit(Overloaded{[](const GruLayout& l) {
                                 return EncoderRows{l.hidden, l.hidden, 4 * l.hidden};
                               },
                               [](const LstmLayout& l) {
                                 return EncoderRows{2 * l.hidden, 2 * l.hidden, 4 * l.hidden};
                               },
                               [](const ConvLayout& l) {
                                 return EncoderRows{(l.taps - 1) * l.input, l.hidden, l.hidden};
                               }},
                    layout);
}

double encoder_flops(const EncoderLayout& layout) {
  return std::visit(
      Overloaded{[](const GruLayout& l) { return 6.0 * l.hidden * (l.hidden + l.input); },
                 [](const LstmLayout& l) { return 8.0 * l.hidden * (l.hidden + l.input); },
                 [](const ConvLayout& l) { return 2.0 * l.hidden * l.taps * l.input; }},
      layout);
}

int encoder_fan_in(const EncoderLayout& layout) {
  return std::visit(Overloaded{[](const GruLayout& l) { return l.hidden; },
                               [](const LstmLayout& l) { return l.hidden; },
                               [](const ConvLayout& l) { return l.taps * l.input; }},
                    layout);
}

template <typename T>
void PackedEncoder<T>::pack(const EncoderLayout& layout, const T* parameters) {
  const auto pack_as = [&]<typename Packed>(const auto& from) {
    if (!std::holds_alternative<Packed>(weights)) weights.template emplace<Packed>();
    std::get<Packed>(weights).pack(from, parameters);
  };
  std::visit(
      Overloaded{[&](const GruLayout& l) { pack_as.template operator()<PackedGru<T>>(l); },
                 [&](const LstmLayout& l) { pack_as.template operator()<PackedLstm<T>>(l); },
                 [&](const ConvLayout& l) { pack_as.template operator()<PackedConv<T>>(l); }},
      layout);
}

template struct PackedEncoder<float>;
template struct PackedEncoder<double>;

}  // namespace kalmia::nn
