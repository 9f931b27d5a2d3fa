// "Did you mean ...?"
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kalmia {

/// The name among `known` that `wrong` was most likely meant to be, or "" if none is near. Near is:
/// at most a third of the letters (at least one) changed, added, left out or swapped with their
/// neighbour; case does not count. Of equally near names the first is taken.
std::string suggestion(std::string_view wrong, std::span<const std::string> known);

/// "; did you mean <suggestion>?", to end a message with, or nothing if no known name is near.
std::string did_you_mean(std::string_view wrong, std::span<const std::string> known);

}  // namespace kalmia
