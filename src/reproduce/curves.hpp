// Results for people: tables, and curves drawn with letters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kalmia/reproduce.hpp"

namespace kalmia::reproduction {

/// A curve: one value for each size; empty where there is none.
struct Curve {
  char mark = ' ';
  std::vector<std::optional<double>> values;
};

/// Draws curves over `sizes`, both axes logarithmic, in `height` lines of text. Where two meet, the
/// mark of the later one is seen.
std::string draw_curves(const std::vector<int>& sizes, const std::vector<Curve>& curves,
                        int height = 16);

/// The whole of a result as text (Reproduction::to_text).
std::string result_text(const Reproduction& result);

}  // namespace kalmia::reproduction
