#include "infer/run.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "infer/lane_fill.hpp"
#include "kalmia/error.hpp"
#include "model/batch.hpp"

namespace kalmia::infer {
namespace {

// Steps of a window: its panels stay in the cache, and short series waste little.
constexpr int kWindow = 64;

// What one thread needs.
template <typename T>
struct Runner {
  model::LaneGroup<T> group;
  model::Workspace<T> workspace;
  Buffer<double> x_pred, P_pred, x_filt, P_filt, F, nll;

  Runner(const model::LearnedModel<T>& model, const Wanted& wanted, int steps, int lanes,
         bool irregular) {
    const auto volume = [&](bool is_wanted, int rows) {
      return is_wanted ? static_cast<std::size_t>(steps) * static_cast<std::size_t>(rows) *
                             static_cast<std::size_t>(lanes)
                       : 0;
    };
    const int N = model.state_dim();
    prepare_group(model, steps, lanes, irregular, group);
    workspace.prepare(model.window(), steps, lanes, false);
    x_pred.resize(volume(wanted.predicted, N));
    P_pred.resize(volume(wanted.predicted, N * N));
    x_filt.resize(volume(wanted.filtered, N));
    P_filt.resize(volume(wanted.filtered, N * N));
    F.resize(volume(wanted.transition, N * N));
    nll.resize(volume(true, 1));
  }
  model::WindowMoments moments() {
    return {x_pred.data(), P_pred.data(), x_filt.data(), P_filt.data(), F.data(), nll.data()};
  }
};

[[noreturn]] void throw_failed(const std::string& name, int step, bool covariance) {
  throw NumericalError((name.empty() ? "" : name + ", ") + "step " + std::to_string(step + 1) +
                       ": " +
                       (covariance ? "the innovation covariance is not positive definite"
                                   : "the likelihood is not finite") +
                       "; the measurements there are beyond anything the model can follow");
}

}  // namespace

template <typename T>
void run_filter(const model::LearnedModel<T>& model, std::span<const Piece> pieces,
                const Wanted& wanted, ThreadTeam& team, const Sink& sink,
                const std::function<std::string(int piece)>& name) {
  if (pieces.empty()) return;
  // Longest first, so that the lanes of a group end at about the same step.
  std::vector<int> order(pieces.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return pieces[static_cast<std::size_t>(a)].steps > pieces[static_cast<std::size_t>(b)].steps;
  });
  const int count = static_cast<int>(pieces.size());
  const int lanes = std::min(model::kGroupLanes, lanes::padded_lanes(count));
  const int longest = pieces[static_cast<std::size_t>(order[0])].steps;
  const int window = std::min(kWindow, std::max(longest, 1));
  std::vector<std::unique_ptr<Runner<T>>> runners(static_cast<std::size_t>(team.size()));
  const bool irregular = std::any_of(pieces.begin(), pieces.end(),
                                     [](const Piece& piece) { return piece.dt_ratio != nullptr; });

  team.run((count + lanes - 1) / lanes, [&](int task, int thread) {
    auto& runner = runners[static_cast<std::size_t>(thread)];
    if (!runner) runner = std::make_unique<Runner<T>>(model, wanted, window, lanes, irregular);
    model::LaneGroup<T>& group = runner->group;
    const std::span<const int> members(
        order.data() + task * lanes,
        static_cast<std::size_t>(std::min(lanes, count - task * lanes)));
    std::vector<LaneMemory> memory(members.size(), empty_memory(model.meas_dim()));
    const int steps = pieces[static_cast<std::size_t>(members[0])].steps;
    std::fill(group.length.begin(), group.length.end(), 0);
    for (int first = 0; first < steps; first += window) {
      std::fill(group.fresh.begin(), group.fresh.end(), static_cast<std::uint8_t>(first == 0));
      for (std::size_t lane = 0; lane < members.size(); ++lane) {
        const Piece& piece = pieces[static_cast<std::size_t>(members[lane])];
        const int length = std::clamp(piece.steps - first, 0, window);
        group.length[lane] = length;
        for (int i = 0; i < length; ++i)
          fill_step(model, i, static_cast<int>(lane), piece, first + i, memory[lane], group);
      }
      const model::WindowMoments moments = runner->moments();
      model::window_forward(model.window(), group.view(), group.carry, moments, runner->workspace);
      for (const model::LaneFailure& failure : runner->workspace.failures)
        if (static_cast<std::size_t>(failure.lane) < members.size())
          throw_failed(name(members[static_cast<std::size_t>(failure.lane)]), first + failure.step,
                       failure.covariance);
      for (std::size_t lane = 0; lane < members.size(); ++lane)
        if (group.length[lane] > 0)
          sink(members[lane], first, group.length[lane],
               LaneMoments(moments, lanes, static_cast<int>(lane)));
    }
  });
}

template void run_filter<float>(const model::LearnedModel<float>&, std::span<const Piece>,
                                const Wanted&, ThreadTeam&, const Sink&,
                                const std::function<std::string(int)>&);
template void run_filter<double>(const model::LearnedModel<double>&, std::span<const Piece>,
                                 const Wanted&, ThreadTeam&, const Sink&,
                                 const std::function<std::string(int)>&);

}  // namespace kalmia::infer
