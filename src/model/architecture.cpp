#include "model/architecture.hpp"

#include <cmath>
#include <string>

#include "base/random.hpp"
#include "kalmia/error.hpp"
#include "nn/softplus.hpp"
#include "prior/expert.hpp"

namespace kalmia::model {
namespace {

using prior::kMostStates;

constexpr int kMostTaps = 4096;

ArchitectureOptions validated(const ArchitectureOptions& options) {
  options.validate();
  return options;
}

}  // namespace

void ArchitectureOptions::validate() const {
  std::string wrong;
  const auto require = [&](bool holds, const std::string& name, int value, const char* rule) {
    if (!holds) wrong += "\n  " + name + " = " + std::to_string(value) + ", but it must be " + rule;
  };
  require(gains >= 0, "gains", gains, ">= 0");
  if (gains > 0) {
    require(state_dim == 0, "state_dim", state_dim, "0 where there are gains");
    require(meas_dim == 0, "meas_dim", meas_dim, "0 where there are gains");
    require(!recursive && !fusion, "recursive or fusion", recursive || fusion,
            "false where there are gains");
  } else {
    require(state_dim >= 1 && state_dim <= kMostStates, "state_dim", state_dim, "in 1..128");
    require(meas_dim >= 1 && meas_dim <= kMostStates, "meas_dim", meas_dim, "in 1..128");
  }
  require(input_dim >= 1, "input_dim", input_dim, ">= 1");
  require(taps >= 1 && taps <= kMostTaps, "taps", taps, "in 1..4096");
  require(hidden >= 1, "hidden", hidden, ">= 1");
  for (std::size_t i = 0; i < decoder.size(); ++i)
    require(decoder[i] >= 1, "decoder[" + std::to_string(i) + "]", decoder[i], ">= 1");
  require(!alternative || recursive, "alternative", alternative,
          "false unless the model is recursive");
  require(!toward_centre || recursive, "toward_centre", toward_centre,
          "false unless the model is recursive");
  require(!fusion || (!recursive && !two_sided), "fusion", fusion,
          "false unless the model is one-sided and recurrent");
  if (!wrong.empty()) throw ConfigError("invalid architecture:" + wrong);
}

Architecture::Architecture(const ArchitectureOptions& given) : options(validated(given)) {
  const auto add_encoder = [&](const char* direction) {
    return nn::add_encoder(parameters, std::string(nn::encoder_name(options.encoder)) + direction,
                           options.encoder, options.input_dim, options.hidden, options.taps);
  };
  encoder_fwd = add_encoder("_fwd");
  if (options.two_sided) encoder_bwd = add_encoder("_bwd");
  std::vector<int> widths = {directions() * options.hidden};
  widths.insert(widths.end(), options.decoder.begin(), options.decoder.end());
  widths.push_back(output_rows());
  decoder = nn::MlpLayout::add_to(parameters, "decoder", widths);
  initial_e = parameters.add("initial.e", state_dim());
  initial_L = parameters.add("initial.L", lanes::triangle_size(state_dim()));
}

double Architecture::network_flops() const {
  double flops = directions() * nn::encoder_flops(encoder_fwd);
  for (std::size_t i = 0; i + 1 < decoder.widths.size(); ++i)
    flops += 2.0 * decoder.widths[i] * decoder.widths[i + 1];
  return flops;
}

template <typename T>
void initialise(const Architecture& architecture, std::uint64_t seed, double scale,
                double initial_scale, T* values) {
  const auto& decoder = architecture.decoder;
  for (const nn::ParameterView& view : architecture.parameters.views()) {
    T* out = values + view.offset;
    const bool last = view.offset >= decoder.weight.back();
    RandomStream random(seed, view.name);
    // PyTorch: a recurrent unit draws everything within 1/sqrt(hidden), a convolution and a layer
    // within 1/sqrt(its inputs).
    double fan_in = nn::encoder_fan_in(architecture.encoder_fwd);
    for (int i = 0; i < decoder.layers(); ++i)
      if (view.offset == decoder.weight[static_cast<std::size_t>(i)] ||
          view.offset == decoder.bias[static_cast<std::size_t>(i)])
        fan_in = decoder.widths[static_cast<std::size_t>(i)];
    const double bound = last ? 0 : 1 / std::sqrt(fan_in);
    for (std::ptrdiff_t i = 0; i < view.size(); ++i)
      out[i] = static_cast<T>(random.uniform(-bound, bound));
  }
  for (int i = 0; i < architecture.state_dim(); ++i) {
    const int diagonal = lanes::triangle_index(i, i);
    values[decoder.bias.back() + architecture.L_row() + diagonal] =
        static_cast<T>(nn::inverse_softplus(scale));
    values[architecture.initial_L + diagonal] = static_cast<T>(nn::inverse_softplus(initial_scale));
  }
}

template void initialise<float>(const Architecture&, std::uint64_t, double, double, float*);
template void initialise<double>(const Architecture&, std::uint64_t, double, double, double*);

}  // namespace kalmia::model
