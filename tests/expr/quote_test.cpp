// Users' text stays on one line, and short.
#include "expr/quote.hpp"

#include <gtest/gtest.h>

namespace kalmia::test {
namespace {

TEST(Quote, KeepsPlainText) {
  EXPECT_EQ(expr::quoted("a*(b + 1)"), "\"a*(b + 1)\"");
  EXPECT_EQ(expr::quoted(""), "\"\"");
}

TEST(Quote, HidesWhatIsNotPrintable) {
  EXPECT_EQ(expr::quoted(std::string("a\n\0\x7f\xc3\xa9z", 7)), "\"a?????z\"");
}

TEST(Quote, ShowsLongTextAroundTheFocus) {
  std::string text(300, '.');
  text[150] = 'X';
  EXPECT_EQ(expr::quoted(text, 150),
            "\"..." + std::string(30, '.') + "X" + std::string(49, '.') + "...\"");
  text[0] = 'A';
  EXPECT_EQ(expr::quoted(text, 0), "\"A" + std::string(79, '.') + "...\"");
  text[299] = 'Z';
  EXPECT_EQ(expr::quoted(text, 299), "\"..." + std::string(79, '.') + "Z\"");
}

}  // namespace
}  // namespace kalmia::test
