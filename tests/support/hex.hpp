// Bytes written as hexadecimal digits.
#pragma once

#include <string>
#include <string_view>

namespace kalmia {

inline std::string from_hex(std::string_view digits) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(16 * value(digits[i]) + value(digits[i + 1]));
  return bytes;
}

}  // namespace kalmia
