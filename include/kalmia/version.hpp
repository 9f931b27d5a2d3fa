/// \file
/// The version of these headers.
#pragma once

namespace kalmia {

inline constexpr int kVersionMajor = 0;
inline constexpr int kVersionMinor = 1;
inline constexpr int kVersionPatch = 0;

/// The three numbers as text, "major.minor.patch".
inline constexpr const char* kVersionText = "0.1.0";

}  // namespace kalmia
