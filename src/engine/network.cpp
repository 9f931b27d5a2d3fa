#include "engine/network.hpp"

#include <utility>

#include "base/random.hpp"

namespace kalmia::engine {
namespace {

constexpr int kMostTaps = 4096;

}  // namespace

std::string violation(bool holds, const std::string& name, int value, const std::string& rule) {
  if (holds) return "";
  return "\n  " + name + " = " + std::to_string(value) + ", but it must be " + rule;
}

std::string NetworkOptions::violations() const {
  std::string wrong = violation(input_dim >= 1, "input_dim", input_dim, ">= 1") +
                      violation(taps >= 1 && taps <= kMostTaps, "taps", taps, "in 1..4096") +
                      violation(hidden >= 1, "hidden", hidden, ">= 1");
  for (std::size_t i = 0; i < decoder.size(); ++i)
    wrong += violation(decoder[i] >= 1, "decoder[" + std::to_string(i) + "]", decoder[i], ">= 1");
  return wrong;
}

NetworkLayout::NetworkLayout(const NetworkOptions& sizes, OutputRows outputs)
    : networks(sizes), rows(std::move(outputs)) {
  const auto add_encoder = [&](const char* direction) {
    return nn::add_encoder(parameters, std::string(nn::encoder_name(networks.encoder)) + direction,
                           networks.encoder, networks.input_dim, networks.hidden, networks.taps);
  };
  encoder_fwd = add_encoder("_fwd");
  bwd_begin = parameters.size();
  if (networks.two_sided) encoder_bwd = add_encoder("_bwd");
  std::vector<int> widths = {directions() * networks.hidden};
  widths.insert(widths.end(), networks.decoder.begin(), networks.decoder.end());
  widths.push_back(rows.count);
  decoder = nn::MlpLayout::add_to(parameters, "decoder", widths);
}

double NetworkLayout::network_flops() const {
  double flops = directions() * nn::encoder_flops(encoder_fwd);
  for (std::size_t i = 0; i + 1 < decoder.widths.size(); ++i)
    flops += 2.0 * decoder.widths[i] * decoder.widths[i + 1];
  return flops;
}

template <typename T>
void initialise_network(const NetworkLayout& layout, std::uint64_t seed, T* values) {
  const nn::MlpLayout& decoder = layout.decoder;
  for (const nn::ParameterView& view : layout.parameters.views()) {
    T* out = values + view.offset;
    RandomStream random(seed, view.name);
    if (view.offset < decoder.weight.front()) {
      const bool fwd = view.offset < layout.bwd_begin;
      nn::initialise_encoder(fwd ? layout.encoder_fwd : layout.encoder_bwd, view, random, out);
      continue;
    }
    std::size_t layer = 0;  // the last one that begins at the parameter or before it
    while (layer + 1 < decoder.weight.size() && decoder.weight[layer + 1] <= view.offset) ++layer;
    const bool last = view.offset >= decoder.weight.back();
    for (std::ptrdiff_t i = 0; i < view.size(); ++i)
      out[i] = last ? T(0) : static_cast<T>(nn::within_fan_in(decoder.widths[layer], random));
  }
}

template <typename T>
void PackedNetwork<T>::pack(const NetworkLayout& layout, const T* parameters) {
  encoder_fwd.pack(layout.encoder_fwd, parameters);
  if (layout.networks.two_sided) encoder_bwd.pack(layout.encoder_bwd, parameters);
  decoder.pack(layout.decoder, parameters);
}

template void initialise_network<float>(const NetworkLayout&, std::uint64_t, float*);
template void initialise_network<double>(const NetworkLayout&, std::uint64_t, double*);
template struct PackedNetwork<float>;
template struct PackedNetwork<double>;

}  // namespace kalmia::engine
