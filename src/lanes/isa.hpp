// Which instruction set the lane kernels use. Chosen once from what the machine has; tests,
// benchmarks and `--isa` may force a lesser one.
#pragma once

#include <string_view>
#include <vector>

namespace kalmia::lanes {

enum class Isa { Baseline, Avx2, Avx512 };

/// Name as used on the command line: "baseline", "avx2", "avx512".
std::string_view isa_name(Isa isa);
/// The inverse of `isa_name`. Throws ConfigError that lists the names.
Isa isa_from_name(std::string_view name);

/// What this machine and this build can run, least first; never empty.
std::vector<Isa> available_isas();
/// The one in use.
Isa current_isa();
/// Uses `isa` from now on, in all threads. Not to be called while kernels run; objects that hold
/// packed weights must be packed again. Throws ConfigError if the machine lacks it.
void force_isa(Isa isa);
/// Goes back to the best one the machine has.
void use_best_isa();

}  // namespace kalmia::lanes
