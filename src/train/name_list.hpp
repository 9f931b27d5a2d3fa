// Names in a message.
#pragma once

#include <string>
#include <vector>

#include "kalmia/text.hpp"

namespace kalmia::train {

/// "a, b", as names are printed; "none" if there are none.
inline std::string name_list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
  return text.empty() ? "none" : text;
}

}  // namespace kalmia::train
