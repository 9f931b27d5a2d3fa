#include "nn/mlp.hpp"

#include <algorithm>
#include <utility>

namespace kalmia::nn {

int MlpLayout::hidden_rows() const {
  int rows = 0;
  for (std::size_t i = 1; i + 1 < widths.size(); ++i) rows += widths[i];
  return rows;
}

MlpLayout MlpLayout::add_to(ParameterLayout& parameters, const std::string& prefix,
                            std::vector<int> widths) {
  MlpLayout layout;
  layout.widths = std::move(widths);
  for (std::size_t i = 0; i + 1 < layout.widths.size(); ++i) {
    const std::string name = prefix + "." + std::to_string(i);
    layout.weight.push_back(
        parameters.add(name + ".weight", layout.widths[i + 1], layout.widths[i]));
    layout.bias.push_back(parameters.add(name + ".bias", layout.widths[i + 1]));
  }
  return layout;
}

template <typename T>
void PackedMlp<T>::pack(const MlpLayout& layout, const T* parameters) {
  const auto layers = static_cast<std::size_t>(layout.layers());
  forward.resize(layers);
  transposed.resize(layers);
  bias.resize(layers);
  for (std::size_t i = 0; i < layers; ++i) {
    const int in = layout.widths[i];
    const int out = layout.widths[i + 1];
    forward[i].pack(parameters + layout.weight[i], out, in, false);
    transposed[i].pack(parameters + layout.weight[i], in, out, true);
    if (bias[i].size() != static_cast<std::size_t>(out))
      bias[i].resize(static_cast<std::size_t>(out));
    std::copy_n(parameters + layout.bias[i], out, bias[i].data());
  }
}

template struct PackedMlp<float>;
template struct PackedMlp<double>;

}  // namespace kalmia::nn
