// The flow of equations, with the noise that enters along it.
#pragma once

#include <vector>

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

 private:
  std::vector<Term> terms_;
  PointProgram program_;  // F, e, then what the terms add
};

}  // namespace kalmia::prior
