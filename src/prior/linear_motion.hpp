// The constants of the paper's linear experiment.
#pragma once

namespace kalmia::prior {

/// For each direction d/dt [p, v, a] = [0, 1, 0; 0, -c, 1; 0, -tau, 0] [p, v, a].
///
/// Paper: Sec. 8.1. Differs from the paper: it prints -tau c in the last row; see docs/errata.md,
/// item 2.
inline constexpr double kLinearMotionC = 0.06;
inline constexpr double kLinearMotionTau = 0.17;

}  // namespace kalmia::prior
