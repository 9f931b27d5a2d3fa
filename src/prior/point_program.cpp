#include "prior/point_program.hpp"

#include <algorithm>

namespace kalmia::prior {
namespace {

constexpr int kProgramLanes = lanes::kLineLanes<double>;

}  // namespace

std::size_t PointProgram::scratch_size() const {
  return static_cast<std::size_t>(lanes::count_lines<Lines>(program_)) * kProgramLanes;
}

void PointProgram::gather(const kalman::MapPoint& at, double* inputs) const {
  double* to = std::copy_n(at.x, symbols_.states * kProgramLanes, inputs);
  to = std::copy_n(at.dt, kProgramLanes, to);
  if (symbols_.inputs > 0) to = std::copy_n(at.u, symbols_.inputs * kProgramLanes, to);
  for (int i = 0; i < symbols_.parameters; ++i) to = std::fill_n(to, kProgramLanes, at.theta[i]);
}

double* PointProgram::d_outputs(double* scratch) const {
  lanes::LineTaker<double> taker(scratch);
  Lines lines;
  lines.lay_out(taker, program_);
  return lines.outputs;
}

const double* PointProgram::forward(const kalman::MapPoint& at, double* scratch) const {
  lanes::LineTaker<double> taker(scratch);
  Lines lines;
  lines.lay_out(taker, program_);
  gather(at, lines.inputs);
  program_.forward(lines.inputs, lines.outputs, lines.program);
  return lines.outputs;
}

void PointProgram::backward(const kalman::MapPoint& at, double* d_x, double* d_theta,
                            double* scratch) const {
  lanes::LineTaker<double> taker(scratch);
  Lines lines;
  lines.lay_out(taker, program_);
  gather(at, lines.inputs);
  std::fill_n(lines.d_inputs, program_.num_inputs() * kProgramLanes, 0.0);
  program_.backward(lines.inputs, lines.outputs, lines.d_inputs, lines.program);
  for (int i = 0; i < symbols_.states * kProgramLanes; ++i) d_x[i] += lines.d_inputs[i];
  const double* d_parameters = lines.d_inputs + symbols_.theta(0) * kProgramLanes;
  for (int i = 0; i < symbols_.parameters * kProgramLanes; ++i) d_theta[i] += d_parameters[i];
}

}  // namespace kalmia::prior
