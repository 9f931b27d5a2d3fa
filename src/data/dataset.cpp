// What data.hpp promises of a Dataset itself.
#include <algorithm>
#include <cmath>

#include "kalmia/data.hpp"

namespace kalmia {

std::size_t Dataset::total_steps() const {
  std::size_t total = 0;
  for (const Series& s : series) total += static_cast<std::size_t>(s.steps);
  return total;
}

double Dataset::step_size() const {
  if (time_kind == TimeKind::None) return 1;
  std::vector<double> steps;
  for (const Series& s : series)
    for (std::size_t k = 1; k < s.t.size(); ++k)
      if (const double step = s.t[k] - s.t[k - 1]; std::isfinite(step)) steps.push_back(step);
  if (steps.empty()) return 1;
  // Of an even number the lower middle: a step that occurs, not the mean of two.
  const auto middle = steps.begin() + static_cast<std::ptrdiff_t>((steps.size() - 1) / 2);
  std::nth_element(steps.begin(), middle, steps.end());
  return *middle;
}

}  // namespace kalmia
