// What drives the steps after the end of a series.
#pragma once

#include <vector>

#include "infer/series_run.hpp"

namespace kalmia::infer {

/// The steps after the end of one series.
struct Future {
  std::vector<double> t;         ///< their times; empty: the data have none
  std::vector<double> dt_ratio;  ///< the length of the step that leads to each, over the usual one
  /// Inputs at each of them, (steps, U), which act during the step that leads on from it.
  std::vector<double> u;
};

/// The `horizon` steps after the end of series `s` of `data`. `rows`: data that go on where each
/// series ends, with its key, inputs (a missing one is that before it) and, if they have them,
/// times. Null: inputs stay as they were at the end, and steps are as long as `run.dt()`. Throws
/// DataError, which names the place, for rows that do not fit.
Future future_of(const model::ModelDescription& model, const SeriesRun& run, const Dataset& data,
                 int s, const Dataset* rows, int horizon);

}  // namespace kalmia::infer
