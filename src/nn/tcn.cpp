#include "nn/tcn.hpp"

#include <algorithm>

namespace kalmia::nn {

TcnLayout TcnLayout::add_to(ParameterLayout& parameters, const std::string& prefix, int input,
                            int hidden, int taps) {
  TcnLayout l;
  l.input = input;
  l.hidden = hidden;
  l.embed = parameters.add(prefix + ".embed.weight", hidden, input);
  l.embed_bias = parameters.add(prefix + ".embed.bias", hidden);
  while (1 + reach(l.depth()) < taps) {
    const std::string name = prefix + "." + std::to_string(l.depth());
    l.newer.push_back(parameters.add(name + ".newer", hidden, hidden));
    l.bias.push_back(parameters.add(name + ".bias", hidden));
    l.older.push_back(parameters.add(name + ".older", hidden, hidden));
  }
  return l;
}

template <typename T>
void PackedTcn<T>::pack(const TcnLayout& l, const T* p) {
  const auto H = static_cast<std::size_t>(l.hidden);
  const auto take = [H](Buffer<T>& to, const T* from) {
    if (to.size() != H) to.resize(H);
    std::copy_n(from, H, to.data());
  };
  embed.pack(p + l.embed, l.hidden, l.input, false);
  take(embed_bias, p + l.embed_bias);
  layer.resize(l.older.size());
  for (std::size_t i = 0; i < layer.size(); ++i) {
    layer[i].older.pack(p + l.older[i], l.hidden, l.hidden, false);
    layer[i].newer.pack(p + l.newer[i], l.hidden, l.hidden, false);
    layer[i].older_T.pack(p + l.older[i], l.hidden, l.hidden, true);
    layer[i].newer_T.pack(p + l.newer[i], l.hidden, l.hidden, true);
    take(layer[i].bias, p + l.bias[i]);
  }
}

template <typename T>
void StreamedTcn<T>::assign(const TcnLayout& l, const T* p) {
  hidden = l.hidden;
  embed.assign(p + l.embed, hidden, l.input);
  lanes::assign_padded(embed_bias, p + l.embed_bias, hidden);
  layer.resize(l.older.size());
  for (std::size_t i = 0; i < layer.size(); ++i) {
    layer[i].older.assign(p + l.older[i], hidden, hidden);
    layer[i].newer.assign(p + l.newer[i], hidden, hidden);
    lanes::assign_padded(layer[i].bias, p + l.bias[i], hidden);
  }
  sum.resize(embed_bias.size());
  more.resize(embed_bias.size());
}

template struct PackedTcn<float>;
template struct PackedTcn<double>;
template struct StreamedTcn<float>;
template struct StreamedTcn<double>;

}  // namespace kalmia::nn
