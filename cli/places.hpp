/// \file
/// Where the user wrote what the library complains about.
#pragma once

#include <map>
#include <string>

namespace kalmia::cli {

/// The library's name of a place ("system.ode.x2", "noise") and what to call it instead:
/// "fit.toml:12: system.ode.x2", or "--ode x2".
using Places = std::map<std::string, std::string>;

/// A message of the library with the place it begins with said in the user's terms; if it begins
/// with none that is known, `otherwise` is put in front.
std::string with_place(const std::string& message, const Places& places,
                       const std::string& otherwise);

}  // namespace kalmia::cli
