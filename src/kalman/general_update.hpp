// What a caller of general_update-inl.h sets and allocates.
#pragma once

#include <algorithm>

#include "kalman/emission.hpp"
#include "kalman/emission_map.hpp"
#include "kalman/robust.hpp"
#include "kalman/scratch.hpp"
#include "kalman/student_density.hpp"

namespace kalmia::kalman {

struct GeneralEmission {
  const Emission* linear = nullptr;  ///< R, and H where there is no map
  const EmissionMap* map = nullptr;
  const RobustOptions* robust = nullptr;  ///< null: Gaussian noise
};

/// Lines that a GeneralUpdate works in.
constexpr int general_update_lines(int N, int M) {
  return 2 * M * N + 4 * M * M + 4 * M + 1 +
         std::max({update_scratch_lines(N, M), robust_scratch_lines(N, M),
                   2 * N * M + 4 * M * M + 2 * M + student_density_lines(M)});
}

}  // namespace kalmia::kalman
