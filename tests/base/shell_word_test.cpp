#include "base/shell_word.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <vector>

namespace kalmia {
namespace {

// What the shell makes of a word.
std::string read_by_shell(const std::string& word) {
  const std::string script = "set -f; a() { printf %s \"$#:$1\"; }; a " + word;
  std::string command = "bash -c '";
  for (const char c : script) command += c == '\'' ? std::string("'\\''") : std::string(1, c);
  std::FILE* const pipe = ::popen((command + "'").c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  EXPECT_EQ(::pclose(pipe), 0);
  return text;
}

TEST(ShellWord, PlainNamesStayAsTheyAre) {
  for (const char* name : {"y1", "gps_north_m", "a.b-c", "x,y", "data/a.csv"})
    EXPECT_EQ(shell_word(name), name);
}

TEST(ShellWord, OthersAreQuoted) {
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word("speed m"), "'speed m'");
  EXPECT_EQ(shell_word("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_word("a\nb"), "$'a\\nb'");
  EXPECT_EQ(shell_word("H\u00f6he"), "H\u00f6he");
}

TEST(ShellWord, AShellReadsThemBack) {
  const std::vector<std::string> names = {
      "y1",          "speed [m/s]", "a b",     "it's",      "$HOME", "`ls`",
      "a;b",         "\"q\"",       "*",       "~",         "a\\b",  "a\nb",
      "\t",          "\x1b[31m",    "caf\xe9", "H\u00f6he", "#no",   "!x",
      "'\n\\'\x7f'", "\u202eabc",   "-x",      "a&b|c>d",   "{a,b}", "\u6e29\u5ea6"};
  for (const std::string& name : names) EXPECT_EQ(read_by_shell(shell_word(name)), "1:" + name);
}

TEST(ShellWord, Options) {
  const auto option = [](std::vector<std::string> names) { return shell_option("measure", names); };
  EXPECT_EQ(option({"y1"}), "--measure y1");
  EXPECT_EQ(option({"a", "b"}), "--measure a,b");
  EXPECT_EQ(option({"a b", "c"}), "--measure 'a b,c'");
  EXPECT_EQ(option({"a,b", "c"}), "--measure '\"a,b\",c'");
  EXPECT_EQ(option({"\"q"}), "--measure '\"\"\"q\"'");
  EXPECT_EQ(option({" a"}), "--measure '\" a\"'");
  EXPECT_EQ(option({"-x"}), "--measure=-x");
}

}  // namespace
}  // namespace kalmia
