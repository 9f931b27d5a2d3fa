// Names that a user may choose from, as text.
#pragma once

#include <cstddef>
#include <string>

namespace kalmia {

/// "a, b or c": the `name` of each entry of a table.
template <typename Entry, std::size_t kCount>
std::string alternatives(const Entry (&table)[kCount]) {
  std::string text;
  for (std::size_t i = 0; i < kCount; ++i)
    text += (i == 0 ? "" : i + 1 == kCount ? " or " : ", ") + std::string(table[i].name);
  return text;
}

}  // namespace kalmia
