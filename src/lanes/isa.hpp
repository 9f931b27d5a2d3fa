// The instruction set that the lane kernels run on. The first kernel takes the best one that the
// machine and the build have; kalmia/instruction_set.hpp (and so `--isa`), tests and benchmarks may
// force a lesser one. The choice is the process's: kernels look it up at each call.
#pragma once

#include <string_view>
#include <vector>

namespace kalmia::lanes {

/// `Portable` is what any machine of the architecture runs (SSE2 on x86-64).
enum class Isa { Portable, Avx2, Avx512 };

/// Its name, as on the command line: "portable", "avx2", "avx512".
std::string_view isa_name(Isa isa);
/// The inverse of `isa_name`. Throws ConfigError that lists the names.
Isa isa_from_name(std::string_view name);

/// What this machine and this build can run, least first; never empty.
std::vector<Isa> available_isas();
/// The one in use.
Isa current_isa();
/// Uses `isa` from now on, in all threads. It must not be called while kernels run, and weights
/// that were packed before must be packed again. Throws ConfigError that lists what there is, if
/// the machine or the build lacks it.
void force_isa(Isa isa);
/// Goes back to the best one.
void use_best_isa();

}  // namespace kalmia::lanes
