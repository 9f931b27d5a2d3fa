/// \file
/// Guesses what a mistyped word was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kalmia::cli {

/// The known word that `wrong` was most likely meant to be, or "" if none is near. Near: letters
/// added, dropped, changed or swapped in at most a third of the word.
std::string nearest(std::string_view wrong, const std::vector<std::string>& known);

/// "; did you mean <nearest>?", or nothing if no known word is near.
std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace kalmia::cli
