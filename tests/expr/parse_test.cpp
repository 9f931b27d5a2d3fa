// Expressions from text: values, precedence, every message, and text that is broken at random.
#include "expr/parse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "expr/naive_value.hpp"
#include "expr/program.hpp"
#include "expr/quote.hpp"
#include "kalmia/error.hpp"

namespace kalmia::test {
namespace {

constexpr double x_at = 0.7, y_at = -1.3, tau_2 = 2.5;

class Parse : public testing::Test {
 protected:
  Parse() {
    names.add("x", g.symbol(0), "test");
    names.add("y", g.symbol(1), "test");
    names.add("tau_2", g.symbol(2), "test");
    names.add("sigma", g.constant(10), "test");
  }
  double value(const std::string& text) {
    return naive_value(g, parse(g, text, names, "test"), std::vector<double>{x_at, y_at, tau_2});
  }
  std::string message(const std::string& text) {
    try {
      parse(g, text, names, "prior.ode.x2");
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  }
  expr::Graph g;
  expr::SymbolTable names;
};

TEST_F(Parse, Values) {
  const std::vector<std::pair<std::string, double>> cases = {
      {"1", 1},
      {"1.5e-3", 1.5e-3},
      {"1E+2", 100},
      {".5", 0.5},
      {"2.", 2},
      {"0.1", 0.1},
      {"1e-400", 0},
      {"x", x_at},
      {"tau_2", tau_2},
      {"sigma*(y-x)", 10 * (y_at - x_at)},
      {"pi", std::numbers::pi},
      {"x+y", x_at + y_at},
      {"x-y", x_at - y_at},
      {"x*y", x_at * y_at},
      {"x/y", x_at / y_at},
      {"-x", -x_at},
      {"+x", x_at},
      {" ( x\t+ y )\n", x_at + y_at},
      {"((((x))))", x_at},
      {"sin(x)", std::sin(x_at)},
      {"cos ( x )", std::cos(x_at)},
      {"tan(x)", std::tan(x_at)},
      {"asin(x)", std::asin(x_at)},
      {"acos(x)", std::acos(x_at)},
      {"atan(x)", std::atan(x_at)},
      {"atan2(y, x)", std::atan2(y_at, x_at)},
      {"sinh(x)", std::sinh(x_at)},
      {"cosh(x)", std::cosh(x_at)},
      {"tanh(x)", std::tanh(x_at)},
      {"exp(x)", std::exp(x_at)},
      {"log(x)", std::log(x_at)},
      {"sqrt(x)", std::sqrt(x_at)},
      {"pow(x, tau_2)", std::pow(x_at, tau_2)},
      {"abs(y)", -y_at},
      {"sign(y)", -1},
      {"min(x, y)", y_at},
      {"max(x, y)", x_at},
      {"sigmoid(x)", 1 / (1 + std::exp(-x_at))},
      {"softplus(x)", std::log1p(std::exp(x_at))},
      {"min(max(x, 0), -(y))/(1 + x^2)", x_at / (1 + x_at * x_at)},
  };
  for (const auto& [text, want] : cases) EXPECT_DOUBLE_EQ(value(text), want) << text;
}

TEST_F(Parse, PrecedenceIsThatOfPython) {
  const std::vector<std::pair<std::string, double>> cases = {
      {"2+3*4", 14},  {"(2+3)*4", 20},  {"2-3-4", -5},    {"2/4/8", 0.0625},  {"2/4*8", 4},
      {"2^3^2", 512}, {"2**3**2", 512}, {"2^3**2", 512},  {"-2^2", -4},       {"(-2)^2", 4},
      {"2^-1", 0.5},  {"2*-3", -6},     {"2--3", 5},      {"2-+-3", 5},       {"--2", 2},
      {"-2*3", -6},   {"2*3^2", 18},    {"-2^-2", -0.25}, {"2^-2^2", 0.0625}, {"4^0.5", 2},
  };
  for (const auto& [text, want] : cases) EXPECT_DOUBLE_EQ(value(text), want) << text;
  EXPECT_DOUBLE_EQ(value("-x^2"), -(x_at * x_at));
  EXPECT_DOUBLE_EQ(value("x-y*x/tau_2^2"), x_at - y_at * x_at / (tau_2 * tau_2));
}

TEST_F(Parse, EqualTextsShareTheirNodes) {
  EXPECT_EQ(parse(g, "x*y + 1", names, "test"), parse(g, "1 + y*x", names, "test"));
}

struct Message {
  std::string text;
  int character;
  std::string rule;
};

TEST_F(Parse, MessagesNameThePlaceTheTextTheCharacterAndTheRule) {
  const std::string functions =
      "he functions are sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, exp, log, "
      "sqrt, pow, abs, sign, min, max, sigmoid, softplus";
  const std::string list = "he names are x, y, tau_2, sigma, pi";
  const std::string value_rule = "a number, a name or \"(\" must stand here";
  const std::string end_rule = "an operator or the end must stand here";
  const std::string number_rule = "an operator (as in 2*x) must stand here";
  const std::string call_rule = "is a function, but no \"(\" follows; write sin(...)";
  const std::string name_rule = "is not a function, but \"(\" follows; a product is written with *";
  const std::string open_rule = "this \"(\" is never closed; a \")\" is missing";
  const std::string zero_rule = "division by zero, but a divisor must not be the constant 0";
  const std::string finite_rule = ", but constants must be finite";
  const std::vector<Message> cases = {
      {"2*sigme", 3, "\"sigme\" is not a known name; did you mean sigma? T" + list},
      {"zzz", 1, "\"zzz\" is not a known name; t" + list},
      {"1 + sine(x)", 5, "\"sine\" is not a known function; did you mean sin? T" + functions},
      {"sin", 1, "sin " + call_rule},
      {"2*sin x", 3, "sin " + call_rule},
      {"x(2)", 1, "x " + name_rule},
      {"1 + pi (2)", 5, "pi " + name_rule},
      {"2*sin(x, y)", 3, "sin has 2 arguments, but it takes 1"},
      {"atan2(x)", 1, "atan2 has 1 argument, but it takes 2"},
      {"sin()", 1, "sin has 0 arguments, but it takes 1"},
      {"2*(x + (y)", 3, open_rule},
      {"sin(x", 4, open_rule},
      {"x)", 2, "found \")\", but " + end_rule},
      {"(x;y)", 3, "found \";\", but an operator, \",\" or \")\" must stand here"},
      {"()", 2, "found \")\", but " + value_rule},
      {"x y", 3, "found \"y\", but " + end_rule},
      {"x $ y", 3, "found \"$\", but " + end_rule},
      {"x\xc2\xb2", 2, "found byte 0xc2, but " + end_rule},
      {std::string("x\0+1", 4), 2, "found byte 0x00, but " + end_rule},
      {"2x", 2, "found \"x\", but " + number_rule},
      {"2 (x)", 3, "found \"(\", but " + number_rule},
      {"1.2.3", 4, "found \".\", but " + number_rule},
      {"1e", 2, "found \"e\", but " + number_rule},
      {".", 1, "\".\" alone, but a number needs digits"},
      {"x +", 4, "the text ends, but a number, a name or \"(\" must follow"},
      {"x*/y", 3, "found \"/\", but " + value_rule},
      {"x***y", 4, "found \"*\", but " + value_rule},
      {"1/0", 2, zero_rule},
      {"x/(2-2)", 2, zero_rule},
      {"log(-1)", 1, "log is not a number" + finite_rule},
      {"x + log(0)", 5, "log is -inf" + finite_rule},
      {"0^-1", 2, "the power is inf" + finite_rule},
      {"1e300*1e300", 6, "the product is inf" + finite_rule},
      {"1e308+1e308", 6, "the sum is inf" + finite_rule},
      {"-1e308-1e308", 7, "the difference is -inf" + finite_rule},
      {"1e300/1e-300", 6, "the quotient is inf" + finite_rule},
      {"1e400", 1, "\"1e400\" is too large, but numbers must be below 1.8e308"},
  };
  for (const auto& [text, character, rule] : cases)
    EXPECT_EQ(message(text), "prior.ode.x2 = " + expr::quoted(text) + ", character " +
                                 std::to_string(character) + ": " + rule);
  for (const std::string text : {"", " "})
    EXPECT_EQ(message(text), "prior.ode.x2 = \"" + text +
                                 "\": the expression is empty, but it needs a value, such as 0");
}

TEST_F(Parse, NestingHasALimit) {
  const auto repeated = [](const std::string& text, int times) {
    std::string out;
    for (int i = 0; i < times; ++i) out += text;
    return out;
  };
  const int deep = expr::kDeepestNesting - 1;
  EXPECT_EQ(value(repeated("(", deep) + "x" + repeated(")", deep)), x_at);
  for (const int times : {expr::kDeepestNesting, 1000000})
    for (const std::string piece : {"(", "-", "sin(", "2^", "+"}) {
      const std::string found = message(repeated(piece, times) + "x");
      EXPECT_NE(found.find("nested more than 200 deep"), std::string::npos) << found;
      EXPECT_LT(found.size(), 250u);
    }
  // Long is not deep. (The naive value would recurse.)
  const expr::Node sum = parse(g, repeated("x+", 100000) + "0", names, "test");
  const expr::Program program(g, {sum}, 3);
  EXPECT_NEAR(evaluate(program, std::vector<double>{x_at, y_at, tau_2})[0], 100000 * x_at, 1e-6);
}

// Nothing crashes it: valid text with random changes parses or throws
// ConfigError.
TEST_F(Parse, BrokenTextIsRefusedWithAMessage) {
  const std::vector<std::string> valid = {
      "sigma*(y - x)", "x*(28 - tau_2) - y", "min(max(x, 0), 1.5e-3)^2 + atan2(y, -x)",
      "-x^2**-y/(1 + exp(-tau_2))", "pow(abs(x), 0.5)*sign(y) - pi"};
  const std::string pieces = "()+-*/^,.0123456789eEx yz_\t$\"%sin(\xc3\xff";
  RandomStream random(61, "broken text");
  int parsed = 0, refused = 0;
  for (int trial = 0; trial < 40000; ++trial) {
    std::string text = valid[random.below(valid.size())];
    for (std::uint64_t n = 1 + random.below(4); n > 0; --n) {
      const std::size_t at = random.below(text.size() + 1);
      const char piece = random.below(50) == 0 ? static_cast<char>(random.below(256))
                                               : pieces[random.below(pieces.size())];
      switch (random.below(4)) {
        case 0:
          text.insert(at, 1, piece);
          break;
        case 1:
          text.erase(at, 1 + random.below(3));
          break;
        case 2:
          if (at < text.size()) text[at] = piece;
          break;
        default:  // a part of it once more, elsewhere
          text.insert(random.below(text.size() + 1), text.substr(at, random.below(8)));
      }
    }
    try {
      parse(g, text, names, "test");
      ++parsed;
    } catch (const ConfigError& error) {
      ++refused;
      const std::string what = error.what();
      ASSERT_TRUE(what.starts_with("test = \"")) << what;
      ASSERT_TRUE(
          std::all_of(what.begin(), what.end(), [](char c) { return c >= 0x20 && c < 0x7f; }));
    }
  }
  EXPECT_GT(parsed, 2000);
  EXPECT_GT(refused, 20000);
}

}  // namespace
}  // namespace kalmia::test
