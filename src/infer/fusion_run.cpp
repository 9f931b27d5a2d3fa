#include "infer/fusion_run.hpp"

#include <cmath>

namespace kalmia::infer {

void prepare_fusion_group(const model::LearnedModel<float>& model, int steps, int lanes,
                          heads::FusionGroup<float>& group) {
  group.resize(model.smoother()->architecture(), steps, lanes);
  const auto volume = [&](int rows) {
    return static_cast<std::size_t>(steps) * static_cast<std::size_t>(rows) *
           static_cast<std::size_t>(lanes);
  };
  const int N = model.state_dim();
  group.observed.resize(volume(model.meas_dim()));
  group.centre.resize(volume(N));
  group.prior_x.resize(volume(N));
  group.prior_P.resize(volume(N * N));
  group.length.assign(static_cast<std::size_t>(lanes), 0);
  group.fresh.assign(static_cast<std::size_t>(lanes), 1);
}

void fill_fusion_step(const model::LearnedModel<float>& model, int i, int lane,
                      const FusionView& piece, int k, LaneMemory& memory,
                      heads::FusionGroup<float>& group) {
  const model::FeatureSpec& features = model.description().features;
  const int N = model.state_dim(), M = model.meas_dim();
  const auto at = [&](int rows) {
    return static_cast<std::ptrdiff_t>(i) * rows * group.lanes + lane;
  };
  double* centre = group.centre.data() + at(N);
  if (k + 1 < piece.steps) {
    float* input = group.input_fwd.data() + at(features.input_dim());
    features.step_to(piece.y + static_cast<std::ptrdiff_t>(k + 1) * M, memory.data(), input, centre,
                     group.lanes);
    features.seen_centre(memory.data(), centre, group.lanes);
    const auto U = static_cast<std::ptrdiff_t>(features.control_dim());
    features.drive_to(piece.dt_ratio == nullptr ? 1.0 : piece.dt_ratio[k + 1],
                      piece.u == nullptr ? nullptr : piece.u + k * U, input, group.lanes);
  }
  for (int m = 0; m < M; ++m) {
    const double value = piece.y[static_cast<std::ptrdiff_t>(k) * M + m];
    group.y.data()[at(M) + m * group.lanes] = std::isnan(value) ? 0 : value;
    group.observed.data()[at(M) + m * group.lanes] = std::isnan(value) ? 0 : 1;
  }
  const auto put = [&](const double* from, int rows, double* panel) {
    for (int row = 0; row < rows; ++row)
      panel[at(rows) + row * group.lanes] = from[static_cast<std::ptrdiff_t>(k) * rows + row];
  };
  put(piece.x_pred, N, group.prior_x.data());
  put(piece.P_pred, N * N, group.prior_P.data());
}

void run_fusion(const model::LearnedModel<float>& model, std::span<const FusionView> pieces,
                const RequestedMoments& wanted, ThreadTeam& team, const FusionSink& sink,
                const std::function<std::string(int piece)>& name) {
  const auto last_step = [&](int piece) {
    return pieces[static_cast<std::size_t>(piece)].steps - 1;
  };
  WindowRun<heads::FusionGroup<float>> run;
  run.model = model.fusion_window();
  run.wanted = wanted;
  for (const FusionView& piece : pieces) run.steps.push_back(piece.steps);
  run.prepare = [&](int steps, int lanes, heads::FusionGroup<float>& group) {
    prepare_fusion_group(model, steps, lanes, group);
  };
  run.start = [&](std::size_t count) {
    return [&, memory = std::vector<LaneMemory>(count, empty_memory(model.meas_dim()))](
               int i, int lane, int piece, int at, heads::FusionGroup<float>& group) mutable {
      fill_fusion_step(model, i, lane, pieces[static_cast<std::size_t>(piece)],
                       last_step(piece) - at, memory[static_cast<std::size_t>(lane)], group);
    };
  };
  run.sink = [&](int piece, int first, int count, const LaneMoments& moments) {
    sink(piece, last_step(piece) - first, count, moments);
  };
  run.place = [&](int piece, int at) { return step_place(name(piece), last_step(piece) - at); };
  run_windows(run, team);
}

}  // namespace kalmia::infer
