#include "expr/quote.hpp"

#include <algorithm>

namespace kalmia::expr {

std::string quoted(std::string_view text, std::size_t focus) {
  constexpr std::size_t kLongest = 80, kBefore = 30;
  std::size_t first = 0;
  if (text.size() > kLongest)
    first = std::min(focus > kBefore ? focus - kBefore : 0, text.size() - kLongest);
  const std::string_view shown = text.substr(first, kLongest);
  std::string result = first > 0 ? "\"..." : "\"";
  for (const char c : shown) result += c >= 0x20 && c < 0x7f ? c : '?';
  return result + (first + shown.size() < text.size() ? "...\"" : "\"");
}

}  // namespace kalmia::expr
