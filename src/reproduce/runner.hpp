// Runs the cells of a grid side by side.
#pragma once

#include <functional>
#include <vector>

#include "reproduce/experiment.hpp"
#include "reproduce/journal.hpp"

namespace kalmia::reproduction {

struct RunResult {
  std::vector<FinishedCell> cells;  ///< of the grid, those of the journal included
  int resumed = 0;                  ///< of these, taken from the journal
  bool complete = false;
};

/// Runs the cells that the journal (may be null) does not have, one thread each, in their order,
/// and adds each to it when it is finished. A cell whose method breaks down (NumericalError) gives
/// rows with the error, which are not kept in the journal. `progress` as in kalmia::reproduce.
RunResult run_grid(const Experiment& experiment, const std::vector<Cell>& cells,
                   const ReproduceOptions& options, Journal* journal,
                   const std::function<bool(const ReproduceProgress&)>& progress);

}  // namespace kalmia::reproduction
