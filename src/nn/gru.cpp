#include "nn/gru.hpp"

namespace kalmia::nn {

GruLayout GruLayout::add_to(ParameterLayout& parameters, const std::string& prefix, int input,
                            int hidden) {
  GruLayout layout;
  layout.input = input;
  layout.hidden = hidden;
  layout.weight_ih = parameters.add(prefix + ".weight_ih", 3 * hidden, input);
  layout.weight_hh = parameters.add(prefix + ".weight_hh", 3 * hidden, hidden);
  layout.bias_ih = parameters.add(prefix + ".bias_ih", 3 * hidden);
  layout.bias_hh = parameters.add(prefix + ".bias_hh", 3 * hidden);
  return layout;
}

template <typename T>
void PackedGru<T>::pack(const GruLayout& layout, const T* parameters) {
  input = layout.input;
  hidden = layout.hidden;
  const T* W_ih = parameters + layout.weight_ih;
  const T* W_hh = parameters + layout.weight_hh;
  const T* b_ih = parameters + layout.bias_ih;
  const T* b_hh = parameters + layout.bias_hh;
  const std::size_t size =
      static_cast<std::size_t>(hidden) * static_cast<std::size_t>(4 + 3 * input + 3 * hidden);
  if (forward.size() != size) forward.resize(size);

  const lanes::EvenSplit split(hidden, lanes::tile_shape<T>().units);
  T* out = forward.data();
  for (int tile = 0; tile < split.tiles; ++tile) {
    const int first = split.begin(tile);
    const int units = split.size(tile);
    for (int gate = 0; gate < 2; ++gate)
      for (int u = 0; u < units; ++u)
        *out++ = b_ih[gate * hidden + first + u] + b_hh[gate * hidden + first + u];
    for (int u = 0; u < units; ++u) *out++ = b_hh[2 * hidden + first + u];
    for (int u = 0; u < units; ++u) *out++ = b_ih[2 * hidden + first + u];
    for (int k = 0; k < input; ++k)
      for (int gate = 0; gate < 3; ++gate)
        for (int u = 0; u < units; ++u) *out++ = W_ih[(gate * hidden + first + u) * input + k];
    for (int k = 0; k < hidden; ++k)
      for (int gate = 0; gate < 3; ++gate)
        for (int u = 0; u < units; ++u) *out++ = W_hh[(gate * hidden + first + u) * hidden + k];
  }
  hidden_transposed.pack(W_hh, hidden, 3 * hidden, true);
}

template <typename T>
void StreamedGru<T>::assign(const GruLayout& layout, const T* parameters) {
  this->template assign_gates<3>(layout, parameters);
}

template struct PackedGru<float>;
template struct PackedGru<double>;
template struct StreamedGru<float>;
template struct StreamedGru<double>;

}  // namespace kalmia::nn
