#include "suggest.hpp"

#include <algorithm>
#include <cstddef>

namespace kalmia::cli {
namespace {

// Edit distance with swaps of neighbours (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> d((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return d[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      at(i, j) = std::min(
          {at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return d.back();
}

}  // namespace

std::string nearest(std::string_view wrong, const std::vector<std::string>& known) {
  // Longer words are not near anything, and the table would be large.
  if (wrong.size() > 64) return "";
  std::string found;
  std::size_t best = std::max<std::size_t>(1, wrong.size() / 3) + 1;
  for (const std::string& word : known) {
    const std::size_t d = distance(wrong, word);
    if (d < best) {
      best = d;
      found = word;
    }
  }
  return found;
}

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known) {
  const std::string near = nearest(wrong, known);
  return near.empty() ? "" : "; did you mean " + near + "?";
}

}  // namespace kalmia::cli
