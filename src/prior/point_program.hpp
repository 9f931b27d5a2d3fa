// Expressions of a system evaluated at a point of the recursion, with their adjoint.
#pragma once

#include "expr/program.hpp"
#include "kalman/transition_map.hpp"
#include "lanes/scratch.hpp"
#include "prior/dynamics.hpp"

namespace kalmia::prior {

/// outputs = f(x, dt, u; theta) for one line of lanes.
class PointProgram {
 public:
  PointProgram(const expr::Graph& graph, const Symbols& symbols, const Nodes& outputs)
      : symbols_(symbols), program_(graph, outputs, symbols.count()) {}

  const Symbols& symbols() const { return symbols_; }
  int num_outputs() const { return program_.num_outputs(); }
  std::size_t scratch_size() const;

  /// Returns the outputs, lines that lie in scratch.
  const double* forward(const kalman::MapPoint& at, double* scratch) const;

  /// Where the adjoints of the outputs are to be put before `backward`.
  double* d_outputs(double* scratch) const;
  /// d_x += (df/dx)' d_outputs, d_theta += (df/dtheta)' d_outputs.
  void backward(const kalman::MapPoint& at, double* d_x, double* d_theta, double* scratch) const;

 private:
  struct Lines {
    double *inputs, *d_inputs;
    double* outputs;  // or their adjoints
    double* program;  // scratch of the program

    template <typename Taker>
    void lay_out(Taker& taker, const expr::Program& of) {
      inputs = taker.take(of.num_inputs());
      d_inputs = taker.take(of.num_inputs());
      outputs = taker.take(of.num_outputs());
      program = taker.take(static_cast<int>(of.scratch_size()) / lanes::kLineLanes<double>);
    }
  };

  void gather(const kalman::MapPoint& at, double* inputs) const;
  Symbols symbols_;
  expr::Program program_;
};

}  // namespace kalmia::prior
