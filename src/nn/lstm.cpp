#include "nn/lstm.hpp"

namespace kalmia::nn {

LstmLayout LstmLayout::add_to(ParameterLayout& parameters, const std::string& prefix, int input,
                              int hidden) {
  LstmLayout layout;
  layout.input = input;
  layout.hidden = hidden;
  layout.weight_ih = parameters.add(prefix + ".weight_ih", 4 * hidden, input);
  layout.weight_hh = parameters.add(prefix + ".weight_hh", 4 * hidden, hidden);
  layout.bias_ih = parameters.add(prefix + ".bias_ih", 4 * hidden);
  layout.bias_hh = parameters.add(prefix + ".bias_hh", 4 * hidden);
  return layout;
}

template <typename T>
void PackedLstm<T>::pack(const LstmLayout& layout, const T* parameters) {
  const int rows = 4 * layout.hidden;
  input.pack(parameters + layout.weight_ih, rows, layout.input, false);
  hidden.pack(parameters + layout.weight_hh, rows, layout.hidden, false);
  hidden_transposed.pack(parameters + layout.weight_hh, layout.hidden, rows, true);
  const auto size = static_cast<std::size_t>(rows);
  if (bias.size() != size) bias.resize(size);
  for (std::size_t i = 0; i < size; ++i)
    bias[i] = (parameters + layout.bias_ih)[i] + (parameters + layout.bias_hh)[i];
}

template <typename T>
void StreamedLstm<T>::assign(const LstmLayout& layout, const T* parameters) {
  this->template assign_gates<4>(layout, parameters);
  c.resize(static_cast<std::size_t>(lanes::padded_to_line<T>(layout.hidden)));
}

template struct PackedLstm<float>;
template struct PackedLstm<double>;
template struct StreamedLstm<float>;
template struct StreamedLstm<double>;

}  // namespace kalmia::nn
