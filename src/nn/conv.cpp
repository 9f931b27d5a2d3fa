#include "nn/conv.hpp"

#include <algorithm>

namespace kalmia::nn {

ConvLayout ConvLayout::add_to(ParameterLayout& parameters, const std::string& prefix, int input,
                              int hidden, int taps) {
  ConvLayout layout;
  layout.input = input;
  layout.hidden = hidden;
  layout.taps = taps;
  layout.weight = parameters.add(prefix + ".weight", hidden, taps * input);
  layout.bias = parameters.add(prefix + ".bias", hidden);
  return layout;
}

template <typename T>
void PackedConv<T>::pack(const ConvLayout& layout, const T* parameters) {
  const int cols = layout.taps * layout.input;
  forward.pack(parameters + layout.weight, layout.hidden, cols, false);
  transposed.pack(parameters + layout.weight, cols, layout.hidden, true);
  const auto size = static_cast<std::size_t>(layout.hidden);
  if (bias.size() != size) bias.resize(size);
  std::copy_n(parameters + layout.bias, size, bias.data());
}

template <typename T>
void StreamedConv<T>::assign(const ConvLayout& layout, const T* parameters) {
  const int cols = layout.taps * layout.input;
  weight.assign(parameters + layout.weight, layout.hidden, cols);
  lanes::assign_padded(bias, parameters + layout.bias, layout.hidden);
  inputs.resize(static_cast<std::size_t>(cols));
}

template struct PackedConv<float>;
template struct PackedConv<double>;
template struct StreamedConv<float>;
template struct StreamedConv<double>;

}  // namespace kalmia::nn
