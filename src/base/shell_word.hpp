// Names as a shell reads them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace kalmia {

/// Text that a shell (bash, zsh, ksh) reads as the one word `text`: as it is, 'in quotes', or, with
/// characters that cannot be shown, as in $'a\nb'.
std::string shell_word(std::string_view text);

/// A name as a part of an option's value that is a list, a,b: quoted as a field of CSV is where it
/// is empty, holds commas, or begins with quotes or has a blank at an end.
std::string list_part(std::string_view name);

/// An option of the program with a list of names, ready to be copied to a shell: --measure 'a b,c'.
std::string shell_option(std::string_view option, std::span<const std::string> names);

}  // namespace kalmia
