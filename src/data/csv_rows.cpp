#include "data/csv_rows.hpp"

#include "data/text_number.hpp"
#include "kalmia/error.hpp"

namespace kalmia::data {

char detect_separator(std::string_view text) {
  std::size_t commas = 0, semicolons = 0, tabs = 0;
  bool inside = false;
  for (const char c : text) {
    if (c == '"') inside = !inside;
    if (inside) continue;
    if (c == '\n' || c == '\r') break;
    commas += c == ',';
    semicolons += c == ';';
    tabs += c == '\t';
  }
  if (semicolons > commas && semicolons >= tabs) return ';';
  if (tabs > commas) return '\t';
  return ',';
}

std::string_view CsvRows::plain_field() {
  const std::size_t begin = at_;
  while (at_ < text_.size() && !ends_field(text_[at_])) ++at_;
  return trimmed(text_.substr(begin, at_ - begin));
}

std::string_view CsvRows::quoted_field() {
  const std::string place = source_ + ":";
  const std::size_t opened = next_line_;
  const std::size_t begin = ++at_;
  bool escaped = false;
  for (;; ++at_) {
    if (at_ >= text_.size())
      throw DataError(place + std::to_string(opened) + ": the quotes that open here never close");
    const char c = text_[at_];
    if (c == '\n' || (c == '\r' && text_.substr(at_ + 1, 1) != "\n")) ++next_line_;
    if (c != '"') continue;
    if (text_.substr(at_ + 1, 1) != "\"") break;
    escaped = true;
    ++at_;
  }
  std::string_view field = text_.substr(begin, at_ - begin);
  ++at_;
  while (at_ < text_.size() && !ends_field(text_[at_]) && (text_[at_] == ' ' || text_[at_] == '\t'))
    ++at_;
  if (at_ < text_.size() && !ends_field(text_[at_]))
    throw DataError(place + std::to_string(next_line_) + ": text follows the closing quotes of " +
                    in_quotes(field) + " (quotes inside quotes are doubled)");
  if (escaped) {
    std::string& plain = unescaped_.emplace_back();
    for (std::size_t i = 0; i < field.size(); ++i) {
      plain += field[i];
      if (field[i] == '"') ++i;
    }
    field = plain;
  }
  return field;
}

bool CsvRows::next() {
  if (at_ >= text_.size()) return false;
  fields_.clear();
  unescaped_.clear();
  line_ = next_line_;
  while (true) {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    quoted_ = at_ < text_.size() && text_[at_] == '"';
    fields_.push_back({.text = quoted_ ? quoted_field() : plain_field()});
    if (at_ >= text_.size()) break;
    const char c = text_[at_++];
    if (c == separator_) continue;
    if (c == '\r' && at_ < text_.size() && text_[at_] == '\n') ++at_;
    break;
  }
  ++next_line_;
  return true;
}

}  // namespace kalmia::data
