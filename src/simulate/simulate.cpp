#include "kalmia/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "simulate/linear_motion.hpp"
#include "simulate/lorenz.hpp"
#include "simulate/pendulum.hpp"
#include "simulate/random_linear.hpp"
#include "simulate/simulated_system.hpp"
#include "simulate/sinusoids.hpp"
#include "simulate/van_der_pol.hpp"

namespace kalmia {
namespace {

using simulation::SimulatedSystem;
using simulation::SimulatedSystemOptions;

// A field with this value takes the system's default.
constexpr double kDefault = -1;
// The systems' own times are of order 1; a step of many of them is a slip, and takes for ever to
// integrate.
constexpr double kLongestStep = 1000;
// A model has no more of them; the time to make a random system grows with their cube.
constexpr int kMostStates = 128;
constexpr int kMostSeries = 1'000'000;
// Numbers that are simulated at once (2 GB).
constexpr double kMostNumbers = 250e6;

struct Definition {
  const char* name;
  const char* description;
  double dt;
  double noise;
  std::unique_ptr<SimulatedSystem> (*make)(const SimulatedSystemOptions& options);
};

template <typename Type>
std::unique_ptr<SimulatedSystem> make(const SimulatedSystemOptions& options) {
  return std::make_unique<Type>(options);
}

constexpr Definition kDefinitions[] = {
    {"lorenz",
     "dx1 = 10 (x2 - x1), dx2 = x1 (28 - x3) - x2, dx3 = x1 x2 - 8/3 x3; all measured; dt 0.05, "
     "noise 0.5",
     0.05, 0.5, make<simulation::Lorenz>},
    {"linear",
     "two axes with dp = v, dv = a - 0.06 v, da = -0.17 v and random disturbances; p1, p2 "
     "measured; dt 1, noise 0.5",
     1, 0.5, simulation::make_linear_motion},
    {"pendulum",
     "d angle = rate, d rate = -9.81 sin(angle) - 0.1 rate + random torque; angle measured; dt "
     "0.05, noise 0.1",
     0.05, 0.1, make<simulation::Pendulum>},
    {"van-der-pol",
     "d position = velocity, d velocity = 1.5 (1 - position^2) velocity - position; position "
     "measured; dt 0.1, noise 0.3",
     0.1, 0.3, make<simulation::VanDerPol>},
    {"sinusoids",
     "the sum of three sinusoids with random periods between 20 and 200; measured; dt 1, noise 0.5",
     1, 0.5, make<simulation::Sinusoids>},
    {"random-linear",
     "x[k] = F x[k-1] + N(0, Q), random and stable, states of variance 1; the first ones measured; "
     "dt 1, noise 0.5",
     1, 0.5, simulation::make_random_linear},
};

const Definition& find(const std::string& name) {
  const auto* const found =
      std::find_if(std::begin(kDefinitions), std::end(kDefinitions),
                   [&](const Definition& definition) { return definition.name == name; });
  if (found != std::end(kDefinitions)) return *found;
  std::string known;
  for (const Definition& definition : kDefinitions)
    known += std::string(known.empty() ? "" : ", ") + definition.name;
  throw ConfigError(
      fmt::format("simulate: system = \"{}\", but it must be one of {}", name, known));
}

void check(const std::string& system, const SimulateOptions& o) {
  std::string wrong;
  const auto require = [&](bool holds, const char* name, auto value, const std::string& rule) {
    if (!holds) wrong += fmt::format("\n  {} = {}, but it must be {}", name, value, rule);
  };
  require(o.steps >= 1, "steps", o.steps, ">= 1");
  require(o.series >= 1 && o.series <= kMostSeries, "series", o.series,
          fmt::format("in 1..{}", kMostSeries));
  require(o.dt == kDefault || (o.dt > 0 && o.dt <= kLongestStep), "dt", o.dt,
          fmt::format("> 0 and <= {} (-1: the system's own)", kLongestStep));
  require(o.noise == kDefault || (o.noise >= 0 && std::isfinite(o.noise)), "noise", o.noise,
          ">= 0 and finite (-1: the system's own)");
  if (system == "random-linear") {
    require(o.states >= 1 && o.states <= kMostStates, "states", o.states,
            fmt::format("in 1..{}", kMostStates));
    require(o.measured >= 1 && o.measured <= o.states, "measured", o.measured,
            fmt::format(">= 1 and <= states ({})", o.states));
  }
  if (!wrong.empty()) throw ConfigError("simulate " + system + ": invalid options:" + wrong);
}

// `columns`: numbers of a step.
void check_size(const std::string& system, const SimulateOptions& o, std::size_t columns) {
  const double numbers =
      static_cast<double>(o.steps) * static_cast<double>(o.series) * static_cast<double>(columns);
  if (numbers > kMostNumbers)
    throw ConfigError(fmt::format(
        "simulate {}: steps = {} in series = {} are {:.3g} numbers ({} a step), but at most {:.3g} "
        "are simulated at once; take fewer, or several runs with seeds of their own",
        system, o.steps, o.series, numbers, columns, kMostNumbers));
}

}  // namespace

const std::vector<SystemInfo>& simulated_systems() {
  static const std::vector<SystemInfo> systems = [] {
    std::vector<SystemInfo> infos;
    for (const Definition& definition : kDefinitions)
      infos.push_back({definition.name, definition.description});
    return infos;
  }();
  return systems;
}

Dataset simulate(const std::string& system, const SimulateOptions& options) {
  const Definition& definition = find(system);
  check(system, options);
  SimulatedSystemOptions chosen;
  chosen.dt = options.dt == kDefault ? definition.dt : options.dt;
  chosen.noise = options.noise == kDefault ? definition.noise : options.noise;
  chosen.states = options.states;
  chosen.measured = options.measured;
  chosen.seed = options.seed;
  const std::unique_ptr<SimulatedSystem> made = definition.make(chosen);
  const std::vector<int>& measured = made->measured();
  const std::size_t N = made->state_names().size(), M = measured.size();
  check_size(system, options, N + M + 1);

  Dataset data;
  data.source = fmt::format("simulate {}", system);
  if (options.series > 1) data.key_name = std::string("key");
  data.time_name = std::string("t");
  data.time_kind = TimeKind::Number;
  for (std::size_t m = 1; m <= M; ++m) data.y_names.push_back(fmt::format("y{}", m));
  for (const std::string& name : made->state_names()) data.x_names.push_back("true_" + name);

  const auto steps = static_cast<std::size_t>(options.steps);
  for (int s = 0; s < options.series; ++s) {
    Series series;
    if (options.series > 1) series.key = std::to_string(s + 1);
    series.steps = options.steps;
    series.t.resize(steps);
    series.x.resize(steps * N);
    series.y.resize(steps * M);
    // The noise has its own stream: the truth does not depend on what is measured.
    const auto index = static_cast<std::uint64_t>(s);
    RandomStream random(options.seed, system, index);
    RandomStream noise(options.seed, system + " noise", index);
    std::vector<double> state(N);
    for (std::size_t k = 0; k < steps; ++k) {
      if (k == 0)
        made->start(random, state);
      else
        made->advance(random, state);
      series.t[k] = static_cast<double>(k) * chosen.dt;
      std::copy(state.begin(), state.end(), series.x.begin() + static_cast<std::ptrdiff_t>(k * N));
      for (std::size_t m = 0; m < M; ++m)
        series.y[k * M + m] =
            state[static_cast<std::size_t>(measured[m])] + chosen.noise * noise.normal();
    }
    data.series.push_back(std::move(series));
  }
  return data;
}

}  // namespace kalmia
