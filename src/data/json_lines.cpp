#include "data/json_lines.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <vector>

#include "data/columns.hpp"
#include "data/series_assembler.hpp"
#include "data/text_number.hpp"

namespace kalmia::data {
namespace {

using Json = nlohmann::json;

// Takes the events of the parser and keeps the cells of one object. Values inside values are not
// kept: their column shows as text that is no number.
class RowReader final : public nlohmann::json_sax<Json> {
 public:
  explicit RowReader(std::string source) : source_(std::move(source)) {}

  // Reads one line. Cells of names that the line lacks are empty.
  void read(std::size_t number, std::string_view line) {
    for (const std::size_t column : touched_) cells_[column] = Cell();
    touched_.clear();
    texts_.clear();
    line_ = number;
    depth_ = 0;
    Json::sax_parse(line.begin(), line.end(), this);
  }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Cell>& cells() const { return cells_; }

  bool null() override { return value({}); }
  bool boolean(bool truth) override { return value({.text = truth ? "true" : "false"}); }
  bool number_integer(number_integer_t number) override {
    return value({.text = kept(std::to_string(number)),
                  .is_number = true,
                  .number = static_cast<double>(number)});
  }
  bool number_unsigned(number_unsigned_t number) override {
    return value({.text = kept(std::to_string(number)),
                  .is_number = true,
                  .number = static_cast<double>(number)});
  }
  bool number_float(number_float_t number, const string_t& text) override {
    return value({.text = kept(text), .is_number = true, .number = number});
  }
  bool string(string_t& text) override { return value({.text = kept(text)}); }
  bool binary(binary_t&) override { return value({.text = "(binary)"}); }
  bool start_object(std::size_t) override {
    if (depth_ > 0) value({.text = "{...}"});
    ++depth_;
    return true;
  }
  bool end_object() override { return --depth_, true; }
  bool start_array(std::size_t) override {
    value({.text = "[...]"});
    ++depth_;
    return true;
  }
  bool end_array() override { return --depth_, true; }
  bool key(string_t& name) override {
    if (depth_ != 1) return true;
    const auto [place, is_new] = places_.try_emplace(name, names_.size());
    if (is_new) {
      constexpr std::size_t kMostColumns = 10000;
      if (names_.size() == kMostColumns)
        fail("more than " + std::to_string(kMostColumns) + " different names");
      names_.push_back(name);
      cells_.emplace_back();
    }
    column_ = place->second;
    touched_.push_back(column_);
    return true;
  }
  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::detail::exception&) override {
    fail("not a JSON object; trouble at character " + std::to_string(position) + ", " +
         in_quotes(token) + " (missing values are null)");
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(source_ + ":" + std::to_string(line_) + ": " + what);
  }
  std::string_view kept(std::string text) { return texts_.emplace_back(std::move(text)); }
  bool value(const Cell& cell) {
    if (depth_ == 0) fail("not a JSON object, but every line must be one");
    if (depth_ == 1) cells_[column_] = cell;
    return true;
  }

  std::string source_;
  std::size_t line_ = 0;
  int depth_ = 0;
  std::size_t column_ = 0;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<Cell> cells_;
  std::vector<std::size_t> touched_;
  std::deque<std::string> texts_;
};

// Calls use(line number) after each line that `reader` has read.
template <typename Use>
void for_each_line(std::string_view text, RowReader& reader, const Use& use) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    reader.read(number, line);
    use(number);
  }
}

void append(fmt::memory_buffer& out, std::string_view text) {
  out.append(text.data(), text.data() + text.size());
}

// In quotes; bytes that are no UTF-8 become the replacement character.
std::string json_text(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_json_number(fmt::memory_buffer& out, double value) {
  if (std::isfinite(value))
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), value);
  else
    append(out, "null");
}

}  // namespace

Dataset read_json_lines(const std::string& source, std::string_view text,
                        const DataOptions& options) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  // Twice: the names must be known before the first row is put in its place.
  RowReader reader(source);
  NumberColumns numbers;
  bool any = false;
  for_each_line(text, reader, [&](std::size_t) {
    if (!any || !numbers.settled()) numbers.add_row(reader.cells());
    any = true;
  });
  if (!any) throw DataError(source + ": the file is empty");
  const std::vector<std::string> names = reader.names();
  SeriesAssembler assembler(source, names, choose_columns(source, names, options, numbers));
  for_each_line(text, reader, [&](std::size_t line) { assembler.add_row(line, reader.cells()); });
  return assembler.finish();
}

void write_json_lines(const Table& table, AtomicFile& file) {
  const auto label = [](const std::string& name) { return json_text(name) + ":"; };
  const std::string key_label = label(table.key_name), time_label = label(table.time_name);
  std::vector<std::string> labels;
  for (const std::string& name : table.names) labels.push_back(label(name));
  fmt::memory_buffer out;
  for (const Table::Block& block : table.blocks) {
    const std::string key = json_text(block.key);
    for (std::size_t k = 0; k < block.steps; ++k) {
      bool first = true;
      const auto next = [&](std::string_view name) {
        out.push_back(first ? '{' : ',');
        first = false;
        append(out, name);
      };
      if (!table.key_name.empty()) {
        next(key_label);
        append(out, key);
      }
      if (!table.time_name.empty()) {
        next(time_label);
        if (table.time_kind == TimeKind::Date && !std::isnan(block.t[k]))
          append(out, json_text(iso_text(block.t[k], table.date_style)));
        else
          append_json_number(out, block.t[k]);
      }
      for (std::size_t n = 0; n < labels.size(); ++n) {
        next(labels[n]);
        append_json_number(out, block.values[k * labels.size() + n]);
      }
      append(out, first ? "{}\n" : "}\n");
    }
    file.write({out.data(), out.size()});
    out.clear();
  }
}

}  // namespace kalmia::data
