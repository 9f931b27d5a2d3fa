// The battery of properties that every head must have, over the fusion.
#include "heads/fusion/fusion.hpp"
#include "support/head_battery.hpp"

namespace kalmia::test {
namespace {

template <typename T>
struct FusionCase {
  using Group = heads::FusionGroup<T>;

  WindowCase<T> window;
  Group group;

  FusionCase(nn::EncoderKind encoder, int steps, int lanes, std::uint64_t seed)
      : window(options(encoder),
               {.missing = true, .uneven = true, .carried = true, .centre = true, .weighted = true},
               steps, lanes, seed),
        group(empty_group(steps, lanes)) {
    const auto copy = [](const auto& from, auto& to) {
      to.resize(from.size());
      std::ranges::copy(from.span(), to.data());
    };
    copy(window.group.input_fwd, group.input_fwd);
    copy(window.group.y, group.y);
    copy(window.group.observed, group.observed);
    copy(window.group.weight, group.weight);
    copy(window.group.centre, group.centre);
    copy(window.prior_x, group.prior_x);
    copy(window.prior_P, group.prior_P);
    copy(window.fusion_carry.h, group.carry.h);
    group.length = window.group.length;
    group.fresh = window.group.fresh;
  }
  static heads::ArchitectureOptions options(nn::EncoderKind encoder) {
    heads::ArchitectureOptions options;
    options.state_dim = 3;
    options.meas_dim = 2;
    options.input_dim = 3;
    options.hidden = 13;  // fills no register tile evenly
    options.decoder = {9, 6};
    options.encoder = encoder;
    options.taps = 6;
    options.head = heads::HeadKind::Fusion;
    return options;
  }
  static std::string name() { return sizeof(T) == 4 ? "FusionFloat" : "FusionDouble"; }

  heads::FusionModel<T> model() const { return window.fusion_model(); }
  Group empty_group(int steps, int lanes) const {
    Group out;
    out.resize(window.architecture, steps, lanes);
    return out;
  }
  template <typename A, typename B, typename Visit>
  void each_panel(A& a, B& b, const Visit& visit) const {
    const int N = window.architecture.state_dim(), M = window.architecture.meas_dim();
    visit(a.input_fwd, b.input_fwd, window.architecture.options.input_dim);
    visit(a.y, b.y, M);
    visit(a.observed, b.observed, M);
    visit(a.weight, b.weight, M);
    visit(a.centre, b.centre, N);
    visit(a.prior_x, b.prior_x, N);
    visit(a.prior_P, b.prior_P, N * N);
  }
  std::vector<std::pair<const char*, int>> outputs() const {
    const int N = window.architecture.state_dim();
    return {{"x_pred", N}, {"P_pred", N * N}, {"x_filt", N}, {"P_filt", N * N}, {"nll", 1}};
  }
  heads::StateMoments moments(std::vector<Buffer<double>>& buffers) const {
    return {.x_pred = buffers[0].data(),
            .P_pred = buffers[1].data(),
            .x_filt = buffers[2].data(),
            .P_filt = buffers[3].data(),
            .nll = buffers[4].data()};
  }
  void poison(Group& into, int step, int lane) const {
    const std::size_t at = panel_at(step, window.architecture.meas_dim(), 1, into.lanes, lane);
    into.y[at] = std::numeric_limits<double>::quiet_NaN();
    into.observed[at] = 1;
  }
};

using FusionCases = testing::Types<FusionCase<float>, FusionCase<double>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Fusion, HeadBattery, FusionCases, HeadBatteryNames);

}  // namespace
}  // namespace kalmia::test
