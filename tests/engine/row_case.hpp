// Random networks with random data for one lane group, under the plainest head.
#pragma once

#include <vector>

#include "base/random.hpp"
#include "engine/network_pass_head.hpp"

namespace kalmia::test {

/// Every other lane goes on from a carried state, and lanes have different lengths, 0 among them.
template <typename T>
struct RowCase {
  static constexpr int kLanes = 16;

  engine::NetworkLayout layout;
  int steps;
  Buffer<T> parameters, input_fwd, input_bwd, weight;
  engine::PackedNetwork<T> network;
  std::vector<int> length;
  std::vector<std::uint8_t> fresh;
  RowCarry<T> start;

  RowCase(nn::EncoderKind encoder, bool two_sided, int count, std::uint64_t seed)
      : RowCase(options(encoder, two_sided), count, seed) {}
  RowCase(const engine::NetworkOptions& options, int count, std::uint64_t seed)
      : layout(options, {.count = 5, .positive = {1, 4}}), steps(count) {
    RandomStream random(seed, "rows");
    const auto fill = [&](Buffer<T>& buffer, int size) {
      buffer.resize(static_cast<std::size_t>(size));
      for (T& each : buffer.span()) each = static_cast<T>(0.4 * random.normal());
    };
    fill(parameters, static_cast<int>(layout.parameters.size()));
    fill(input_fwd, steps * layout.networks.input_dim * kLanes);
    fill(input_bwd, steps * layout.networks.input_dim * kLanes);
    fill(weight, steps * 7 * kLanes);
    fill(start.h, layout.encoder_state_rows() * kLanes);
    for (int lane = 0; lane < kLanes; ++lane) {
      length.push_back(lane < 2 ? lane : steps - lane % 4);
      fresh.push_back(static_cast<std::uint8_t>(lane % 2));
    }
    pack();
  }
  static engine::NetworkOptions options(nn::EncoderKind encoder, bool two_sided) {
    engine::NetworkOptions options;
    options.input_dim = 3;
    options.encoder = encoder;
    options.taps = 4;
    options.hidden = 7;
    options.decoder = {6};
    options.two_sided = two_sided;
    return options;
  }
  void pack() { network.pack(layout, parameters.data()); }
  RowModel<T> model() const { return {&layout, &network}; }
  RowInput<T> input() const {
    RowInput<T> in;
    in.steps = steps;
    in.lanes = kLanes;
    in.input_fwd = input_fwd.data();
    in.input_bwd = layout.networks.two_sided ? input_bwd.data() : nullptr;
    in.length = length.data();
    in.fresh = fresh.data();
    in.weight = weight.data();
    return in;
  }
  RowCarry<T> carry() const {
    RowCarry<T> copy;
    copy.h.resize(start.h.size());
    std::copy_n(start.h.data(), start.h.size(), copy.h.data());
    return copy;
  }
  RowWorkspace<T> workspace(bool training) const {
    RowWorkspace<T> workspace;
    workspace.prepare(layout, steps, kLanes, training);
    return workspace;
  }
};

}  // namespace kalmia::test
