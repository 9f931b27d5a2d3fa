// The battery of properties that every head must have, over the gains.
#include "audio/gain_head.hpp"
#include "support/head_battery.hpp"

namespace kalmia::test {
namespace {

template <typename T, bool kTwoSided>
struct GainsCase {
  using Group = audio::GainGroup<T>;
  static constexpr int kGains = 5;

  engine::NetworkLayout layout;
  Buffer<T> parameters;
  engine::PackedNetwork<T> network;
  Group group;

  GainsCase(nn::EncoderKind encoder, int steps, int lanes, std::uint64_t seed)
      : layout(options(encoder), {.count = kGains, .positive = {}}),
        group(empty_group(steps, lanes)) {
    RandomStream random(seed, "gains");
    parameters.resize(static_cast<std::size_t>(layout.parameters.size()));
    for (T& p : parameters.span()) p = static_cast<T>(0.4 * random.normal());
    for (Buffer<T>* panel :
         {&group.input_fwd, &group.input_bwd, &group.offset, &group.square, &group.product})
      for (T& each : panel->span()) each = static_cast<T>(random.normal());
    for (int lane = 0; lane < lanes; ++lane) group.length.push_back(steps - lane % 5);
    network.pack(layout, parameters.data());
  }
  static engine::NetworkOptions options(nn::EncoderKind encoder) {
    engine::NetworkOptions options;
    options.input_dim = 4;
    options.hidden = 13;  // fills no register tile evenly
    options.decoder = {9, 6};
    options.encoder = encoder;
    options.taps = 6;
    options.two_sided = kTwoSided;
    return options;
  }
  static std::string name() {
    return std::string(kTwoSided ? "TwoSided" : "Forward") + (sizeof(T) == 4 ? "Float" : "Double");
  }

  audio::GainWindow<T> model() const { return {&layout, &network}; }
  Group empty_group(int steps, int lanes) const {
    Group out;
    out.resize(layout, steps, lanes);
    return out;
  }
  template <typename A, typename B, typename Visit>
  void each_panel(A& a, B& b, const Visit& visit) const {
    visit(a.input_fwd, b.input_fwd, layout.networks.input_dim);
    visit(a.input_bwd, b.input_bwd, layout.networks.input_dim);
    visit(a.offset, b.offset, kGains);
    visit(a.square, b.square, kGains);
    visit(a.product, b.product, kGains);
  }
  std::vector<std::pair<const char*, int>> outputs() const { return {{"gain", kGains}}; }
  audio::GainResults moments(std::vector<Buffer<double>>& buffers) const {
    return {buffers[0].data()};
  }
  void poison(Group& into, int step, int lane) const {
    into.product[panel_at(step, kGains, 2, into.lanes, lane)] = std::numeric_limits<T>::quiet_NaN();
  }
};

using GainCases = testing::Types<GainsCase<float, false>, GainsCase<float, true>,
                                 GainsCase<double, false>, GainsCase<double, true>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Gains, HeadBattery, GainCases, HeadBatteryNames);

}  // namespace
}  // namespace kalmia::test
