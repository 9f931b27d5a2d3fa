#include "expr/parse.hpp"

#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/suggest.hpp"
#include "expr/quote.hpp"
#include "kalmia/error.hpp"

namespace kalmia::expr {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

const Function* find_function(std::string_view name) {
  for (const Function& function : functions())
    if (function.name == name) return &function;
  return nullptr;
}

// "; did you mean sigma? The names are a, sigma and 3 more", or "; the names are ..."
std::string known_ones(std::string_view what, std::string_view wrong,
                       std::span<const std::string> names) {
  constexpr std::size_t kMost = 24;
  std::string list;
  for (const std::string& name : names.first(std::min(names.size(), kMost)))
    list += (list.empty() ? "" : ", ") + name;
  if (names.size() > kMost) list += fmt::format(" and {} more", names.size() - kMost);
  const std::string near = suggestion(wrong, names);
  return near.empty() ? fmt::format("; the {} are {}", what, list)
                      : fmt::format("; did you mean {}? The {} are {}", near, what, list);
}

// Recursive descent, one function per line of the grammar. Positions count from 0.
class Parser {
 public:
  Parser(Graph& graph, std::string_view text, const SymbolTable& names, const std::string& place)
      : g_(graph), text_(text), names_(names), place_(place) {}

  Node run() {
    skip_blanks();
    if (at_end())
      throw ConfigError(
          fmt::format("{} = {}: the expression is empty, but it needs a value, such as 0", place_,
                      quoted(text_)));
    const Node result = sum();
    if (!at_end()) fail(at_, unexpected("an operator or the end"));
    return result;
  }

 private:
  Node sum() {
    Node left = product();
    for (;;) {
      const std::size_t start = at_;
      if (accept("+"))
        left = checked(g_.add(left, product()), start, "the sum");
      else if (accept("-"))
        left = checked(g_.subtract(left, product()), start, "the difference");
      else
        return left;
    }
  }

  Node product() {
    Node left = with_sign();
    for (;;) {
      const std::size_t start = at_;
      if (accept("*")) {
        left = checked(g_.multiply(left, with_sign()), start, "the product");
      } else if (accept("/")) {
        const Node right = with_sign();
        if (g_.is_constant(right, 0))
          fail(start, "division by zero, but a divisor must not be the constant 0");
        left = checked(g_.divide(left, right), start, "the quotient");
      } else {
        return left;
      }
    }
  }

  Node with_sign() {
    const Nesting nesting(*this);
    if (accept("-")) return g_.negate(with_sign());
    if (accept("+")) return with_sign();
    return power();
  }

  Node power() {
    const Node base = atom();
    const std::size_t start = at_;
    if (!accept("^") && !accept("**")) return base;
    return checked(g_.power(base, with_sign()), start, "the power");
  }

  Node atom() {
    if (at_end()) fail(at_, "the text ends, but a number, a name or \"(\" must follow");
    if (is_digit(text_[at_]) || text_[at_] == '.') return number();
    if (begins_name(text_[at_])) return name();
    const std::size_t open = at_;
    if (!accept("(")) fail(at_, unexpected("a number, a name or \"(\""));
    const Node inner = sum();
    close(open);
    return inner;
  }

  Node number() {
    const std::size_t start = at_;
    double value = 0;
    const char* const end = text_.data() + text_.size();
    const auto result = fast_float::from_chars(text_.data() + at_, end, value);
    const std::size_t length = static_cast<std::size_t>(result.ptr - (text_.data() + at_));
    if (length == 0) fail(start, "\".\" alone, but a number needs digits");
    at_ += length;
    if (!std::isfinite(value))
      fail(start, fmt::format("{} is too large, but numbers must be below 1.8e308",
                              quoted(text_.substr(start, length))));
    skip_blanks();
    if (!at_end() && (continues_name(text_[at_]) || text_[at_] == '.' || text_[at_] == '('))
      fail(at_, unexpected("an operator (as in 2*x)"));
    return g_.constant(value);
  }

