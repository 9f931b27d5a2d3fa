#include "train/substep_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "infer/filter_pass.hpp"
#include "kalman/classical/batch.hpp"
#include "kalmia/error.hpp"
#include "prior/integration.hpp"
#include "train/segments.hpp"

namespace kalmia::train {
namespace {

// Of the deviation of a step's process noise.
constexpr double kTolerated = 0.1;
// States are taken from so many steps, in pieces whose first ones are left out: a filter has yet to
// find the state there.
constexpr int kStateSteps = 1 << 11;
constexpr int kStatePiece = 128;
constexpr int kFirstLeftOut = 32;
// The largest errors are left out, this share of them: those of a filter that has lost its way.
constexpr double kLeftOut = 0.05;

constexpr int kLineWidth = lanes::kLineLanes<double>;

// Steps that lead on from a state: as columns of 8 lanes.
struct StatesAndSteps {
  int count = 0;
  std::vector<double> x, dt, u;  // lines
  std::vector<double> variance;  // of the noise, lines
};

// The filtered states of a model, with the process noise of the step that leads on.
StatesAndSteps steps_of_model(const StaticResult& fitted, const ScaledData& data,
                              const std::vector<StepRange>& training, ThreadTeam& team) {
  const auto model = fitted.alone<float>();
  const int N = model->state_dim(), U = model->expert().map->input_dim();
  std::vector<infer::SeriesView> pieces;
  for (const StepRange& each : thinned(cut_up(training, kStatePiece), kStateSteps))
    pieces.push_back(data.view(each));
  const infer::FilterPass pass =
      infer::run_pass(*model, pieces, {.predicted = false, .filtered = true, .transition = true},
                      team, [](int) { return std::string("the training data"); });
  StatesAndSteps steps;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    const int first = std::min(kFirstLeftOut, pieces[p].steps / 2);
    for (int k = first; k + 1 < pieces[p].steps; ++k) {
      const int lane = steps.count % kLineWidth;
      if (lane == 0) {
        const auto add = [](std::vector<double>& to, int lines, double value) {
          to.resize(to.size() + static_cast<std::size_t>(lines * kLineWidth), value);
        };
        add(steps.x, N, 0);
        add(steps.dt, 1, 1);
        add(steps.u, U, 0);
        add(steps.variance, N, 1);
      }
      const auto group = static_cast<std::size_t>(steps.count / kLineWidth);
      const auto at = [&](int lines, int i) {
        return group * static_cast<std::size_t>(lines * kLineWidth) +
               static_cast<std::size_t>(i * kLineWidth + lane);
      };
      const int piece = static_cast<int>(p);
      for (int n = 0; n < N; ++n) {
        steps.x[at(N, n)] =
            pass.moments.filtered
                .mean[kalman::row_at(pass.moments, piece, k, N) + static_cast<std::size_t>(n)];
        steps.variance[at(N, n)] = pass.Q[kalman::row_at(pass.moments, piece, k + 1, N * N) +
                                          static_cast<std::size_t>(n * (N + 1))];
      }
      steps.dt[at(1, 0)] =
          model->map_dt() * (pieces[p].dt_ratio == nullptr ? 1 : pieces[p].dt_ratio[k + 1]);
      for (int i = 0; i < U; ++i) steps.u[at(U, i)] = pieces[p].u[k * U + i];
      ++steps.count;
    }
  }
  return steps;
}

model::ModelDescription with_substeps(model::ModelDescription description, int substeps) {
  description.prior.system.integration.substeps = substeps;
  return description;
}

// Where so many substeps lead, N lines for each group of lanes.
std::vector<double> ends_of(const model::ModelDescription& description,
                            const StatesAndSteps& steps) {
  const prior::Expert expert = model::expert_of(description);
  const kalman::TransitionMap& map = *expert.map;
  const int N = expert.state_dim();
  const auto width = static_cast<std::size_t>(N * kLineWidth);
  Buffer<double> x(width), dt(kLineWidth), F(static_cast<std::size_t>(N) * width), e(width),
      u(static_cast<std::size_t>(std::max(1, map.input_dim()) * kLineWidth)),
      scratch(map.scratch_size());
  const std::vector<double> theta = description.theta.empty() ? expert.theta() : description.theta;
  std::vector<double> ends;
  const int groups = (steps.count + kLineWidth - 1) / kLineWidth;
  for (int g = 0; g < groups; ++g) {
    const auto copy = [g](const std::vector<double>& from, int lines, Buffer<double>& to) {
      std::copy_n(from.data() + static_cast<std::ptrdiff_t>(g) * lines * kLineWidth,
                  lines * kLineWidth, to.data());
    };
    copy(steps.x, N, x);
    copy(steps.dt, 1, dt);
    copy(steps.u, map.input_dim(), u);
    map.forward({x.data(), dt.data(), u.data(), theta.data()}, F.data(), e.data(), scratch.data());
    for (int i = 0; i < N; ++i)
      for (int lane = 0; lane < kLineWidth; ++lane) {
        double sum = e.data()[i * kLineWidth + lane];
        for (int j = 0; j < N; ++j)
          sum += F.data()[(i * N + j) * kLineWidth + lane] * x.data()[j * kLineWidth + lane];
        ends.push_back(sum);
      }
  }
  return ends;
}

// The largest mean, over the states, of the error's square over the variance of the noise.
double error_of(const std::vector<double>& coarse, const std::vector<double>& fine,
                const StatesAndSteps& steps, int N) {
  constexpr double kOrder = 16.0 / 15;
  double largest = 0;
  for (int n = 0; n < N; ++n) {
    std::vector<double> ratios;
    for (int s = 0; s < steps.count; ++s) {
      const auto at = static_cast<std::size_t>((s / kLineWidth) * N * kLineWidth + n * kLineWidth +
                                               s % kLineWidth);
      const double d = kOrder * (coarse[at] - fine[at]);
      const double ratio = d * d / std::max(steps.variance[at], std::numeric_limits<double>::min());
      ratios.push_back(std::isfinite(ratio) ? ratio : std::numeric_limits<double>::infinity());
    }
    std::ranges::sort(ratios, [](double a, double b) { return a < b; });
    const auto kept =
        static_cast<std::size_t>(std::ceil((1 - kLeftOut) * static_cast<double>(ratios.size())));
    double sum = 0;
    for (std::size_t i = 0; i < kept; ++i) sum += ratios[i];
    largest = std::max(largest, sum / static_cast<double>(kept));
  }
  return largest;
}

}  // namespace

