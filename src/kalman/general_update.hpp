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

/// The innovation of Student-t noise, its density and their adjoints.
struct InnovationLines {
  double *r, *B, *R, *G, *d_r, *d_B, *d_R, *d_BH, *density;

  template <typename Taker>
  constexpr void lay_out(Taker& taker, int N, int M) {
    r = taker.take(M);
    B = taker.take(M * M);
    R = taker.take(M * M);
    G = taker.take(N * M);
    d_r = taker.take(M);
    d_B = taker.take(M * M);
    d_R = taker.take(M * M);
    d_BH = taker.take(M * N);
    density = taker.take(student_density_lines(M));
  }
};

/// Lines that a GeneralUpdate works in.
struct GeneralUpdateLines {
  double *H_, *y_pred_, *R_, *R_given_, *R_eff_, *weights_, *robust_, *d_y_, *d_H_, *d_R_eff_;
  double *no_loss_, *scratch_;

  template <typename Taker>
  constexpr void lay_out(Taker& taker, int N, int M) {
    H_ = taker.take(M * N);
    y_pred_ = taker.take(M);
    R_ = taker.take(M * M);
    R_given_ = taker.take(M * M);
    R_eff_ = taker.take(M * M);
    weights_ = taker.take(M);
    robust_ = taker.take(M);
    d_y_ = taker.take(M);
    d_H_ = taker.take(M * N);
    d_R_eff_ = taker.take(M * M);
    no_loss_ = taker.take(1);
    scratch_ = taker.take(std::max({update_scratch_lines(N, M), robust_scratch_lines(N, M),
                                    lanes::count_lines<InnovationLines>(N, M)}));
  }
};

constexpr int general_update_lines(int N, int M) {
  return lanes::count_lines<GeneralUpdateLines>(N, M);
}

}  // namespace kalmia::kalman
