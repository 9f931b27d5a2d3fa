// What is learned of an expert's map where it is rough: a matrix, or polynomials of the states.
#pragma once

#include "prior/expert_draft.hpp"

namespace kalmia::prior {

/// Adds the departure that `spec` asks for (std 0: none) to the draft's map, with a parameter for
/// each coefficient, which starts at zero and is regularised towards it.
///
/// Degree 1: F += D. Higher: the map is x' = F(x) x + e + p(x), linearised at x, where
///
///   p_i(x) = q_i dt/dt0 sum over m of theta_im He_m1(z_1) He_m2(z_2) ... / sqrt(m1! m2! ...),
///   z = limit tanh(W (x - c) / limit),
///
/// with the centre c, the whitening W, the steps q and the usual time dt0 of spec.frame. Hermite's
/// polynomials of whitened states are nearly orthogonal, and q makes the coefficients as large as
/// what they do to the likelihood: a search by gradients finds them in a few hundred steps. The
/// limit keeps a state far from all that was seen from adding more than one that is there.
///
/// States that the map moves independently of where they are (a position) stay so: no column of D
/// and no z is theirs. Throws ConfigError if that makes too many coefficients.
void add_departure(ExpertDraft& draft, const ExpertSpec& spec);

}  // namespace kalmia::prior