bool finds_substeps(const prior::ExpertSpec& spec) {
  const IntegrationOptions& given = spec.system.integration;
  if (spec.kind != prior::PriorKind::System || !spec.system.next.empty() || given.substeps > 0)
    return false;
  const prior::FlowEntry* named = prior::find_flow(given.flow);
  return (named != nullptr ? named->flow : prior::usual_flow(!spec.system.matrix.empty())) ==
         prior::FlowKind::Rk4;
}

int needed_substeps(const StaticResult& fitted, const ScaledData& data,
                    const std::vector<StepRange>& training, ThreadTeam& team) {
  const int had = std::max(1, fitted.description.prior.system.integration.substeps);
  int substeps = had;
  try {
    const StatesAndSteps steps = steps_of_model(fitted, data, training, team);
    if (steps.count == 0) return had;
    const int N = static_cast<int>(fitted.initial_e.size());
    std::vector<double> ends = ends_of(with_substeps(fitted.description, substeps), steps);
    while (substeps < kMostFoundSubsteps) {
      std::vector<double> finer = ends_of(with_substeps(fitted.description, 2 * substeps), steps);
      const double error = error_of(ends, finer, steps, N);
      if (error <= kTolerated * kTolerated) break;
      substeps *= 2;
      ends = std::move(finer);
    }
  } catch (const NumericalError&) {  // the filter breaks down where it is asked
    return had;
  } catch (const ConfigError&) {  // with more of them the equations of a step are too many
    return substeps;
  }
  return substeps;
}

}  // namespace kalmia::train
