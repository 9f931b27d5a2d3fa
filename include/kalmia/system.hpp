/// \file
/// Expert knowledge in equations: what a user knows about how the states move and what is measured
/// of them.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace kalmia {

/// A named number in a system's equations.
struct Parameter {
  std::string name;
  double value = 0;    ///< of a learned one: where learning starts
  bool learn = false;  ///< by the likelihood, between the bounds
  double lower = -std::numeric_limits<double>::infinity();
  double upper = std::numeric_limits<double>::infinity();
};

/// name = text, an expression in states, inputs, parameters, definitions made before it and `dt`,
/// the length of a step: `sigma*(x2 - x1)`.
struct Equation {
  std::string name;
  std::string text;
};

/// What is known of a state before the first measurement.
struct InitialState {
  std::string name;
  double mean = 0;
  double std = 1;
};

/// From equations for derivatives to the map of a step.
struct IntegrationOptions {
  /// `rk4`: the flow by Runge and Kutta, with its tangent; `taylor`: the flow's own Taylor series
  /// to `order`, with its tangent; `frozen` (of a matrix): the Taylor series of exp(dt A) with A
  /// frozen at the state, as in the paper. Empty: frozen for a matrix, else rk4.
  std::string flow;
  int order = 0;  ///< of taylor and frozen
  /// Of rk4, in one step. 0, of a system: as many as a fit finds that the step's length and the
  /// equations' speed need; the model has that number.
  int substeps = 0;
};

/// How states move, given in one of three ways, and what is measured of them.
struct System {
  std::vector<std::string> states;
  std::vector<std::string> inputs;  ///< columns of control inputs, by the names they have there
  std::vector<Parameter> parameters;
  std::vector<Equation> define;  ///< intermediate quantities, in order

  /// One of these: the derivative of each state by time; A of dx/dt = A x, whose entries may depend
  /// on x (rows as `states`); or the value of each state after a step.
  std::vector<Equation> ode;
  std::vector<std::vector<std::string>> matrix;
  std::vector<Equation> next;

  /// From derivatives to the map of a step; not for `next`.
  IntegrationOptions integration{.flow = "", .order = 2, .substeps = 0};

  /// The expression each measured column is a noisy value of. Empty: columns measure the states of
  /// their names.
  std::vector<Equation> measure;
  /// Of states that are not measured themselves; others start at the data.
  std::vector<InitialState> initial;

  bool empty() const { return states.empty(); }
};

}  // namespace kalmia
