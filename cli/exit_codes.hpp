/// \file
/// How the program ends.
#pragma once

namespace kalmia::cli {

enum ExitCode : int {
  kSuccess = 0,
  kOther = 1,      ///< a file that cannot be read or written, no memory, anything else
  kUsage = 2,      ///< wrong options or configuration
  kData = 3,       ///< data or model files that cannot be used
  kNumerical = 4,  ///< arithmetic that broke down
};

}  // namespace kalmia::cli
