#include "infer/filter_pass.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "infer/fusion_run.hpp"
#include "infer/two_sided_run.hpp"
#include "kalman/classical/smoother.hpp"
#include "kalmia/error.hpp"

namespace kalmia::infer {
namespace {

using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixView = Eigen::Map<const RowMatrix>;
using VectorView = Eigen::Map<const Eigen::VectorXd>;
using kalman::kLanes;
using kalman::row_at;

// In a gap nothing is measured that could tell that a prediction has run away.
bool all_finite(const double* x, const double* P, int N) {
  double sum = 0;
  for (int i = 0; i < N; ++i) sum += 0 * x[i] + 0 * P[i * N + i];
  return sum == 0;
}

struct SmootherWorkspace {
  explicit SmootherWorkspace(int N) : state(N), Q(static_cast<std::size_t>(N * N * kLanes)) {}
  kalman::SmootherState state;
  Buffer<double> Q;
};

// An S with S S' = P, for a covariance that may be singular; rounding errors are cut off.
RowMatrix root_of(const RowMatrix& P) {
  const Eigen::SelfAdjointEigenSolver<RowMatrix> solver(P);
  return solver.eigenvectors() * solver.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal();
}

}  // namespace

FilterPass run_pass(const model::LearnedModel<float>& model, std::span<const SeriesView> pieces,
                    const RequestedMoments& wanted, ThreadTeam& team,
                    const std::function<std::string(int piece)>& name,
                    const RunSettings& settings) {
  FilterPass pass;
  FilterResult& result = pass.moments;
  const int N = model.state_dim();
  result.series = static_cast<int>(pieces.size());
  result.state_dim = N;
  result.meas_dim = model.meas_dim();
  for (const SeriesView& piece : pieces) {
    pass.lengths.push_back(piece.steps);
    result.steps = std::max(result.steps, piece.steps);
  }
  result.log_likelihood.assign(pieces.size(), 0);
  const auto rows = pieces.size() * static_cast<std::size_t>(result.steps);
  const auto vectors = rows * static_cast<std::size_t>(N);
  const auto matrices = vectors * static_cast<std::size_t>(N);
  if (wanted.predicted) result.predicted = {Array(vectors), Array(matrices)};
  if (wanted.filtered) result.filtered = {Array(vectors), Array(matrices)};
  if (wanted.transition) {
    pass.F.resize(matrices);
    pass.Q.resize(matrices);
  }
  pass.nll.resize(rows);
  run_filter(
      model, pieces, wanted, team,
      [&](int piece, int first, int count, const LaneMoments& moments) {
        for (int i = 0; i < count; ++i) {
          const std::size_t x = row_at(result, piece, first + i, N);
          const std::size_t P = row_at(result, piece, first + i, N * N);
          if (wanted.predicted) {
            moments.x_pred(i, N, result.predicted.mean.data() + x);
            moments.P_pred(i, N, result.predicted.covariance.data() + P);
          }
          if (wanted.filtered) {
            moments.x_filt(i, N, result.filtered.mean.data() + x);
            moments.P_filt(i, N, result.filtered.covariance.data() + P);
            if (!all_finite(result.filtered.mean.data() + x, result.filtered.covariance.data() + P,
                            N))
              throw NumericalError(name(piece) + ", step " + std::to_string(first + i + 1) +
                                   ": the prediction through missing values is not finite");
          }
          if (wanted.transition) {
            moments.F(i, N, pass.F.data() + P);
            moments.Q(i, N, pass.Q.data() + P);
          }
          pass.nll[row_at(result, piece, first + i, 1)] = moments.nll(i);
          result.log_likelihood[static_cast<std::size_t>(piece)] += moments.nll(i);
        }
      },
      name, settings);
  return pass;
}

namespace {

std::vector<FusionView> fusion_pieces(std::span<const SeriesView> pieces,
                                      const FilterResult& result) {
  const int N = result.state_dim;
  std::vector<FusionView> fused;
  for (int p = 0; p < static_cast<int>(pieces.size()); ++p) {
    const SeriesView& piece = pieces[static_cast<std::size_t>(p)];
    fused.push_back({piece.y, result.predicted.mean.data() + row_at(result, p, 0, N),
                     result.predicted.covariance.data() + row_at(result, p, 0, N * N), piece.steps,
                     piece.dt_ratio, piece.u});
  }
  return fused;
}

void make_room_for_smoothed(FilterResult& result) {
  const auto rows =
      static_cast<std::size_t>(result.series) * static_cast<std::size_t>(result.steps);
  const auto N = static_cast<std::size_t>(result.state_dim);
  result.smoothed = {Array(rows * N), Array(rows * N * N)};
}

void fuse_pass(const model::LearnedModel<float>& model, std::span<const SeriesView> pieces,
               FilterPass& pass, ThreadTeam& team,
               const std::function<std::string(int piece)>& name) {
  FilterResult& result = pass.moments;
  const int N = result.state_dim;
  make_room_for_smoothed(result);
  run_fusion(
      model, fusion_pieces(pieces, result), {.filtered = true}, team,
      [&](int piece, int last, int count, const LaneMoments& moments) {
        for (int j = 0; j < count; ++j) {
          moments.x_filt(j, N, result.smoothed.mean.data() + row_at(result, piece, last - j, N));
          moments.P_filt(
              j, N, result.smoothed.covariance.data() + row_at(result, piece, last - j, N * N));
        }
      },
      name);
}

void smooth_two_sided(const model::LearnedModel<float>& model, std::span<const SeriesView> pieces,
                      FilterPass& pass, ThreadTeam& team,
                      const std::function<std::string(int piece)>& name) {
  FilterResult& result = pass.moments;
  const int N = result.state_dim;
  make_room_for_smoothed(result);
  run_two_sided(
      model, pieces, {.filtered = true}, team,
      [&](int piece, int first, int count, const LaneMoments& moments) {
        for (int i = 0; i < count; ++i) {
          double* x = result.smoothed.mean.data() + row_at(result, piece, first + i, N);
          double* P = result.smoothed.covariance.data() + row_at(result, piece, first + i, N * N);
          moments.x_filt(i, N, x);
          moments.P_filt(i, N, P);
          if (!all_finite(x, P, N))
            throw NumericalError(step_place(name(piece), first + i) +
                                 ": the smoothed state is not finite");
        }
      },
      name);
}

}  // namespace

void smooth_by_networks(const model::LearnedModel<float>& model, std::span<const SeriesView> pieces,
                        FilterPass& pass, ThreadTeam& team,
                        const std::function<std::string(int piece)>& name) {
  if (model.smoother()->two_sided())
    smooth_two_sided(model, pieces, pass, team, name);
  else
    fuse_pass(model, pieces, pass, team, name);
}

std::vector<std::vector<double>> predict_left_out(const model::LearnedModel<float>& model,
                                                  std::span<const SeriesView> pieces,
                                                  ThreadTeam& team) {
  const int N = model.state_dim();
  std::vector<std::vector<double>> x;
  for (const SeriesView& piece : pieces)
    x.emplace_back(static_cast<std::size_t>(piece.steps) * static_cast<std::size_t>(N));
  const auto place = [&](int piece, int step) {
    return x[static_cast<std::size_t>(piece)].data() + static_cast<std::ptrdiff_t>(step) * N;
  };
  const auto name = [](int piece) { return "piece " + std::to_string(piece + 1); };
  if (model.smoother()->two_sided()) {
    run_two_sided(
        model, pieces, {.predicted = true}, team,
        [&](int piece, int first, int count, const LaneMoments& moments) {
          for (int i = 0; i < count; ++i) moments.x_pred(i, N, place(piece, first + i));
        },
        name);
    return x;
  }
  const FilterPass pass = run_pass(model, pieces, {.predicted = true}, team, name);
  run_fusion(
      model, fusion_pieces(pieces, pass.moments), {.predicted = true}, team,
      [&](int piece, int last, int count, const LaneMoments& moments) {
        for (int j = 0; j < count; ++j) moments.x_pred(j, N, place(piece, last - j));
      },
      name);
  return x;
}

void smooth_pass(FilterPass& pass, ThreadTeam& team,
                 const std::function<std::string(int piece)>& name) {
  FilterResult& result = pass.moments;
  const int N = result.state_dim;
  result.smoothed = {Array(result.filtered.mean.size()), Array(result.filtered.covariance.size())};
  MeasurementsView view;
  view.series = result.series;
  view.steps = result.steps;
  view.meas_dim = result.meas_dim;
  view.lengths = pass.lengths;
  const std::vector<kalman::LinePlan> plans = kalman::plan_lines(view);
  std::vector<SmootherWorkspace> workspaces;
  for (int t = 0; t < team.size(); ++t) workspaces.emplace_back(N);
  team.run(static_cast<int>(plans.size()), [&](int line, int thread) {
    SmootherWorkspace& w = workspaces[static_cast<std::size_t>(thread)];
    const kalman::LinePlan& plan = plans[static_cast<std::size_t>(line)];
    int at = 0;
    const auto smooth = [&](lanes::LaneBits chosen) {
      kalman::smooth_line(plan, chosen, nullptr, w.Q.data(), w.state, result,
                          [&](int k, lanes::LaneBits live, kalman::SmootherState& state) {
                            at = k;
                            for (int b = 0; b < plan.count; ++b) {
                              if (((live >> b) & 1) == 0) continue;
                              const std::size_t row = row_at(result, plan.series[b], k, N * N);
                              kalman::write_lane(state.F, N * N, b, pass.F.data() + row);
                              kalman::write_lane(w.Q.data(), N * N, b, pass.Q.data() + row);
                            }
                          });
    };
    try {
      smooth(kalman::kAllLaneBits);
    } catch (const NumericalError&) {
      // They run again one by one, which shows which of them broke down.
      for (int b = 0; b < plan.count; ++b) try {
          smooth(lanes::LaneBits{1} << b);
        } catch (const NumericalError&) {
          throw NumericalError(name(plan.series[b]) + ", step " + std::to_string(at + 1) + ": " +
                               kalman::kSmootherFailure);
        }
      throw;
    }
  });
}

void sample_pass(const FilterPass& pass, int s, std::span<RandomStream> random,
                 std::span<double> trajectories) {
  const FilterResult& r = pass.moments;
  const int N = r.state_dim;
  const int steps = pass.lengths[static_cast<std::size_t>(s)];
  if (steps == 0) return;
  const auto state = [&](std::size_t sample, int k) {
    return Eigen::Map<Eigen::VectorXd>(trajectories.data() +
                                           static_cast<std::ptrdiff_t>(sample) * steps * N +
                                           static_cast<std::ptrdiff_t>(k) * N,
                                       N);
  };
  const auto matrix = [&](const Array& array, int k) {
    return MatrixView(array.data() + row_at(r, s, k, N * N), N, N);
  };
  const auto vector = [&](const Array& array, int k) {
    return VectorView(array.data() + row_at(r, s, k, N), N);
  };
  const auto draw = [&](std::size_t sample, const Eigen::VectorXd& mean, const RowMatrix& root,
                        int k) {
    Eigen::VectorXd z(N);
    for (int i = 0; i < N; ++i) z(i) = random[sample].normal();
    state(sample, k) = mean + root * z;
  };
  const RowMatrix last = root_of(matrix(r.filtered.covariance, steps - 1));
  for (std::size_t i = 0; i < random.size(); ++i)
    draw(i, vector(r.filtered.mean, steps - 1), last, steps - 1);
  for (int k = steps - 1; k > 0; --k) {
    const MatrixView F(pass.F.data() + row_at(r, s, k, N * N), N, N);
    const MatrixView P_filt = matrix(r.filtered.covariance, k - 1);
    const MatrixView P_pred = matrix(r.predicted.covariance, k);
    const Eigen::LDLT<RowMatrix> solver(P_pred);
    const RowMatrix J = solver.solve(F * P_filt).transpose();
    const RowMatrix IJF = RowMatrix::Identity(N, N) - J * F;
    const MatrixView Q(pass.Q.data() + row_at(r, s, k, N * N), N, N);
    const RowMatrix root = root_of(IJF * P_filt * IJF.transpose() + J * Q * J.transpose());
    for (std::size_t i = 0; i < random.size(); ++i) {
      const Eigen::VectorXd mean =
          vector(r.filtered.mean, k - 1) + J * (state(i, k) - vector(r.predicted.mean, k));
      draw(i, mean, root, k - 1);
    }
  }
}

}  // namespace kalmia::infer
