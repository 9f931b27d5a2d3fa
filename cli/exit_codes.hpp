/// \file
/// How the program ends.
#pragma once

namespace kalmia::cli {

inline constexpr int kSuccess = 0;
inline constexpr int kOther = 1;  ///< a file that cannot be read or written, no memory, the rest
inline constexpr int kUsage = 2;  ///< wrong options or configuration
inline constexpr int kData = 3;   ///< data or model files that cannot be used
inline constexpr int kNumerical = 4;  ///< arithmetic that broke down
inline constexpr int kSignal = 128;   ///< and the number of the signal that ended long work

}  // namespace kalmia::cli
