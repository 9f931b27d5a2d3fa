// Expert maps and emissions from expressions.
#pragma once

#include "kalman/emission_map.hpp"
#include "prior/point_program.hpp"

namespace kalmia::prior {

/// A local linear map F, e. Its adjoint is exact: the expressions' own.
class ProgramMap : public kalman::TransitionMap {
 public:
  ProgramMap(const expr::Graph& graph, const Symbols& symbols, const LinearNodes& map);

  int state_dim() const override { return program_.symbols().states; }
  int input_dim() const override { return program_.symbols().inputs; }
  int parameter_count() const override { return program_.symbols().parameters; }
  std::size_t scratch_size() const override { return program_.scratch_size(); }
  void forward(const kalman::MapPoint& at, double* F, double* e, double* scratch) const override;
  void backward(const kalman::MapPoint& at, const double* d_F, const double* d_e, double* d_x,
                double* d_theta, double* scratch) const override;

 private:
  PointProgram program_;
};

/// h(x; theta) with its Jacobian.
class ProgramEmission : public kalman::EmissionMap {
 public:
  /// `h`: M expressions. Their derivatives are added to the graph.
  ProgramEmission(expr::Graph& graph, const Symbols& symbols, const Nodes& h);

  int state_dim() const override { return program_.symbols().states; }
  int meas_dim() const override { return meas_dim_; }
  std::size_t scratch_size() const override { return program_.scratch_size(); }
  void forward(const kalman::MapPoint& at, double* y, double* H, double* scratch) const override;
  void backward(const kalman::MapPoint& at, const double* d_y, const double* d_H, double* d_x,
                double* d_theta, double* scratch) const override;

 private:
  int meas_dim_;
  PointProgram program_;
};

}  // namespace kalmia::prior
