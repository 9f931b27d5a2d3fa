// Users' text in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kalmia::expr {

/// `text` in quotes, on one line: bytes that are not printable ASCII as '?', and of long text only
/// the part around character `focus` (from 0).
std::string quoted(std::string_view text, std::size_t focus = 0);

}  // namespace kalmia::expr
