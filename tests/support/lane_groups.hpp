// Lane groups taken apart and put together again: lanes in another order, windows of a longer
// series, one lane as the reference's sequence; and a window's results, lane by lane.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/batch.hpp"
#include "support/lines.hpp"
#include "support/model_reference.hpp"
#include "support/window_case.hpp"

namespace kalmia::test {

/// What an idle lane, a step past a lane's end and a missing component hold: the engine may read
/// some of it, and none of it may show. Networks' inputs must stay finite.
inline constexpr double kNoise = 7.25;

template <typename T>
int length_of(const heads::StateGroup<T>& group, int lane) {
  return group.length.empty() ? group.steps : group.length[static_cast<std::size_t>(lane)];
}
template <typename T>
bool is_fresh(const heads::StateGroup<T>& group, int lane) {
  return group.fresh.empty() || group.fresh[static_cast<std::size_t>(lane)] != 0;
}

/// Where entry `row` of a panel with `rows` rows lies at a step.
inline std::size_t panel_at(int step, int rows, int row, int lanes, int lane) {
  return (static_cast<std::size_t>(step) * static_cast<std::size_t>(rows) +
          static_cast<std::size_t>(row)) *
             static_cast<std::size_t>(lanes) +
         static_cast<std::size_t>(lane);
}

/// Sets `target` to `count` steps of a series of panels from step `first` on, with lane `from[i]`
/// of its `lanes` as lane i. An idle lane, -1, holds `idle`. If the series is empty, nothing is
/// set.
template <typename Series>
void take_lanes(const Series& source, int lanes, int rows, int first, int count,
                const std::vector<int>& from, double idle, Series& target) {
  using Number = std::remove_cvref_t<decltype(target[0])>;
  if (source.empty()) return;
  const int taken = static_cast<int>(from.size());
  target.resize(panel_at(count, rows, 0, taken, 0));
  for (int k = 0; k < count; ++k)
    for (int row = 0; row < rows; ++row)
      for (int lane = 0; lane < taken; ++lane) {
        const int old = from[static_cast<std::size_t>(lane)];
        target[panel_at(k, rows, row, taken, lane)] =
            old < 0 ? static_cast<Number>(idle)
                    : source[panel_at(first + k, rows, row, lanes, old)];
      }
}

/// Steps first .. first + steps - 1 of a group, with lane `from[i]` of it as lane i; -1 stands for
/// an idle lane. Lanes whose series began before `first` go on from the carry, which is the
/// caller's.
template <typename T>
heads::StateGroup<T> take(const heads::Architecture& architecture,
                          const heads::StateGroup<T>& group, int first, int steps,
                          const std::vector<int>& from) {
  const int lanes = static_cast<int>(from.size());
  heads::StateGroup<T> out;
  out.resize(architecture, steps, lanes);
  const auto copy = [&](const auto& source, auto& target, int rows, int from_step, int count,
                        double idle) {
    take_lanes(source, group.lanes, rows, from_step, count, from, idle, target);
  };
  const int N = architecture.state_dim(), M = architecture.meas_dim();
  copy(group.input_fwd, out.input_fwd, architecture.options.input_dim, first, steps, kNoise);
  copy(group.input_bwd, out.input_bwd, architecture.options.input_dim, first, steps, kNoise);
  copy(group.y, out.y, M, first, steps, std::numeric_limits<double>::quiet_NaN());
  copy(group.observed, out.observed, M, first, steps, 1);
  copy(group.centre, out.centre, N, first, steps, kNoise);
  copy(group.trust, out.trust, N, first, steps, kNoise);
  copy(group.lost, out.lost, 1, first, steps, kNoise);
  copy(group.dt, out.dt, 1, first, steps, 1);
  copy(group.u, out.u, 2, first, steps, kNoise);
  copy(group.carry.h, out.carry.h, architecture.encoder_state_rows(), 0, 1, 0);
  copy(group.carry.x, out.carry.x, N, 0, 1, 0);
  copy(group.carry.P, out.carry.P, N * N, 0, 1, 0);
  const bool whole =
      first == 0 && steps == group.steps && std::count(from.begin(), from.end(), -1) == 0;
  for (const int old : from) {
    if (!whole || !group.length.empty())
      out.length.push_back(old < 0 ? 0 : std::clamp(length_of(group, old) - first, 0, steps));
    if (!whole || !group.fresh.empty())
      out.fresh.push_back(old < 0 || (first == 0 && is_fresh(group, old)) ? 1 : 0);
  }
  return out;
}

/// The same lanes in the same order, all steps.
template <typename T>
heads::StateGroup<T> copy_of(const heads::Architecture& architecture,
                             const heads::StateGroup<T>& group) {
  std::vector<int> from;
  for (int lane = 0; lane < group.lanes; ++lane) from.push_back(lane);
  return take(architecture, group, 0, group.steps, from);
}

/// One lane of a group as the reference reads it.
template <typename T>
reference::ModelSequence sequence_of(const heads::Architecture& architecture,
                                     const heads::StateGroup<T>& group, int lane) {
  const auto column = [&](const auto& panels, int k, int rows) {
    Vector v(rows);
    for (int row = 0; row < rows; ++row)
      v(row) = static_cast<double>(panels[panel_at(k, rows, row, group.lanes, lane)]);
    return v;
  };
  const int N = architecture.state_dim(), M = architecture.meas_dim();
  const int input = architecture.options.input_dim;
  reference::ModelSequence out;
  for (int k = 0; k < length_of(group, lane); ++k) {
    Vector y = column(group.y, k, M);
    if (!group.observed.empty()) {
      const Vector observed = column(group.observed, k, M);
      for (int m = 0; m < M; ++m)
        if (observed(m) == 0) y(m) = std::numeric_limits<double>::quiet_NaN();
    }
    out.y.push_back(y);
    out.input_fwd.push_back(column(group.input_fwd, k, input));
    if (!group.input_bwd.empty()) out.input_bwd.push_back(column(group.input_bwd, k, input));
    if (!group.centre.empty()) out.centre.push_back(column(group.centre, k, N));
    if (!group.trust.empty()) out.trust.push_back(column(group.trust, k, N));
    if (!group.lost.empty()) out.lost.push_back(column(group.lost, k, 1)(0));
    if (!group.dt.empty()) out.dt.push_back(column(group.dt, k, 1)(0));
    if (!group.u.empty()) out.u.push_back(column(group.u, k, 2));
  }
  out.fresh = is_fresh(group, lane);
  out.start.h = column(group.carry.h, 0, architecture.encoder_state_rows());
  out.start.state.mean = column(group.carry.x, 0, N);
  out.start.state.cov = column(group.carry.P, 0, N * N).reshaped(N, N);
  return out;
}

/// The reference's form of a model; the map's formula is given beside it.
template <typename T>
reference::Model reference_of(const heads::Architecture& architecture, const Buffer<T>& parameters,
                              const kalman::Emission& emission, reference::ExpertMap map) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int N = architecture.state_dim(), M = architecture.meas_dim();
  reference::Model model;
  model.architecture = &architecture;
  for (const T p : parameters.span()) model.parameters.push_back(static_cast<double>(p));
  model.H = Eigen::Map<const RowMajor>(emission.H().data(), M, N);
  model.R = Eigen::Map<const RowMajor>(emission.R().data(), M, M);
  model.map = std::move(map);
  return model;
}
template <typename T>
reference::Model reference_of(const WindowCase<T>& c) {
  const WavyMap* map = c.map.get();
  reference::ExpertMap formula;
  if (map != nullptr)
    formula = [map, theta = c.theta](const Vector& x, double dt, const Vector& u, Matrix& F,
                                     Vector& e) {
      for (int i = 0; i < x.size(); ++i) {
        const double drive = u.size() == 0 ? 0 : u(0) + i * u(1);
        e(i) = dt * (theta[0] * map->e(i, x(i)) + theta[1] * drive);
        for (int j = 0; j < x.size(); ++j) F(i, j) = map->F(i, j, x(j));
      }
    };
  reference::Model model = reference_of(c.architecture, c.parameters, c.emission, formula);
  model.dt = c.dt;
  if (!c.climate_spread.empty()) {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    const int N = c.architecture.state_dim();
    model.climate_mean = Eigen::Map<const Vector>(c.climate_mean.data(), N);
    model.climate_spread = Eigen::Map<const Vector>(c.climate_spread.data(), N);
    model.climate_A = Eigen::Map<const RowMajor>(c.climate_A.data(), N, N);
    model.climate_Q = Eigen::Map<const RowMajor>(c.climate_Q.data(), N, N);
  }
  if (c.flow)
    model.noise = [](const Matrix& F, double dt, const Matrix& L) -> Matrix {
      const Matrix B = (Matrix::Identity(F.rows(), F.rows()) + WavyFlow::kBend * F) * L;
      return dt * B * B.transpose();
    };
  return model;
}

