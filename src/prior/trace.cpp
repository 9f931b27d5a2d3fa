// From the operations of a traced function to the text of equations.
#include "kalmia/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "expr/op.hpp"
#include "kalmia/error.hpp"

namespace kalmia {
namespace {

// Operations within one another before a definition is made: well below what the parser allows.
constexpr int kDeepest = 30;

expr::Op op_of(std::string_view operation) {
  if (operation == "+") return expr::Op::Add;
  if (operation == "-") return expr::Op::Subtract;
  if (operation == "*") return expr::Op::Multiply;
  if (operation == "/") return expr::Op::Divide;
  if (operation == "negate") return expr::Op::Negate;
  for (const expr::Function& function : expr::functions())
    if (function.name == operation) return function.op;
  throw ConfigError(fmt::format("trace: \"{}\" is no function of expressions", operation));
}

// How tightly an expression holds together, as in the grammar of expr/parse.hpp.
enum Level { kSum = 1, kProduct, kSigned, kPower, kAtom };

struct Text {
  std::string text;
  Level level = kAtom;
  int depth = 0;

  // In parentheses unless it holds as tightly as `least`.
  std::string within(Level least) const { return level >= least ? text : "(" + text + ")"; }
  // The same, without a sign that would follow an operator.
  std::string after(Level least) const {
    return level >= least && text[0] != '-' ? text : "(" + text + ")";
  }
};

}  // namespace

class Traced::Tape {
 public:
  struct Operand {
    int entry = -1;  // -1: a constant
    double constant = 0;
  };
  struct Entry {
    std::string name;  // of a symbol; else empty
    expr::Op op = expr::Op::Symbol;
    std::string_view function;
    Operand a, b;
  };

  int add(Entry entry) {
    entries_.push_back(std::move(entry));
    return static_cast<int>(entries_.size()) - 1;
  }

  static Operand operand(const Traced& value) { return {value.entry_, value.constant_}; }
  static const Tape* of(const Traced& value) { return value.tape_.get(); }

  // Text of the roots; `define` makes a name for an expression.
  template <typename Define>
  std::vector<std::string> write(const std::vector<Operand>& roots, const std::string& place,
                                 const Define& define) const {
    std::vector<int> uses(entries_.size());
    const auto use = [&](const Operand& operand) {
      if (operand.entry >= 0) ++uses[static_cast<std::size_t>(operand.entry)];
    };
    for (const Operand& root : roots) use(root);
    // Operands come before what uses them.
    for (std::size_t i = entries_.size(); i-- > 0;) {
      if (uses[i] == 0) continue;
      use(entries_[i].a);
      use(entries_[i].b);
    }
    std::vector<Text> texts(entries_.size());
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      if (uses[i] == 0) continue;
      if (!entries_[i].name.empty()) {
        texts[i].text = entries_[i].name;
        continue;
      }
      texts[i] = text_of(entries_[i], texts, place);
      if (uses[i] > 1 || texts[i].depth >= kDeepest) texts[i] = {define(texts[i].text), kAtom, 0};
    }
    std::vector<std::string> written;
    for (const Operand& root : roots) written.push_back(text_of(root, texts, place).text);
    return written;
  }

 private:
  static Text text_of(const Operand& operand, const std::vector<Text>& texts,
                      const std::string& place) {
    if (operand.entry >= 0) return texts[static_cast<std::size_t>(operand.entry)];
    if (!std::isfinite(operand.constant))
      throw ConfigError(
          fmt::format("{}: the function makes a constant that is {}, but constants must be finite",
                      place, operand.constant));
    // The shortest digits that give the number again.
    return {fmt::format("{}", operand.constant), std::signbit(operand.constant) ? kSigned : kAtom,
            0};
  }

