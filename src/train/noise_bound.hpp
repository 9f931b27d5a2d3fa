// The loss that no honest prediction falls below.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "kalmia/data.hpp"
#include "model/noise.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

struct NoiseBound {
  /// Mean loss of a held-out value; -infinity: there is no bound.
  double loss = -std::numeric_limits<double>::infinity();
  std::size_t held_out_steps = 0;

  /// Whether a held-out loss is clearly below the bound: by more than chance, which lets the mean
  /// of n squared normal numbers come out smaller by a few times sqrt(2 / n). The noise itself is
  /// predicted then.
  bool is_beaten_by(double held_out) const;
};

/// The loss of white noise R itself, for the m values measured at a step
///   m (1 + log 2 pi) / 2 + log det R / 2,   R: their rows and columns.
/// Under Student-t noise (`tails` are its degrees of freedom; 0: Gaussian) the entropy of t_nu
/// takes the place of (1 + log 2 pi) / 2: exact for a diagonal R, and below the noise's entropy for
/// any other, since what components say of each other is less than what Gaussian ones say.
/// -infinity if the noise is learned, or nothing is held out.
NoiseBound find_noise_bound(const model::NoiseSpec& noise, double tails, const Dataset& data,
                            const std::vector<HeldOut>& held_out);

}  // namespace kalmia::train
