// Expressions evaluated on a line of lanes, with their adjoint.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "expr/code.hpp"
#include "expr/graph.hpp"

namespace kalmia::expr {

/// outputs = f(inputs) for one line of lanes (8 doubles): entry i of an array is 8 consecutive
/// doubles, one per lane, aligned to 64 bytes. Symbol i of the graph is input i. Calls are const
/// and thread-safe; `scratch` has `scratch_size()` doubles, aligned as well, and may be used
/// freely. Values that are not finite go through as in IEEE arithmetic and stay in their lane.
class Program {
 public:
  /// Throws ConfigError if an output needs a symbol that is no input.
  Program(const Graph& graph, std::vector<Node> outputs, int num_inputs);

  int num_inputs() const { return num_inputs_; }
  int num_outputs() const { return static_cast<int>(forward_.outputs.size()); }

  /// Doubles of scratch that the two functions below need.
  std::size_t scratch_size() const;

  /// Sets the outputs.
  void forward(const double* inputs, double* outputs, double* scratch) const;

  /// Adjoint: d_inputs += (d outputs / d inputs)' d_outputs. Needs no forward before it: the values
  /// it needs are computed again, only those.
  void backward(const double* inputs, const double* d_outputs, double* d_inputs,
                double* scratch) const;

  /// Instructions of forward and of backward, a measure of their cost.
  std::size_t forward_size() const { return forward_.instructions.size(); }
  std::size_t backward_size() const { return backward_.instructions.size(); }

 private:
  int num_inputs_;
  Code forward_;
  Code backward_;  // inputs: the inputs, then d_outputs
};

/// The outputs at one point. Throws ConfigError unless there are `num_inputs` numbers.
std::vector<double> evaluate(const Program& program, std::span<const double> inputs);

}  // namespace kalmia::expr
