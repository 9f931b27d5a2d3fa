// The dynamics of the paper's linear experiment, for one direction of motion.
#pragma once

namespace kalmia::prior {

/// d/dt [p, v, a] = A [p, v, a] with A = [0, 1, 0; 0, -c, 1; 0, -tau, 0], c = 0.06, tau = 0.17.
///
/// Paper: Sec. 8.1. Differs from the paper: it prints -tau c in the last row; see docs/errata.md,
/// item 2.
inline constexpr double kLinearMotion[3][3] = {{0, 1, 0}, {0, -0.06, 1}, {0, -0.17, 0}};

}  // namespace kalmia::prior
