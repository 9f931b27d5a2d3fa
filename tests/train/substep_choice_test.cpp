#include "train/substep_choice.hpp"

#include <gtest/gtest.h>

#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

System lorenz_system(int substeps) {
  System system;
  system.states = {"y1", "y2", "y3"};
  system.ode = {{"y1", "10*(y2 - y1)"}, {"y2", "y1*(28 - y3) - y2"}, {"y3", "y1*y2 - 8/3*y3"}};
  system.integration.substeps = substeps;
  return system;
}

TEST(SubstepChoice, IsAskedForWhereNoneAreGiven) {
  EXPECT_TRUE(finds_substeps(test::equations(lorenz_system(0))));
  EXPECT_FALSE(finds_substeps(test::equations(lorenz_system(3))));
  System system = lorenz_system(0);
  system.integration.flow = "taylor";
  EXPECT_FALSE(finds_substeps(test::equations(system)));
  system.integration.flow = "rk4";
  EXPECT_TRUE(finds_substeps(test::equations(system)));
  std::swap(system.ode, system.next);
  EXPECT_FALSE(finds_substeps(test::equations(system)));
  system = {};
  system.states = {"y1"};
  system.matrix = {{"-1"}};
  EXPECT_FALSE(finds_substeps(test::equations(system)));  // frozen
  system.integration.flow = "rk4";
  EXPECT_TRUE(finds_substeps(test::equations(system)));
  EXPECT_FALSE(finds_substeps(test::named("lorenz")));
}

// Lorenz seen at steps of this length, fitted with so many substeps.
int needed(double dt, int substeps) {
  SimulateOptions options;
  options.steps = 1500;
  options.dt = dt;
  const Case c(simulate("lorenz", options), test::equations(lorenz_system(substeps)));
  ThreadTeam team(1);
  const StaticResult fitted =
      fit_static(c.description, c.channels, {}, c.scaled, c.everything(), team);
  return needed_substeps(fitted, c.scaled, c.everything(), team);
}

TEST(SubstepChoice, GrowsWithTheStep) {
  EXPECT_EQ(needed(0.01, 1), 1);
  EXPECT_EQ(needed(0.05, 1), 2);
  EXPECT_EQ(needed(0.15, 1), 2);  // as far as noise that makes up for the error can tell
  EXPECT_GE(needed(0.15, 2), 4);
  EXPECT_EQ(needed(0.05, 2), 2);
  EXPECT_EQ(needed(0.01, 5), 5);  // never fewer than it has
}

// x' = -r (x - force) with an input, at times that differ: r dt up to 1.8.
TEST(SubstepChoice, ReadsInputsAndTheLengthsOfSteps) {
  const auto needed_at = [](double longest) {
    Dataset data = dataset_of({{}});
    data.time_kind = TimeKind::Number;
    data.u_names = {"force"};
    Series& series = data.series[0];
    RandomStream random(51, "driven");
    double x = 0, t = 0, force = 0;
    for (int k = 0; k < 1200; ++k) {
      series.t.push_back(t);
      series.y.push_back(x + 0.02 * random.normal());
      force = 0.5 * force + random.normal();
      series.u.push_back(force);
      const double dt = random.uniform(0.9, 1.1) * longest;
      x = force + (x - force) * std::exp(-dt) + 0.02 * random.normal();
      t += dt;
    }
    series.steps = 1200;
    System system;
    system.states = {"y"};
    system.inputs = {"force"};
    system.ode = {{"y", "force - y"}};
    const Case c(data, test::equations(system));
    ThreadTeam team(1);
    const StaticResult fitted =
        fit_static(c.description, c.channels, {}, c.scaled, c.everything(), team);
    return needed_substeps(fitted, c.scaled, c.everything(), team);
  };
  EXPECT_EQ(needed_at(0.2), 1);
  EXPECT_GE(needed_at(1.8), 2);
}

}  // namespace
}  // namespace kalmia::train
