#include "data/csv_rows.hpp"

#include "kalmia/error.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::data {
namespace {

// Rows as text: fields in angle brackets after the line's number.
std::vector<std::string> rows_of(std::string_view text, char separator = ',') {
  std::vector<std::string> result;
  CsvRows rows("a.csv", text, separator);
  while (rows.next()) {
    std::string row = std::to_string(rows.line()) + ":";
    for (const Cell& cell : rows.fields()) row.append(1, '<').append(cell.text).append(1, '>');
    result.push_back(row + (rows.blank() ? " blank" : ""));
  }
  return result;
}

using Texts = std::vector<std::string>;

TEST(CsvRows, CutsAtSeparatorsAndLineEnds) {
  EXPECT_EQ(rows_of("a,b\n1,2\r\n3,\r4,5"), Texts({"1:<a><b>", "2:<1><2>", "3:<3><>", "4:<4><5>"}));
  EXPECT_EQ(rows_of("a;b,c\n", ';'), Texts({"1:<a><b,c>"}));
  EXPECT_EQ(rows_of(" a\t\t b \n", '\t'), Texts({"1:<a><><b>"}));
  EXPECT_EQ(rows_of(""), Texts());
}

TEST(CsvRows, KnowsBlankLines) {
  EXPECT_EQ(rows_of("a\n\n  \n\"\"\n,\n"),
            Texts({"1:<a>", "2:<> blank", "3:<> blank", "4:<>", "5:<><>"}));
}

TEST(CsvRows, UnderstandsQuotes) {
  EXPECT_EQ(
      rows_of("\"a,b\",\"c \"\"d\"\" e\"\n1,\"two\nlines\r\nor three\"\n x , \"y\" \n5\"5,6"),
      Texts({"1:<a,b><c \"d\" e>", "2:<1><two\nlines\r\nor three>", "5:<x><y>", "6:<5\"5><6>"}));
  EXPECT_EQ(rows_of("\"a\""), Texts({"1:<a>"}));
}

TEST(CsvRows, RefusesBrokenQuotes) {
  EXPECT_EQ(message_of<DataError>([] { rows_of("a\n1,\"abc\n2\n"); }),
            "a.csv:2: the quotes that open here never close");
  EXPECT_EQ(
      message_of<DataError>([] { rows_of("a\n\"abc\"x\n"); }),
      "a.csv:2: text follows the closing quotes of \"abc\" (quotes inside quotes are doubled)");
  message_of<DataError>([] { rows_of("\""); });
  message_of<DataError>([] { rows_of("\"\"\""); });
}

TEST(CsvRows, DetectsTheSeparator) {
  EXPECT_EQ(detect_separator("a,b\n1;2;3;4"), ',');
  EXPECT_EQ(detect_separator("a;b"), ';');
  EXPECT_EQ(detect_separator("a\tb\tc,d"), '\t');
  EXPECT_EQ(detect_separator("\"a;b;c\",d"), ',');
  EXPECT_EQ(detect_separator("a"), ',');
}

}  // namespace
}  // namespace kalmia::data
