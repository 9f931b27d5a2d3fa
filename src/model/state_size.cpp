#include "model/state_size.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace kalmia::model {
namespace {

// The initial state is as wide as this many spreads of the data: nearly diffuse.
constexpr double kInitialSpreads = 3;
// Of a state that no channel shows, a step adds this share of what it may be.
constexpr double kUnseenStep = 0.02;
// A part that is added to equations begins with this share of what the channel shows, and with this
// share of the noise that a part alone would have: what it does is what the equations leave over.
constexpr double kAddedWidth = 1.0 / 3;
constexpr double kAddedStep = 0.1;
// What a season's shape changes in a step, as a share of the channel's step.
constexpr double kCycleStep = 0.02;
// A value that a state only remembers, as autoregressions do, does not change: next to nothing is
// added to it.
constexpr double kLagStep = 1e-3;
// Channels that show the same count as nearly the same.
constexpr double kMostCorrelated = 0.99;

}  // namespace

// A map in physical units has derivatives by time, not by step.
StateSize state_size(const prior::Expert& expert, int n, const ModelDescription& description,
                     const std::vector<ChannelStatistics>& channels) {
  const prior::StateKind& state = expert.states[static_cast<std::size_t>(n)];
  const std::string& name = expert.state_names[static_cast<std::size_t>(n)];
  const auto given = std::find_if(expert.initial.begin(), expert.initial.end(),
                                  [&](const InitialState& each) { return each.name == name; });
  if (state.channel < 0) {
    // Nobody knows; as large as the largest of what is measured.
    double width = 0;
    for (const ChannelStatistics& channel : channels)
      width = std::max({width, std::abs(channel.mean), channel.spread});
    const double std = given == expert.initial.end() ? kInitialSpreads * width : given->std;
    return {given == expert.initial.end() ? 0 : given->mean, std, kUnseenStep * std};
  }
  const auto c = static_cast<std::size_t>(state.channel);
  const double unit = description.units.y_scale[c];
  const double per_time = expert.by_time(n) ? std::pow(description.dt, -state.derivative) : 1;
  const double step = channels[c].step / unit * per_time;
  const double signal = state.derivative == 1 ? channels[c].rate : channels[c].acceleration;
  const bool added = n >= expert.map_states && expert.map_states > 0;
  const double spread = kInitialSpreads * channels[c].spread / unit * (added ? kAddedWidth : 1);
  if (state.role == prior::StateRole::Cycle) return {0, spread, kCycleStep * step};
  StateSize size{0, 3 * std::max(step, signal / unit * per_time), 0.2 * step};
  if (state.derivative == 0)
    size = {state.holds_mean ? (channels[c].mean - description.units.y_offset[c]) / unit : 0,
            spread, (state.role == prior::StateRole::Remembered ? kLagStep : 0.5) * step};
  if (added) {
    size.width = std::min(size.width, spread);
    size.step *= kAddedStep;
  }
  if (given != expert.initial.end()) size = {given->mean, given->std, size.step};
  return size;
}

prior::StateFrame state_frame(const prior::Expert& expert, const ModelDescription& description,
                              const std::vector<ChannelStatistics>& channels,
                              const std::vector<double>& correlation) {
  const int N = expert.state_dim();
  const std::size_t M = channels.size();
  prior::StateFrame frame;
  frame.dt = expert.physical ? description.dt : 1;
  Eigen::MatrixXd P = Eigen::MatrixXd::Identity(N, N);
  std::vector<double> std(static_cast<std::size_t>(N));
  const auto shown = [&](int n) {
    const prior::StateKind& state = expert.states[static_cast<std::size_t>(n)];
    return state.channel >= 0 && state.derivative == 0 && state.holds_mean &&
           !channels[static_cast<std::size_t>(state.channel)].wanders;
  };
  for (int i = 0; i < N; ++i) {
    const StateSize size = state_size(expert, i, description, channels);
    frame.centre.push_back(size.mean);
    frame.step.push_back(size.step);
    std[static_cast<std::size_t>(i)] = size.width / kInitialSpreads;
    for (int j = 0; j < i; ++j)
      if (shown(i) && shown(j))
        P(i, j) = P(j, i) =
            kMostCorrelated *
            correlation
                [static_cast<std::size_t>(expert.states[static_cast<std::size_t>(i)].channel) * M +
                 static_cast<std::size_t>(expert.states[static_cast<std::size_t>(j)].channel)];
  }
  const Eigen::LLT<Eigen::MatrixXd> cholesky(P);
  Eigen::MatrixXd W = Eigen::MatrixXd::Identity(N, N);
  if (cholesky.info() == Eigen::Success) cholesky.matrixL().solveInPlace(W);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j)
      frame.whitening.push_back(W(i, j) / std[static_cast<std::size_t>(j)]);
  return frame;
}

}  // namespace kalmia::model
