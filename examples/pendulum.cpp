// Learns the constants of a pendulum whose equations are a C++ function.
//
// The function is written once for any scalar: here it makes the expert map of a fit and, called
// with numbers, says how the pendulum accelerates under the constants found.
#include <array>
#include <cmath>
#include <cstdio>

#include "kalmia/error.hpp"
#include "kalmia/fit.hpp"
#include "kalmia/simulate.hpp"
#include "kalmia/trace.hpp"

namespace {

// d angle/dt = rate, d rate/dt = -gravity sin(angle) - damping rate
struct Pendulum {
  template <typename T>
  std::array<T, 2> operator()(const kalmia::Point<T>& at) const {
    using std::sin;
    const T &angle = at.x[0], &rate = at.x[1];
    const T &gravity = at.theta[0], &damping = at.theta[1];
    return {rate, -gravity * sin(angle) - damping * rate};
  }
};

// The angle alone is measured.
struct Sensor {
  template <typename T>
  std::array<T, 1> operator()(const kalmia::Point<T>& at) const {
    return {at.x[0]};
  }
};

kalmia::System pendulum() {
  kalmia::System system;
  system.states = {"angle", "rate"};
  system.parameters = {{"gravity", 5, true, 0}, {"damping", 1, true, 0}};
  system.initial = {{"rate", 0, 3}};
  kalmia::trace_ode(system, Pendulum{});
  kalmia::trace_measure(system, {"y1"}, Sensor{});
  return system;
}

}  // namespace

int main() {
  try {
    kalmia::SimulateOptions simulated;
    simulated.steps = 2000;
    const kalmia::Dataset data = kalmia::simulate("pendulum", simulated);

    kalmia::FitOptions options;
    options.model.system = pendulum();
    options.model.noise = "0.1";
    options.model.hidden = 0;  // the equations say it all: no networks
    for (const kalmia::Equation& each : options.model.system.ode)
      std::printf("d %s/dt = %s\n", each.name.c_str(), each.text.c_str());
    const kalmia::FitResult result = kalmia::fit(data, options);

    kalmia::Point<double> at{{0.5, 0}, {}, {}, 0};
    for (const kalmia::LearnedParameter& learned : result.summary.static_model.parameters) {
      std::printf("%s %.2f\n", learned.name.c_str(), learned.value);
      at.theta.push_back(learned.value);
    }
    std::printf("at rest at an angle of %.1f it accelerates by %.2f\n", at.x[0], Pendulum{}(at)[1]);
  } catch (const kalmia::Error& error) {
    std::fprintf(stderr, "pendulum: %s\n", error.what());
    return 1;
  }
}
