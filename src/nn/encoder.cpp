#include "nn/encoder.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "base/alternatives.hpp"
#include "kalmia/error.hpp"

namespace kalmia::nn {
namespace {

template <std::size_t kIndex>
using LayoutAt = std::variant_alternative_t<kIndex, EncoderLayout>;

using Everyone = std::make_index_sequence<std::variant_size_v<EncoderLayout>>;

// What is known of a kind without its sizes.
struct Row {
  std::string_view name;
  bool reads_taps;
  EncoderLayout (*add_to)(ParameterLayout&, const std::string&, int input, int hidden, int taps);
};

template <EncoderKindLayout Layout>
constexpr Row row_of() {
  return {Layout::kName, Layout::kReadsTaps,
          [](ParameterLayout& parameters, const std::string& prefix, int input, int hidden,
             [[maybe_unused]] int taps) -> EncoderLayout {
            if constexpr (Layout::kReadsTaps)
              return Layout::add_to(parameters, prefix, input, hidden, taps);
            else
              return Layout::add_to(parameters, prefix, input, hidden);
          }};
}

template <std::size_t... kIndex>
constexpr std::array<Row, sizeof...(kIndex)> rows_of_all(std::index_sequence<kIndex...>) {
  return {row_of<LayoutAt<kIndex>>()...};
}

// In the order of EncoderKind.
constexpr auto kRows = rows_of_all(Everyone());

const Row& row(EncoderKind kind) { return kRows[static_cast<std::size_t>(kind)]; }

}  // namespace

std::string_view encoder_name(EncoderKind kind) { return row(kind).name; }

bool is_encoder(std::string_view name) {
  return std::ranges::find(kRows, name, &Row::name) != kRows.end();
}

std::string encoder_alternatives() { return alternatives(kRows); }

EncoderKind encoder_of_name(std::string_view name) {
  const auto* found = std::ranges::find(kRows, name, &Row::name);
  if (found != kRows.end()) return static_cast<EncoderKind>(found - kRows.begin());
  throw ConfigError("encoder = \"" + std::string(name) + "\", but it must be " +
                    encoder_alternatives());
}

bool reads_taps(EncoderKind kind) { return row(kind).reads_taps; }

std::string taps_alternatives() {
  std::vector<Row> reading;
  std::ranges::copy_if(kRows, std::back_inserter(reading), &Row::reads_taps);
  return alternatives(reading);
}

EncoderLayout add_encoder(ParameterLayout& parameters, const std::string& prefix, EncoderKind kind,
                          int input, int hidden, int taps) {
  return row(kind).add_to(parameters, prefix, input, hidden, taps);
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
