/// \file
/// What `kalmia --help` prints.
#pragma once

#include <string>

namespace kalmia::cli {

std::string overview();

}  // namespace kalmia::cli
