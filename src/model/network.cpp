#include "model/network.hpp"

#include <cmath>

#include "nn/softplus.hpp"

namespace kalmia::model {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

template <typename T>
void PackedNetwork<T>::pack(const Architecture& architecture, const T* parameters) {
  encoder_fwd.pack(architecture.encoder_fwd, parameters);
  if (architecture.options.two_sided) encoder_bwd.pack(architecture.encoder_bwd, parameters);
  decoder.pack(architecture.decoder, parameters);

  const auto states = static_cast<std::size_t>(architecture.state_dim());
  const int triangle = lanes::triangle_size(architecture.state_dim());
  if (initial_e.empty()) {
    initial_e.resize(states);
    initial_L.resize(static_cast<std::size_t>(triangle));
    initial_L_slope.resize(states);
  }
  for (std::size_t i = 0; i < states; ++i)
    initial_e[i] = static_cast<double>(parameters[architecture.initial_e + static_cast<int>(i)]);
  for (int i = 0; i < triangle; ++i)
    initial_L[static_cast<std::size_t>(i)] =
        static_cast<double>(parameters[architecture.initial_L + i]);
  for (int i = 0; i < architecture.state_dim(); ++i) {
    double& diagonal = initial_L[static_cast<std::size_t>(lanes::triangle_index(i, i))];
    initial_L_slope[static_cast<std::size_t>(i)] = sigmoid(diagonal);
    diagonal = nn::softplus(diagonal);
  }
}

template struct PackedNetwork<float>;
template struct PackedNetwork<double>;

}  // namespace kalmia::model
