#include "infer/run.hpp"

#include <algorithm>

namespace kalmia::infer {

std::vector<SeriesView> first_steps(std::span<const SeriesView> pieces, int most) {
  std::vector<SeriesView> some;
  for (SeriesView piece : pieces) {
    piece.steps = std::min(piece.steps, most);
    most -= piece.steps;
    some.push_back(piece);
  }
  return some;
}

std::string step_place(const std::string& name, int step) {
  return (name.empty() ? "" : name + ", ") + "step " + std::to_string(step + 1);
}

template <typename T>
void run_filter(const model::LearnedModel<T>& model, std::span<const SeriesView> pieces,
                const RequestedMoments& wanted, ThreadTeam& team, const Sink& sink,
                const std::function<std::string(int piece)>& name, const RunSettings& settings) {
  const bool irregular = std::any_of(pieces.begin(), pieces.end(), [](const SeriesView& piece) {
    return piece.dt_ratio != nullptr;
  });
  WindowRun<heads::StateGroup<T>> run;
  run.model = model.inference_window();
  run.model.process_noise = settings.process_noise;
  if (settings.weights_given) run.model.robust = nullptr;
  run.wanted = wanted;
  for (const SeriesView& piece : pieces) run.steps.push_back(piece.steps);
  run.prepare = [&](int steps, int lanes, heads::StateGroup<T>& group) {
    prepare_group(model, steps, lanes, irregular, group);
    if (pieces[0].weight != nullptr) prepare_weights(group);
    if (pieces[0].linearise != nullptr) group.linearise.resize(2 * group.centre.size());
  };
  run.start = [&](std::size_t count) {
    return [&, memory = std::vector<LaneMemory>(count, empty_memory(model.meas_dim()))](
               int i, int lane, int piece, int at, heads::StateGroup<T>& group) mutable {
      fill_step(model, i, lane, pieces[static_cast<std::size_t>(piece)], at,
                memory[static_cast<std::size_t>(lane)], &group.carry, group);
    };
  };
  run.waits = [&](int piece, int at) {
    const double* y = pieces[static_cast<std::size_t>(piece)].y;
    return waits_for_state(
        model, at == 0 ? nullptr : y + static_cast<std::ptrdiff_t>(at - 1) * model.meas_dim());
  };
  run.sink = sink;
  run.place = [&](int piece, int at) { return step_place(name(piece), at); };
  run_windows(run, team);
}

template void run_filter<float>(const model::LearnedModel<float>&, std::span<const SeriesView>,
                                const RequestedMoments&, ThreadTeam&, const Sink&,
                                const std::function<std::string(int)>&, const RunSettings&);
template void run_filter<double>(const model::LearnedModel<double>&, std::span<const SeriesView>,
                                 const RequestedMoments&, ThreadTeam&, const Sink&,
                                 const std::function<std::string(int)>&, const RunSettings&);

}  // namespace kalmia::infer
