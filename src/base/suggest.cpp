#include "base/suggest.hpp"

#include <algorithm>
#include <vector>

namespace kalmia {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Letters to change, add, leave out or swap with their neighbour to turn `a` into `b` (optimal
// string alignment), case aside. Three rows of the usual table are enough.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char ca = lower(a[i - 1]), cb = lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (ca == cb ? 0 : 1)});
      if (i > 1 && j > 1 && ca == lower(b[j - 2]) && lower(a[i - 2]) == cb)
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before.swap(last);
    last.swap(row);
  }
  return last[b.size()];
}

}  // namespace

std::string suggestion(std::string_view wrong, std::span<const std::string> known) {
  // Names this long are no slips of the finger, and their table would take long to fill.
  constexpr std::size_t kLongest = 200;
  if (wrong.size() > kLongest) return {};
  std::string best;
  std::size_t smallest = std::max<std::size_t>(1, wrong.size() / 3) + 1;
  for (const std::string& name : known) {
    if (name.size() > kLongest) continue;
    const std::size_t distance = edit_distance(wrong, name);
    // A name of which no letter is left is not near.
    if (distance < smallest && distance < std::max(wrong.size(), name.size())) {
      smallest = distance;
      best = name;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view wrong, std::span<const std::string> known) {
  const std::string meant = suggestion(wrong, known);
  return meant.empty() ? "" : "; did you mean " + meant + "?";
}

}  // namespace kalmia
