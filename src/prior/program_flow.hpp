// The flow of equations, with the noise that enters along it.
#pragma once

#include <vector>

#include "lanes/scratch.hpp"
#include "prior/point_program.hpp"

namespace kalmia::prior {

/// A local linear map F, e from expressions, and Q = sum of weight W L L' W' over the terms of the
/// noise. The adjoint is exact.
class ProgramFlowMap : public kalman::FlowMap {
 public:
  ProgramFlowMap(const expr::Graph& graph, const Symbols& symbols, const LinearNodes& map,
                 const std::vector<NoiseTerm>& noise);

  int state_dim() const override { return program_.symbols().states; }
  int input_dim() const override { return program_.symbols().inputs; }
  int parameter_count() const override { return program_.symbols().parameters; }
  std::size_t scratch_size() const override;

  void forward(const kalman::MapPoint& at, double* F, double* e, double* scratch) const override;
  void backward(const kalman::MapPoint& at, const double* d_F, const double* d_e, double* d_x,
                double* d_theta, double* scratch) const override;
  void forward_with_noise(const kalman::MapPoint& at, const double* L, double* F, double* e,
                          double* Q, double* scratch) const override;
  void backward_with_noise(const kalman::MapPoint& at, const double* L, const double* d_F,
                           const double* d_e, const double* d_Q, double* d_L, double* d_x,
                           double* d_theta, double* scratch) const override;

  /// One term: where its weight and W stand among the program's outputs, in lines.
  struct Term {
    int weight = 0;
    int W = -1;  ///< -1: the identity
  };

  /// What a step works in.
  struct Lines {
    double *B, *gram, *d_B, *d_L;  ///< of one term of the noise
    double* outputs;               ///< a copy of the program's
    double* program;               ///< scratch of the program

    template <typename Taker>
    void lay_out(Taker& taker, int N, int num_outputs, int program_lines) {
      B = taker.take(N * N);
      gram = taker.take(N * N);
      d_B = taker.take(N * N);
      d_L = taker.take(lanes::triangle_size(N));
      outputs = taker.take(num_outputs);
      program = taker.take(program_lines);
    }
  };

 private:
  int program_lines() const;

  std::vector<Term> terms_;
  PointProgram program_;  // F, e, then what the terms add
};

}  // namespace kalmia::prior
