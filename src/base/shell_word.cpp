#include "base/shell_word.hpp"

#include <algorithm>

#include "kalmia/text.hpp"

namespace kalmia {
namespace {

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.,/:=@%+";

// $'...' for text with characters that cannot be shown; bytes that are no ASCII by their numbers.
std::string numbered(std::string_view text) {
  std::string word = "$'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') {
      word += '\\';
      word += c;
    } else {
      word += printable({&c, 1});  // a byte of a longer character is no UTF-8
    }
  }
  return word + "'";
}

bool is_plain(char c) {
  return kPlain.find(c) != std::string_view::npos || static_cast<unsigned char>(c) >= 0x80;
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (printable(text) != text) return numbered(text);
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string list_part(std::string_view name) {
  const bool plain = !name.empty() && name.find(',') == std::string_view::npos &&
                     name.front() != '"' && name.front() != ' ' && name.back() != ' ';
  if (plain) return std::string(name);
  std::string quoted = "\"";
  for (const char c : name) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string shell_option(std::string_view option, std::span<const std::string> names) {
  std::string list;
  for (const std::string& name : names) {
    if (!list.empty()) list += ',';
    list += list_part(name);
  }
  // A value that begins with a dash would be taken for an option.
  std::string text = "--";
  text += option;
  text += list.starts_with('-') ? '=' : ' ';
  return text + shell_word(list);
}

}  // namespace kalmia
