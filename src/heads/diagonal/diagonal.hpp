// The head of the diagonal filter: the networks give x[k] itself, each state with a standard
// deviation and no correlations. Known as DANSE (Ghosh et al. 2023).
#pragma once

#include "heads/direct/direct.hpp"

namespace kalmia::heads {

/// The kernels of the machine's instruction set. Lines of scratch: direct_lines.
template <typename T>
const StateKernels<T>& diagonal_kernels(const StateModel<T>&);

}  // namespace kalmia::heads