/// A panel of results, [step][row][lane], in double (which holds every float).
struct ResultPanel {
  int steps = 0, rows = 0, lanes = 0;
  std::vector<double> values;

  double at(int step, int row, int lane) const {
    return values[panel_at(step, rows, row, lanes, lane)];
  }
  Matrix matrix(int step, int lane, int n, int m) const {
    Matrix out(n, m);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) out(i, j) = at(step, i * m + j, lane);
    return out;
  }
};

/// Everything a window gives.
struct WindowResult {
  double loss = 0;
  std::map<std::string, ResultPanel> lane;  ///< what belongs to one lane
  std::vector<double> gradient, d_R;        ///< what is summed over lanes
  std::vector<engine::LaneFailure> failures;
};

template <typename T>
std::vector<double> in_double(const Buffer<T>& buffer) {
  return {buffer.data(), buffer.data() + buffer.size()};
}

/// Forward and, if the workspace is for training, backward. The carry moves on.
template <typename Model, typename Head = typename Model::Head>
WindowResult run_window(const Model& model, const typename Head::Input& input,
                        typename Head::Carry& carry, typename Head::Workspace& workspace,
                        double scale = 1) {
  const int N = model.architecture->state_dim();
  const int encoder = model.architecture->encoder_state_rows();
  const int steps = input.steps, lanes = input.lanes;
  const auto panel = [&](int rows) { return Buffer<double>(panel_at(steps, rows, 0, lanes, 0)); };
  Buffer<double> x_pred = panel(N), P_pred = panel(N * N), x_filt = panel(N), P_filt = panel(N * N),
                 F = panel(N * N), Q = panel(N * N), nll = panel(1);
  heads::StateMoments moments{x_pred.data(), P_pred.data(), x_filt.data(), P_filt.data(),
                              F.data(),      Q.data(),      nll.data()};
  if (!model.architecture->options.recursive()) moments.F = nullptr;  // there is none
  WindowResult result;
  result.loss = engine::window_forward(model, input, carry, moments, workspace);
  const auto keep = [&](const char* name, int count, int rows, const auto& buffer) {
    std::vector<double> values(buffer.data(), buffer.data() + panel_at(count, rows, 0, lanes, 0));
    result.lane[name] = {count, rows, lanes, std::move(values)};
  };
  keep("x_pred", steps, N, x_pred);
  keep("P_pred", steps, N * N, P_pred);
  keep("x_filt", steps, N, x_filt);
  keep("P_filt", steps, N * N, P_filt);
  keep("F", steps, N * N, F);
  keep("Q", steps, N * N, Q);
  keep("nll", steps, 1, nll);
  keep("lane_nll", 1, 1, workspace.lane_nll);
  keep("carry.h", 1, encoder, carry.h);
  if constexpr (requires { carry.x; }) {
    keep("carry.x", 1, N, carry.x);
    keep("carry.P", 1, N * N, carry.P);
  }
  result.failures = workspace.failures;
  if (!workspace.training) return result;
  engine::window_backward(model, input, scale, workspace);
  result.gradient = in_double(workspace.gradient);
  keep("d_h", 1, encoder, workspace.d_h);
  if constexpr (requires { workspace.d_R; }) {
    result.d_R = in_double(workspace.d_R);
    keep("d_x", 1, N, workspace.d_x);
    keep("d_P", 1, N * N, workspace.d_P);
  }
  return result;
}
template <typename T>
WindowResult run_window(const heads::StateModel<T>& model, heads::StateGroup<T>& group,
                        heads::StateWorkspace<T>& workspace, double scale = 1) {
  return run_window(model, group.view(), group.carry, workspace, scale);
}

