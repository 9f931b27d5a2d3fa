#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "heads/architecture.hpp"
#include "kalmia/error.hpp"
#include "support/isas.hpp"
#include "support/window_case.hpp"

namespace kalmia::heads {
namespace {

ArchitectureOptions network_options() {
  ArchitectureOptions o;
  o.state_dim = 2;
  o.meas_dim = 1;
  o.input_dim = 1;
  o.hidden = 5;
  o.decoder = {4};
  return o;
}

TEST(PackedNetwork, PutsTheInitialDiagonalThroughSoftplus) {
  const Architecture a(network_options());
  std::vector<double> values(static_cast<std::size_t>(a.parameters.size()), 0.0);
  const double L[] = {-0.5, 0.7, 1.5};
  for (int i = 0; i < 3; ++i) values[static_cast<std::size_t>(a.initial_L + i)] = L[i];
  values[static_cast<std::size_t>(a.initial_e) + 1] = 0.25;
  PackedModel<double> network;
  network.pack(a, values.data());
  EXPECT_DOUBLE_EQ(network.initial.e[0], 0.0);
  EXPECT_DOUBLE_EQ(network.initial.e[1], 0.25);
  EXPECT_NEAR(network.initial.L[0], std::log1p(std::exp(-0.5)), 1e-15);
  EXPECT_DOUBLE_EQ(network.initial.L[1], 0.7);
  EXPECT_NEAR(network.initial.L[2], std::log1p(std::exp(1.5)), 1e-15);
  EXPECT_NEAR(network.initial.L_slope[1], 1 / (1 + std::exp(-1.5)), 1e-15);
}

// Tiles differ between instruction sets: old ones must be refused, not read wrongly.
TEST(PackedNetwork, IsRefusedAfterTheInstructionSetChanged) {
  if (lanes::available_isas().size() < 2) GTEST_SKIP() << "this machine has one instruction set";
  test::WindowCase<float> at(network_options(), {}, 3, 16, 1);
  StateWorkspace<float> workspace;
  workspace.prepare(at.model(), 3, 16, false);
  lanes::force_isa(lanes::Isa::Portable);
  EXPECT_THROW(engine::window_forward(at.model(), at.group.view(), at.group.carry, {}, workspace),
               ConfigError);
  at.pack();
  EXPECT_NO_THROW(
      engine::window_forward(at.model(), at.group.view(), at.group.carry, {}, workspace));
  lanes::use_best_isa();
}

}  // namespace
}  // namespace kalmia::heads
