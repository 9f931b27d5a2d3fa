#include "kalmia/text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kalmia {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: no UTF-8
};

// The first character of `text`, which is not empty. Overlong forms, surrogates and codes beyond
// U+10FFFF are no UTF-8.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return static_cast<unsigned char>(text[i]);
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 && lead < 0xf8   ? 4
                            : lead >= 0xe0 && lead < 0xf0 ? 3
                            : lead >= 0xc0 && lead < 0xe0 ? 2
                                                          : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xffu >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0u) != 0x80u) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::array<std::uint32_t, 5> kLowest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLowest[bytes] || code > 0x10ffff || surrogate) return {};
  return {code, bytes};
}

// Controls beyond ASCII; ends of lines; marks that turn the direction of writing.
bool is_hidden(std::uint32_t code) {
  return (code >= 0x80 && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string hex(std::uint32_t value, int digits) {
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    text += "0123456789abcdef"[value >> shift & 0xfu];
  return text;
}

std::string escaped_byte(char c) {
  switch (c) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      return "\\x" + hex(static_cast<unsigned char>(c), 2);
  }
}

}  // namespace

std::string printable(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const Character first = first_character(text);
    const std::size_t bytes = first.bytes == 0 ? 1 : first.bytes;
    if (first.bytes == 0 || first.code < 0x20 || first.code == 0x7f)
      shown += escaped_byte(text[0]);
    else if (is_hidden(first.code))
      shown += "\\u" + hex(first.code, 4);
    else
      shown += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return shown;
}

std::string csv_field(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  const bool plain = text.find_first_of(",;\t\"\r\n") == std::string_view::npos &&
                     (text.empty() || !(blank(text.front()) || blank(text.back())));
  if (plain) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace kalmia
