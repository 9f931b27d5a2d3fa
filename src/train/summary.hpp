// What a fit says about itself.
#pragma once

#include <string>

#include "kalmia/fit.hpp"
#include "model/noise.hpp"

namespace kalmia::train {

/// The mean loss of a value below which no honest prediction falls: that of white noise R itself,
///   (1 + log 2 pi) / 2 + log det R / (2 M).
double noise_bound(const model::NoiseSpec& noise, int meas_dim);

/// Whether a held-out loss is clearly below the bound.
bool predicts_noise(double held_out, const FitSummary& summary);

/// Sets the message from the reason.
void describe(const FitOptions& options, FitSummary& summary);

/// What goes into the model file: options and how training went, without what varies from run to
/// run (times, threads).
std::string stored_summary_json(const FitOptions& options, const FitSummary& summary);

}  // namespace kalmia::train
