// How deep JSON text is nested, before anything is made of it.
#pragma once

#include <string_view>

namespace kalmia {

/// Objects and arrays within one another in JSON that this program reads, at most. Values of the
/// JSON library are copied and compared by recursion, which depth of a file's own choosing would
/// take beyond the stack.
inline constexpr int kDeepestJson = 64;

/// The most objects and arrays that lie within one another. Of text that is no JSON: brackets
/// outside of quotes, which is what a parser can have seen of it.
int json_nesting(std::string_view text);

}  // namespace kalmia