/// The same bits, NaN included.
inline bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// Lane `lane_a` of `a` holds the bits of lane `lane_b` of `b`, in everything that belongs to a
/// lane.
inline testing::AssertionResult same_lane(const WindowResult& a, int lane_a, const WindowResult& b,
                                          int lane_b) {
  for (const auto& [name, pa] : a.lane) {
    const ResultPanel& pb = b.lane.at(name);
    for (int k = 0; k < pa.steps; ++k)
      for (int row = 0; row < pa.rows; ++row) {
        const double va = pa.at(k, row, lane_a), vb = pb.at(k, row, lane_b);
        if (!same_bits(va, vb))
          return testing::AssertionFailure()
                 << name << " at step " << k << ", row " << row << ": lane " << lane_a << " has "
                 << va << ", lane " << lane_b << " has " << vb << " (difference " << va - vb << ")";
      }
  }
  return testing::AssertionSuccess();
}

/// Both vectors hold the same bits.
inline testing::AssertionResult same_numbers(const std::vector<double>& a,
                                             const std::vector<double>& b) {
  if (a.size() != b.size())
    return testing::AssertionFailure() << a.size() << " numbers against " << b.size();
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same_bits(a[i], b[i]))
      return testing::AssertionFailure() << "number " << i << ": " << a[i] << " against " << b[i]
                                         << " (difference " << a[i] - b[i] << ")";
  return testing::AssertionSuccess();
}

/// The largest difference of two vectors relative to the largest number of `b`.
inline double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double scale = 0, difference = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!std::isfinite(a[i]) || !std::isfinite(b[i]))
      return std::numeric_limits<double>::infinity();
    scale = std::max(scale, std::abs(b[i]));
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  return difference == 0 ? 0 : difference / scale;
}

}  // namespace kalmia::test
