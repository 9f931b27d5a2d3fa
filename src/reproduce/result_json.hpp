// A whole result as JSON, and where it comes from.
#pragma once

#include "reproduce/rows.hpp"

namespace kalmia::reproduction {

/// Program and machine, as far as a result's last bits depend on them: version, compiler,
/// instruction set.
Json build_json();

/// The options of a run (resolved), without the folder.
Json options_json(const ReproduceOptions& options);

/// What the cells of a journal have in common: the experiment, the build, the lengths of validation
/// and test. Sizes, seeds and methods may differ from run to run.
Json journal_kind(const ReproduceOptions& options);

/// Now, as ISO 8601 in UTC.
std::string utc_now();

/// Provenance, methods with the paper's numbers, rows, medians and spreads, and what was measured
/// of the theory.
Json result_json(const Reproduction& result);

}  // namespace kalmia::reproduction