  // A name, or a call of a function.
  Node name() {
    const std::size_t start = at_;
    while (!at_end() && continues_name(text_[at_])) ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    skip_blanks();
    const bool is_call = !at_end() && text_[at_] == '(';
    const Function* function = find_function(word);
    if (function != nullptr && is_call) return call(*function, start);
    if (function != nullptr)
      fail(start, fmt::format("{0} is a function, but no \"(\" follows; write {0}(...)", word));
    const std::optional<Node> found =
        word == "pi" ? g_.constant(std::numbers::pi) : names_.find(word);
    if (found && is_call)
      fail(start,
           fmt::format("{} is not a function, but \"(\" follows; a product is written with *",
                       word));
    if (found) return *found;
    if (is_call) {
      std::vector<std::string> known;
      for (const Function& each : functions()) known.emplace_back(each.name);
      fail(start, fmt::format("{} is not a known function{}", quoted(word),
                              known_ones("functions", word, known)));
    }
    std::vector<std::string> known = names_.names();
    known.push_back("pi");
    fail(start,
         fmt::format("{} is not a known name{}", quoted(word), known_ones("names", word, known)));
  }

  Node call(const Function& function, std::size_t start) {
    const std::size_t open = at_;
    accept("(");
    const std::size_t expected = static_cast<std::size_t>(arity(function.op));
    std::vector<Node> arguments;
    if (at_end() || text_[at_] != ')') {
      do {
        arguments.push_back(sum());
      } while (accept(","));
    }
    close(open);
    if (arguments.size() != expected)
      fail(start, fmt::format("{} has {} argument{}, but it takes {}", function.name,
                              arguments.size(), arguments.size() == 1 ? "" : "s", expected));
    const Node result = g_.apply(function.op, arguments[0], expected == 2 ? arguments[1] : Node{});
    return checked(result, start, function.name);
  }

  void close(std::size_t open) {
    if (accept(")")) return;
    if (at_end()) fail(open, "this \"(\" is never closed; a \")\" is missing");
    fail(at_, unexpected("an operator, \",\" or \")\""));
  }

  // Constants are folded as they are read, so a bad one shows here.
  Node checked(Node node, std::size_t start, std::string_view what) {
    if (!g_.is_constant(node) || std::isfinite(g_[node].value)) return node;
    const double value = g_[node].value;
    const std::string text = std::isnan(value) ? "not a number" : fmt::format("{}", value);
    fail(start, fmt::format("{} is {}, but constants must be finite", what, text));
  }

  // Counts how deep the recursion is; every cycle of the grammar goes through with_sign.
  class Nesting {
   public:
    explicit Nesting(Parser& parser) : depth_(parser.depth_) {
      if (++depth_ > kDeepestNesting)
        parser.fail(
            parser.at_,
            fmt::format("nested more than {} deep, but that is the limit; write it in parts",
                        kDeepestNesting));
    }
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    int& depth_;
  };

  bool at_end() const { return at_ == text_.size(); }
  void skip_blanks() {
    while (!at_end() && is_blank(text_[at_])) ++at_;
  }
  // Steps over `token` and the blanks after it, if it is next. "*" does not match "**".
  bool accept(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    if (token == "*" && text_.substr(at_).starts_with("**")) return false;
    at_ += token.size();
    skip_blanks();
    return true;
  }

  std::string unexpected(std::string_view expected) const {
    const unsigned char c = static_cast<unsigned char>(text_[at_]);
    const std::string found = c > 0x20 && c < 0x7f ? fmt::format("\"{}\"", static_cast<char>(c))
                                                   : fmt::format("byte 0x{:02x}", c);
    return fmt::format("found {}, but {} must stand here", found, expected);
  }

  [[noreturn]] void fail(std::size_t position, const std::string& what) const {
    throw ConfigError(fmt::format("{} = {}, character {}: {}", place_, quoted(text_, position),
                                  position + 1, what));
  }

  Graph& g_;
  const std::string_view text_;
  const SymbolTable& names_;
  const std::string& place_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Node parse(Graph& graph, const std::string& text, const SymbolTable& names,
           const std::string& place) {
  return Parser(graph, text, names, place).run();
}

}  // namespace kalmia::expr
