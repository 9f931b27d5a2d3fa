// Names that a user may choose from, as text.
#pragma once

#include <cstddef>
#include <iterator>
#include <string>

namespace kalmia {

/// "a, b or c": the `name` of each entry of a table.
template <typename Table>
std::string alternatives(const Table& table) {
  const std::size_t count = std::size(table);
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += (i == 0 ? "" : i + 1 == count ? " or " : ", ") + std::string(table[i].name);
  return text;
}

}  // namespace kalmia
