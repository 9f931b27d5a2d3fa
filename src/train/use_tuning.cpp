#include "train/use_tuning.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "kalmia/error.hpp"
#include "lanes/panel.hpp"
#include "nn/softplus.hpp"

namespace kalmia::train {
namespace {

// Steps of the logarithms: the first, and the last.
constexpr double kFirstStep = 1.2;
constexpr double kLastStep = 0.25;
constexpr double kSmaller = 0.5;
// No number is moved further than this from where the likelihood has it.
constexpr double kFurthestLog = 5;
// A step is worth it if the loss falls by this.
constexpr double kWorthIt = 3e-4;

// What is added to the loss of a model of which one use is worse than it may be: more than any loss
// can be made up for by the others.
constexpr double kHarmful = 100;

// One number that is moved: the process noise of some states, or a rate.
struct Knob {
  enum class Kind { ProcessNoise, Rate } kind;
  std::vector<int> states;  // of ProcessNoise
  std::size_t index = 0;    // of a rate
};

std::vector<Knob> knobs_of(const prior::Expert& expert) {
  std::vector<Knob> knobs;
  int season = -1;  // the part and channel whose knob is being made
  for (int n = 0; n < expert.state_dim(); ++n) {
    const prior::StateKind& state = expert.states[static_cast<std::size_t>(n)];
    if (state.role == prior::StateRole::Remembered) continue;
    const int place = state.role == prior::StateRole::Cycle
                          ? state.part * static_cast<int>(expert.states.size()) + state.channel
                          : -1;
    if (place >= 0 && place == season)
      knobs.back().states.push_back(n);
    else
      knobs.push_back({Knob::Kind::ProcessNoise, {n}});
    season = place;
  }
  for (std::size_t i = 0; i < expert.parameters.size(); ++i)
    if (expert.parameters[i].learn && expert.parameters[i].lower >= 0)
      knobs.push_back({Knob::Kind::Rate, {}, i});
  return knobs;
}

void move(const Knob& knob, double log_factor, StaticResult& model) {
  const double factor = std::exp(log_factor);
  switch (knob.kind) {
    case Knob::Kind::ProcessNoise:
      for (const int n : knob.states) scale_process_noise(n, factor, model);
      return;
    case Knob::Kind::Rate:
      model.description.theta[knob.index] *= factor;
      return;
  }
}

}  // namespace

void scale_process_noise(int state, double factor, StaticResult& model) {
  const auto packed_L = std::span(model.output).last(model.initial_L.size());
  for (int j = 0; j <= state; ++j) {
    double& entry = packed_L[static_cast<std::size_t>(lanes::triangle_index(state, j))];
    entry = j == state ? nn::inverse_softplus(factor * nn::softplus(entry)) : factor * entry;
  }
}

StaticResult tuned_for_use(const StaticResult& fitted, const UseData& data,
                           const UseWeights& weights, ThreadTeam& team,
                           const std::function<bool()>& go_on, const TriedModel* simpler) {
  const std::vector<Knob> knobs = knobs_of(model::expert_of(fitted.description));
  std::vector<double> at(knobs.size(), 0.0);
  const auto moved_to = [&](const std::vector<double>& logs) {
    StaticResult model = fitted;
    for (std::size_t i = 0; i < knobs.size(); ++i)
      if (logs[i] != 0) move(knobs[i], logs[i], model);
    return model;
  };
  const auto loss_at = [&](const std::vector<double>& logs) {
    try {
      const TriedModel moved{"", data.score(*moved_to(logs).alone<float>(), LeftOut::Exactly, team),
                             simpler == nullptr ? 0 : simpler->penalty};
      const bool harmful = simpler != nullptr && worse_use(moved, *simpler, weights);
      return moved.loss(weights) + (harmful ? kHarmful : 0);
    } catch (const Error&) {  // out of range, or no likelihood
      return std::numeric_limits<double>::infinity();
    }
  };
  double least = loss_at(at);
  std::vector<double> direction(knobs.size(), 1.0);  // which way a knob went last
  bool stopped = false;
  for (double step = kFirstStep; step >= kLastStep && !stopped;) {
    bool any = false;
    for (std::size_t i = 0; i < knobs.size() && !stopped; ++i)
      for (int turn = 0; turn < 2; ++turn) {
        stopped = go_on && !go_on();
        if (stopped) break;
        std::vector<double> next = at;
        next[i] = std::clamp(at[i] + direction[i] * step, -kFurthestLog, kFurthestLog);
        const double loss = next[i] == at[i] ? least : loss_at(next);
        if (loss < least - kWorthIt) {
          least = loss;
          at = std::move(next);
          any = true;
          break;
        }
        direction[i] = -direction[i];
      }
    if (!any) step *= kSmaller;
  }
  return moved_to(at);
}

}  // namespace kalmia::train
