// What a fit says about itself.
#pragma once

#include <string>

#include "kalmia/fit.hpp"
#include "model/noise.hpp"
#include "train/training_data.hpp"

namespace kalmia::train {

/// The mean loss of a held-out value below which no honest prediction falls: that of white noise R
/// itself, for the m values measured at a step
///   m (1 + log 2 pi) / 2 + log det R / 2,   R: their rows and columns.
/// Under Student-t noise (`tails` are its degrees of freedom; 0: Gaussian) the entropy of t_nu
/// takes the place of (1 + log 2 pi) / 2: exact for a diagonal R, and below the noise's entropy for
/// any other, since what components say of each other is less than what Gaussian ones say.
/// -infinity if the noise is learned, or nothing is held out.
double noise_bound(const model::NoiseSpec& noise, double tails, const Dataset& data,
                   const std::vector<HeldOut>& held_out);

/// Whether a held-out loss is clearly below the bound: by more than chance, which lets the mean of
/// n squared normal numbers come out smaller by a few times sqrt(2 / n).
bool predicts_noise(double held_out, const FitSummary& summary);

/// What to know of learned constants: which did not move from where they began, and which sit at a
/// bound. `began`: with the values before learning; `ended`: their values after it.
std::vector<std::string> constant_notes(const std::vector<Parameter>& began,
                                        const std::vector<Parameter>& ended);

/// Sets the message from the reason.
void describe(const FitOptions& options, FitSummary& summary);

/// What goes into the model file: options and how training went, without what varies from run to
/// run (times, threads).
std::string stored_summary_json(const FitOptions& options, const FitSummary& summary);

}  // namespace kalmia::train
