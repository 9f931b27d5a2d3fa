#include <vector>

#include "data/columns.hpp"
#include "data/csv.hpp"
#include "data/csv_rows.hpp"
#include "data/series_assembler.hpp"
#include "data/text_number.hpp"

namespace kalmia::data {
namespace {

std::string_view without_mark(const std::string& source, std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) return text.substr(3);
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    throw DataError(source + ": the text is UTF-16, but it must be UTF-8; save it again as such");
  if (text.substr(0, 4096).find('\0') != std::string_view::npos)
    throw DataError(source + ": this is no text; a file's format follows from the end of its name");
  return text;
}

// Names as they are; a column without one is called what data frames call it.
std::vector<std::string> header_names(const std::vector<Cell>& fields) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < fields.size(); ++i)
    names.push_back(fields[i].text.empty() ? "Unnamed: " + std::to_string(i)
                                           : std::string(fields[i].text));
  return names;
}

void check_header(const std::string& source, const CsvRows& rows) {
  std::size_t numbers = 0;
  for (const Cell& cell : rows.fields()) {
    double value = 0;
    const NumberText kind = parse_number(cell.text, value);
    if (kind == NumberText::Other) return;
    numbers += kind == NumberText::Number;
  }
  const std::string where = source + ":" + std::to_string(rows.line());
  if (numbers > 0)
    throw DataError(where +
                    ": the first line holds numbers, but it must name the columns, such as t,y");
  if (rows.blank())
    throw DataError(where + ": the first line is blank, but it must name the columns");
}

[[noreturn]] void refuse_row(const std::string& source, std::size_t line, std::size_t found,
                             const std::vector<std::string>& names) {
  throw DataError(
      source + ":" + std::to_string(line) + ": " +
      (found == 0 ? std::string("the line is blank")
                  : "row has " + std::to_string(found) + (found == 1 ? " value" : " values")) +
      ", but the header names " + std::to_string(names.size()) + " (" + name_list(names) + ")");
}

// Calls `use(line, fields)` for each row until it returns false. Rows must be as long as the
// header.
template <typename Use>
void for_each_row(CsvRows rows, const std::string& source, const std::vector<std::string>& names,
                  const Use& use) {
  // Blank lines mean nothing at the end, so they wait until something follows.
  std::vector<std::size_t> blank_lines;
  const std::vector<Cell> missing(1);
  while (rows.next()) {
    if (rows.blank()) {
      if (names.size() == 1 || blank_lines.empty()) blank_lines.push_back(rows.line());
      continue;
    }
    for (const std::size_t line : blank_lines) {
      if (names.size() > 1) refuse_row(source, line, 0, names);
      if (!use(line, missing)) return;
    }
    blank_lines.clear();
    if (rows.fields().size() != names.size())
      refuse_row(source, rows.line(), rows.fields().size(), names);
    if (!use(rows.line(), rows.fields())) return;
  }
}

}  // namespace

Dataset read_csv(const std::string& source, std::string_view text, const DataOptions& options) {
  text = without_mark(source, text);
  CsvRows rows(source, text, detect_separator(text));
  if (!rows.next()) throw DataError(source + ": the file is empty");
  check_header(source, rows);
  const std::string header = source + ":" + std::to_string(rows.line());
  const std::vector<std::string> names = header_names(rows.fields());
  check_names(header, names);

  NumberColumns numbers;
  // Which columns hold numbers matters only where the measured ones are to be guessed.
  if (options.measure.empty())
    for_each_row(rows, source, names, [&](std::size_t, const std::vector<Cell>& fields) {
      numbers.add_row(fields);
      return !numbers.settled();
    });
  SeriesAssembler assembler(source, names, choose_columns(header, names, options, numbers));
  for_each_row(rows, source, names, [&](std::size_t line, const std::vector<Cell>& fields) {
    assembler.add_row(line, fields);
    return true;
  });
  return assembler.finish();
}

}  // namespace kalmia::data
