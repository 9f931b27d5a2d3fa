// Names of expressions: found again, and refused with a reason.
#include "expr/symbol_table.hpp"

#include <gtest/gtest.h>

#include "kalmia/error.hpp"

namespace kalmia::test {
namespace {

TEST(SymbolTable, FindsWhatWasAdded) {
  expr::SymbolTable names;
  names.add("x1", {4}, "here");
  names.add("_tau_2", {7}, "here");
  EXPECT_EQ(names.find("x1"), expr::Node{4});
  EXPECT_EQ(names.find("_tau_2"), expr::Node{7});
  EXPECT_FALSE(names.find("x"));
  EXPECT_FALSE(names.find(""));
  EXPECT_EQ(names.names(), (std::vector<std::string>{"x1", "_tau_2"}));
}

TEST(SymbolTable, RefusesNamesWithAReason) {
  const auto message = [](const std::string& name) {
    expr::SymbolTable names;
    names.add("x", {0}, "prior.ode");
    try {
      names.add(name, {1}, "prior.ode");
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const std::string spelling =
      "must be a letter or underscore followed by letters, digits and underscores";
  EXPECT_EQ(message("2x"), "prior.ode: the name \"2x\" " + spelling);
  EXPECT_EQ(message(""), "prior.ode: the name \"\" " + spelling);
  EXPECT_EQ(message("a-b"), "prior.ode: the name \"a-b\" " + spelling);
  EXPECT_EQ(message("\xc3\xa9"), "prior.ode: the name \"\?\?\" " + spelling);
  EXPECT_EQ(message("sin"), "prior.ode: the name \"sin\" is taken by the function; choose another");
  EXPECT_EQ(message("pi"), "prior.ode: the name \"pi\" is taken by the number; choose another");
  EXPECT_EQ(message("x"), "prior.ode: the name \"x\" is used twice; choose another");
  EXPECT_EQ(message("Sin"), "accepted");
}

}  // namespace
}  // namespace kalmia::test
