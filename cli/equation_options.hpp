/// \file
/// A user's own equations on the command line of `kalmia fit`.
#pragma once

#include <string>
#include <vector>

#include "kalmia/system.hpp"
#include "parser.hpp"
#include "places.hpp"

namespace kalmia::cli {

/// The options --states, --ode, --next, --measure-as, --define, --parameter and --initial:
///
///   equation  = NAME "=" EXPRESSION
///   parameter = NAME "=" NUMBER ("learn" | "in" [NUMBER] ".." [NUMBER])?
///   initial   = NAME "=" NUMBER "+-" NUMBER
class EquationOptions {
 public:
  /// Must outlive the parsing, which throws ConfigError for text that does not follow the grammar.
  void add_to(Parser& parser);

  bool given() const { return !first_.empty(); }
  /// The first one given, for messages: "--ode".
  const std::string& first() const { return first_; }

  /// An entry takes the place of the one with its name, or is added at the end; states replace all.
  /// Without any states they are those of the equations, in order. Adds what was given to `places`.
  void apply_to(System& system, Places& places) const;

 private:
  void equations(Parser& parser, const char* name, const char* help, std::vector<Equation>& into);
  void note(const char* name) {
    if (first_.empty()) first_ = name;
  }

  System given_;
  std::string first_;
};

/// Names the columns of inputs in the equations of a system that names none itself, but those whose
/// names cannot stand in an expression, or mean something else there.
void add_inputs(const std::vector<std::string>& columns, System& system);

}  // namespace kalmia::cli