  static Text text_of(const Entry& entry, const std::vector<Text>& texts,
                      const std::string& place) {
    const Text a = text_of(entry.a, texts, place), b = text_of(entry.b, texts, place);
    const int depth = 1 + std::max(a.depth, b.depth);
    switch (entry.op) {
      case expr::Op::Add:
        return {a.within(kSum) + " + " + b.after(kProduct), kSum, depth};
      case expr::Op::Subtract:
        return {a.within(kSum) + " - " + b.after(kProduct), kSum, depth};
      case expr::Op::Multiply:
        return {a.within(kProduct) + "*" + b.after(kPower), kProduct, depth};
      case expr::Op::Divide:
        return {a.within(kProduct) + "/" + b.after(kPower), kProduct, depth};
      case expr::Op::Negate:
        return {fmt::format("-{}", a.after(kPower)), kSigned, depth};
      case expr::Op::Power:
        return {a.within(kAtom) + "^" + b.within(kAtom), kPower, depth};
      default:
        return {fmt::format("{}({}{})", entry.function, a.text,
                            expr::arity(entry.op) == 2 ? ", " + b.text : ""),
                kAtom, depth};
    }
  }

  std::vector<Entry> entries_;
};

Traced::Traced(std::shared_ptr<Tape> tape, const std::string& name) : tape_(std::move(tape)) {
  entry_ = tape_->add({name, expr::Op::Symbol, {}, {}, {}});
}

Traced Traced::apply(std::string_view operation, const Traced& a, const Traced& b) {
  const expr::Op op = op_of(operation);
  if (!a.tape_ && !b.tape_) return expr::value_of(op, a.constant_, b.constant_);
  if (a.tape_ && b.tape_ && a.tape_ != b.tape_)
    throw ConfigError(
        "trace: traced values of two calls are mixed; keep none from one call to the next");
  Traced result;
  result.tape_ = a.tape_ ? a.tape_ : b.tape_;
  result.entry_ = result.tape_->add({"", op, operation, Tape::operand(a), Tape::operand(b)});
  return result;
}

double sign(double a) { return expr::value_of(expr::Op::Sign, a, 0); }
double sigmoid(double a) { return expr::value_of(expr::Op::Sigmoid, a, 0); }
double softplus(double a) { return expr::value_of(expr::Op::Softplus, a, 0); }

Point<Traced> traced_point(const System& system) {
  if (system.states.empty())
    throw ConfigError("trace: system.states is empty, but states must be named before");
  const auto tape = std::make_shared<Traced::Tape>();
  Point<Traced> point;
  for (const std::string& name : system.states) point.x.emplace_back(tape, name);
  for (const std::string& name : system.inputs) point.u.emplace_back(tape, name);
  for (const Parameter& parameter : system.parameters)
    point.theta.emplace_back(tape, parameter.name);
  point.dt = Traced(tape, "dt");
  return point;
}

std::vector<Equation> traced_equations(System& system, const std::vector<std::string>& names,
                                       const std::vector<Traced>& values,
                                       const std::string& place) {
  if (values.size() != names.size())
    throw ConfigError(fmt::format("{}: the function gives {} value{}, but there must be {}", place,
                                  values.size(), values.size() == 1 ? "" : "s", names.size()));
  std::set<std::string> taken(system.states.begin(), system.states.end());
  taken.insert(system.inputs.begin(), system.inputs.end());
  for (const Parameter& parameter : system.parameters) taken.insert(parameter.name);
  for (const Equation& each : system.define) taken.insert(each.name);
  std::size_t number = 0;
  std::vector<Equation> definitions;
  const auto define = [&](const std::string& text) {
    std::string name;
    do {
      name = fmt::format("shared_{}", ++number);
    } while (taken.contains(name));
    definitions.push_back({name, text});
    return name;
  };

  std::vector<Traced::Tape::Operand> roots;
  const Traced::Tape* tape = nullptr;
  for (const Traced& value : values) {
    const Traced::Tape* its = Traced::Tape::of(value);
    if (tape != nullptr && its != nullptr && its != tape)
      throw ConfigError(place +
                        ": traced values of two calls are mixed; keep none from one call "
                        "to the next");
    if (its != nullptr) tape = its;
    roots.push_back(Traced::Tape::operand(value));
  }
  const Traced::Tape empty;
  const std::vector<std::string> texts =
      (tape != nullptr ? *tape : empty).write(roots, place, define);
  system.define.insert(system.define.end(), definitions.begin(), definitions.end());
  std::vector<Equation> equations;
  for (std::size_t i = 0; i < names.size(); ++i) equations.push_back({names[i], texts[i]});
  return equations;
}

}  // namespace kalmia
