#include "prior/point_program.hpp"

#include <algorithm>

#include "lanes/panel.hpp"

namespace kalmia::prior {
namespace {

constexpr int kLanes = lanes::kLineLanes<double>;

}  // namespace

// Scratch: inputs, their adjoints, outputs or their adjoints, then the program's own.
std::size_t PointProgram::scratch_size() const {
  return static_cast<std::size_t>(2 * program_.num_inputs() + program_.num_outputs()) * kLanes +
         program_.scratch_size();
}

void PointProgram::gather(const kalman::MapPoint& at, double* inputs) const {
  double* to = std::copy_n(at.x, symbols_.states * kLanes, inputs);
  to = std::copy_n(at.dt, kLanes, to);
  if (symbols_.inputs > 0) to = std::copy_n(at.u, symbols_.inputs * kLanes, to);
  for (int i = 0; i < symbols_.parameters; ++i) to = std::fill_n(to, kLanes, at.theta[i]);
}

double* PointProgram::d_outputs(double* scratch) const {
  return scratch + 2 * program_.num_inputs() * kLanes;
}

const double* PointProgram::forward(const kalman::MapPoint& at, double* scratch) const {
  double* outputs = d_outputs(scratch);
  gather(at, scratch);
  program_.forward(scratch, outputs, outputs + num_outputs() * kLanes);
  return outputs;
}

void PointProgram::backward(const kalman::MapPoint& at, double* d_x, double* d_theta,
                            double* scratch) const {
  double* d_inputs = scratch + program_.num_inputs() * kLanes;
  double* d_out = d_outputs(scratch);
  gather(at, scratch);
  std::fill_n(d_inputs, program_.num_inputs() * kLanes, 0.0);
  program_.backward(scratch, d_out, d_inputs, d_out + num_outputs() * kLanes);
  for (int i = 0; i < symbols_.states * kLanes; ++i) d_x[i] += d_inputs[i];
  const double* d_parameters = d_inputs + symbols_.theta(0) * kLanes;
  for (int i = 0; i < symbols_.parameters * kLanes; ++i) d_theta[i] += d_parameters[i];
}

}  // namespace kalmia::prior
