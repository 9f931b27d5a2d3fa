// Forecasts from many points of the data, scored step by step.
#pragma once

#include <vector>

#include "kalmia/evaluate.hpp"
#include "study/evaluation.hpp"

namespace kalmia::study {

/// Cuts the data into stretches, forecasts `horizon` steps from each and compares with what
/// follows: the truth of the states, else that of the channels, else the measurements, whose noise
/// is then part of the bars. Entry h - 1 of the result is of h steps ahead. Inputs and lengths of
/// steps are those of the rows that follow. Throws DataError if no series is long enough.
std::vector<ForecastScore> score_forecasts(const Model& model, const Dataset& data,
                                           const Truth& truth, int horizon, int threads);

}  // namespace kalmia::study
