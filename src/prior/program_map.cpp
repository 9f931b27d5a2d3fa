#include "prior/program_map.hpp"

#include <algorithm>

#include "lanes/panel.hpp"

namespace kalmia::prior {
namespace {

constexpr int kMapLanes = lanes::kLineLanes<double>;

Nodes joined(Nodes a, const Nodes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Nodes jacobian(expr::Graph& graph, const Symbols& symbols, const Nodes& h) {
  Nodes all;
  for (const expr::Node each : h)
    for (int j = 0; j < symbols.states; ++j) all.push_back(graph.derivative(each, symbols.x(j)));
  return all;
}

}  // namespace

ProgramMap::ProgramMap(const expr::Graph& graph, const Symbols& symbols, const LinearNodes& map)
    : program_(graph, symbols, joined(map.F, map.e)) {}

void ProgramMap::forward(const kalman::MapPoint& at, double* F, double* e, double* scratch) const {
  const int N = state_dim();
  const double* outputs = program_.forward(at, scratch);
  std::copy_n(outputs, N * N * kMapLanes, F);
  std::copy_n(outputs + N * N * kMapLanes, N * kMapLanes, e);
}

void ProgramMap::backward(const kalman::MapPoint& at, const double* d_F, const double* d_e,
                          double* d_x, double* d_theta, double* scratch) const {
  const int N = state_dim();
  double* d_outputs = program_.d_outputs(scratch);
  std::copy_n(d_F, N * N * kMapLanes, d_outputs);
  std::copy_n(d_e, N * kMapLanes, d_outputs + N * N * kMapLanes);
  program_.backward(at, d_x, d_theta, scratch);
}

ProgramEmission::ProgramEmission(expr::Graph& graph, const Symbols& symbols, const Nodes& h)
    : meas_dim_(static_cast<int>(h.size())),
      program_(graph, symbols, joined(h, jacobian(graph, symbols, h))) {}

void ProgramEmission::forward(const kalman::MapPoint& at, double* y, double* H,
                              double* scratch) const {
  const double* outputs = program_.forward(at, scratch);
  std::copy_n(outputs, meas_dim_ * kMapLanes, y);
  std::copy_n(outputs + meas_dim_ * kMapLanes, meas_dim_ * state_dim() * kMapLanes, H);
}

void ProgramEmission::backward(const kalman::MapPoint& at, const double* d_y, const double* d_H,
                               double* d_x, double* d_theta, double* scratch) const {
  double* d_outputs = program_.d_outputs(scratch);
  std::copy_n(d_y, meas_dim_ * kMapLanes, d_outputs);
  std::copy_n(d_H, meas_dim_ * state_dim() * kMapLanes, d_outputs + meas_dim_ * kMapLanes);
  program_.backward(at, d_x, d_theta, scratch);
}

}  // namespace kalmia::prior
