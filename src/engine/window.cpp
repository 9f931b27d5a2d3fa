#include "engine/window.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "engine/records.hpp"
#include "kalmia/error.hpp"
#include "lanes/panel.hpp"

namespace kalmia::engine {

namespace {

std::size_t times(int a, int b) {
  return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
}

[[noreturn]] void refuse(const std::string& message) { throw ConfigError("window: " + message); }

std::string text(int number) { return std::to_string(number); }

}  // namespace

template <typename T>
void check_window(const PackedNetwork<T>& network, const NetworkInput<T>& in,
                  const NetworkWorkspace<T>& ws) {
  if (network.decoder.forward.back().tile_rows != lanes::tile_shape<T>().rows)
    refuse("the weights were packed for another instruction set; pack them again");
  if (in.lanes <= 0 || in.lanes % lanes::kLaneQuantum != 0)
    refuse("lanes = " + text(in.lanes) + ", but it must be a positive multiple of " +
           text(lanes::kLaneQuantum));
  if (in.steps < 0 || in.steps > ws.max_steps || in.lanes > ws.max_lanes)
    refuse("steps x lanes = " + text(in.steps) + " x " + text(in.lanes) +
           ", but the workspace was prepared for " + text(ws.max_steps) + " x " +
           text(ws.max_lanes));
  for (int lane = 0; in.length != nullptr && lane < in.lanes; ++lane)
    if (in.length[lane] < 0 || in.length[lane] > in.steps)
      refuse("length[" + text(lane) + "] = " + text(in.length[lane]) + ", but it must be in 0.." +
             text(in.steps));
}

template <typename T>
void NetworkWorkspace<T>::prepare(const NetworkLayout& layout, int steps, int lanes,
                                  bool for_training) {
  training = for_training;
  max_steps = steps;
  max_lanes = lanes;
  const int hidden = layout.networks.hidden;
  const nn::EncoderRows of_encoder = nn::encoder_rows(layout.encoder_fwd);

  lane_nll.resize(static_cast<std::size_t>(lanes));
  lane_ok.assign(static_cast<std::size_t>(lanes), 1);
  failed_step.assign(static_cast<std::size_t>(lanes), -1);
  failed_covariance.assign(static_cast<std::size_t>(lanes), 0);
  failures.reserve(static_cast<std::size_t>(lanes));
  records.resize(times(RecordRows(layout, training).total, lanes) *
                 static_cast<std::size_t>(steps));
  const nn::WindowShape window{steps, kChunkSteps, layout.directions(), training};
  encoder.resize(
      static_cast<std::size_t>(nn::encoder_scratch_rows(layout.encoder_fwd, window) * lanes));
  if (!training) return;
  const auto parameters = static_cast<std::size_t>(layout.parameters.size());
  gradient.resize(parameters);
  sums.resize(parameters * lanes::kLineLanes<T>);
  int widest = layout.directions() * hidden;
  for (const int width : layout.networks.decoder) widest = std::max(widest, width);
  transposed.resize(times(lanes::padded_to_line<T>(widest), lanes) * (kChunkSteps + 1));
  d_h.resize(times(of_encoder.state, lanes));
  chunk.resize(times(layout.decoder.hidden_rows(), lanes) * kChunkSteps);
  encoder_T.resize(times(lanes::padded_to_line<T>(of_encoder.transposed), lanes) * kChunkSteps);
  d_hidden_state.resize(times((layout.directions() - 1) * hidden + of_encoder.step, lanes));
}

template <typename T>
void NetworkWorkspace<T>::begin_backward() {
  if (!training) refuse("backward needs a workspace prepared for training");
  gradient.clear();
  d_h.clear();
}

template <typename T>
double collect_losses(const NetworkInput<T>& in, NetworkWorkspace<T>& ws) {
  ws.any_failed = false;
  if (in.steps == 0) {
    ws.lane_nll.clear();
    std::ranges::fill(ws.lane_ok, std::uint8_t{1});
    return 0;
  }
  double sum = 0;
  for (int lane = 0; lane < in.lanes; ++lane) {
    const auto own = static_cast<std::size_t>(lane);
    const double nll = ws.lane_nll[own];
    const bool ok = std::isfinite(nll);
    ws.lane_ok[own] = ok ? 1 : 0;
    ws.any_failed = ws.any_failed || !ok;
    if (ws.failed_step[own] >= 0)
      ws.failures.push_back({lane, ws.failed_step[own], ws.failed_covariance[own] != 0});
    if (ok) sum += nll;
  }
  return sum;
}

#define KALMIA_INSTANTIATE(T)                                                    \
  template void check_window<T>(const PackedNetwork<T>&, const NetworkInput<T>&, \
                                const NetworkWorkspace<T>&);                     \
  template struct NetworkWorkspace<T>;                                           \
  template double collect_losses<T>(const NetworkInput<T>&, NetworkWorkspace<T>&);
KALMIA_INSTANTIATE(float)
KALMIA_INSTANTIATE(double)
#undef KALMIA_INSTANTIATE

}  // namespace kalmia::engine
