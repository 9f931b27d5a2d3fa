#include "nn/transformer.hpp"

#include <algorithm>
#include <cmath>

namespace kalmia::nn {
namespace {

constexpr int kMostHeads = 8;
constexpr int kFewestUnits = 4;  // of a head

int heads_of(int hidden) {
  int heads = kMostHeads;
  while (heads > 1 && (hidden % heads != 0 || hidden / heads < kFewestUnits)) heads /= 2;
  return heads;
}

template <typename T>
void take(Buffer<T>& to, const T* from, int size) {
  if (to.size() != static_cast<std::size_t>(size)) to.resize(static_cast<std::size_t>(size));
  std::copy_n(from, size, to.data());
}

}  // namespace

TransformerLayout TransformerLayout::add_to(ParameterLayout& parameters, const std::string& prefix,
                                            int input, int hidden, int taps) {
  TransformerLayout l;
  l.input = input;
  l.hidden = hidden;
  l.taps = taps;
  l.heads = heads_of(hidden);
  l.embed = parameters.add(prefix + ".embed.weight", hidden, input);
  l.embed_bias = parameters.add(prefix + ".embed.bias", hidden);
  l.query = parameters.add(prefix + ".query.weight", hidden, hidden);
  l.query_bias = parameters.add(prefix + ".query.bias", hidden);
  l.key_value = parameters.add(prefix + ".key_value.weight", 2 * hidden, hidden);
  l.position = parameters.add(prefix + ".position", l.heads, taps);
  l.output = parameters.add(prefix + ".output.weight", hidden, hidden);
  l.output_bias = parameters.add(prefix + ".output.bias", hidden);
  l.expand = parameters.add(prefix + ".expand.weight", 2 * hidden, hidden);
  l.expand_bias = parameters.add(prefix + ".expand.bias", 2 * hidden);
  l.contract = parameters.add(prefix + ".contract.weight", hidden, 2 * hidden);
  l.contract_bias = parameters.add(prefix + ".contract.bias", hidden);
  return l;
}

TransformerTape TransformerLayout::tape() const {
  TransformerTape at;
  at.scale_u = hidden;
  at.query = at.scale_u + 1;
  at.weights = at.query + hidden;
  at.heard = at.weights + heads * taps;
  at.norm_r = at.heard + hidden;
  at.scale_r = at.norm_r + hidden;
  at.inner = at.scale_r + 1;
  at.total = at.inner + 2 * hidden;
  return at;
}

TransformerAdjoint TransformerLayout::adjoint() const {
  return {0, hidden, 3 * hidden, 4 * hidden, 5 * hidden, 6 * hidden};
}

std::ptrdiff_t TransformerLayout::scratch_rows(const WindowShape& window) const {
  const std::ptrdiff_t slots = static_cast<std::ptrdiff_t>(taps - 1 + window.steps) * slot_rows();
  return window.directions * slots +
         (window.training ? slots + window.chunk * adjoint().total + hidden : tape().total);
}

double TransformerLayout::first_value(const ParameterView& parameter, std::ptrdiff_t index,
                                      RandomStream& random) const {
  if (parameter.offset == position) {
    const auto head = static_cast<double>(index / taps + 1);
    return -std::exp2(-8 * head / heads) * static_cast<double>(index % taps);
  }
  const bool reads_input = parameter.offset == embed || parameter.offset == embed_bias;
  const bool reads_inner = parameter.offset == contract || parameter.offset == contract_bias;
  return within_fan_in(reads_input ? input : reads_inner ? 2 * hidden : hidden, random);
}

template <typename T>
void PackedTransformer<T>::pack(const TransformerLayout& l, const T* p) {
  const int H = hidden = l.hidden;
  taps = l.taps;
  heads = l.heads;
  embed.pack(p + l.embed, H, l.input, false);
  query.pack(p + l.query, H, H, false);
  key_value.pack(p + l.key_value, 2 * H, H, false);
  output.pack(p + l.output, H, H, false);
  expand.pack(p + l.expand, 2 * H, H, false);
  contract.pack(p + l.contract, H, 2 * H, false);
  query_T.pack(p + l.query, H, H, true);
  key_value_T.pack(p + l.key_value, H, 2 * H, true);
  output_T.pack(p + l.output, H, H, true);
  expand_T.pack(p + l.expand, H, 2 * H, true);
  contract_T.pack(p + l.contract, 2 * H, H, true);
  take(embed_bias, p + l.embed_bias, H);
  take(query_bias, p + l.query_bias, H);
  take(position, p + l.position, heads * taps);
  take(output_bias, p + l.output_bias, H);
  take(expand_bias, p + l.expand_bias, 2 * H);
  take(contract_bias, p + l.contract_bias, H);
}

template <typename T>
void StreamedTransformer<T>::assign(const TransformerLayout& l, const T* p) {
  const int H = hidden = l.hidden;
  taps = l.taps;
  heads = l.heads;
  embed.assign(p + l.embed, H, l.input);
  query.assign(p + l.query, H, H);
  key_value.assign(p + l.key_value, 2 * H, H);
  output.assign(p + l.output, H, H);
  expand.assign(p + l.expand, 2 * H, H);
  contract.assign(p + l.contract, H, 2 * H);
  lanes::assign_padded(embed_bias, p + l.embed_bias, H);
  lanes::assign_padded(query_bias, p + l.query_bias, H);
  lanes::assign_padded(position, p + l.position, taps, heads);
  lanes::assign_padded(output_bias, p + l.output_bias, H);
  lanes::assign_padded(expand_bias, p + l.expand_bias, 2 * H);
  lanes::assign_padded(contract_bias, p + l.contract_bias, H);
  zeros.resize(expand_bias.size());
  exists.resize(position.size() / static_cast<std::size_t>(heads));
  weights.resize(position.size());
  slot.resize(zeros.size());
  inner.resize(zeros.size());
  for (Buffer<T>* unit : {&r, &norm, &q, &heard}) unit->resize(embed_bias.size());
}

template struct PackedTransformer<float>;
template struct PackedTransformer<double>;
template struct StreamedTransformer<float>;
template struct StreamedTransformer<double>;

}  // namespace kalmia::nn
