#include "infer/leak.hpp"

#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "infer/filter_pass.hpp"

namespace kalmia::infer {
namespace {

// By how many standard deviations of the noise a value is moved.
constexpr double kStep = 0.25;

// A value that is moved.
struct Moved {
  std::size_t piece = 0;
  int step = 0;
  std::size_t channel = 0;
  double by = 0;
};

// What a run moves: one step in every stride; its channels take turns.
std::vector<Moved> moved_in(const model::LearnedModel<float>& model,
                            std::span<const SeriesView> pieces, int run, int runs) {
  const auto M = static_cast<std::size_t>(model.meas_dim());
  RandomStream random(1, "leak", static_cast<std::uint64_t>(run));
  std::vector<Moved> moved;
  std::size_t turn = static_cast<std::size_t>(run);
  for (std::size_t p = 0; p < pieces.size(); ++p)
    for (int k = run * kLeakStride / runs; k < pieces[p].steps; k += kLeakStride, ++turn) {
      const std::size_t c = turn % M;
      const double sign = random.uniform() < 0.5 ? -1 : 1;
      // This is the first measured step among those of this stride and this run.
      int at = k;
      const int end = std::min(k + kLeakStride / runs, pieces[p].steps);
      while (at < end && std::isnan(pieces[p].y[static_cast<std::size_t>(at) * M + c])) ++at;
      if (at == end) continue;
      moved.push_back({p, at, c, sign * kStep * std::sqrt(model.emission().R()[c * (M + 1)])});
    }
  return moved;
}

// The predictions of the moved values, after they were moved by so many times what they are.
std::vector<double> predictions(const model::LearnedModel<float>& model,
                                std::span<const SeriesView> pieces, const std::vector<Moved>& moved,
                                double times, ThreadTeam& team) {
  const auto M = static_cast<std::size_t>(model.meas_dim());
  const auto N = static_cast<std::size_t>(model.state_dim());
  std::vector<std::vector<double>> y;
  std::vector<SeriesView> changed(pieces.begin(), pieces.end());
  for (SeriesView& piece : changed) {
    y.emplace_back(piece.y, piece.y + static_cast<std::size_t>(piece.steps) * M);
    piece.y = y.back().data();
  }
  for (const Moved& each : moved)
    y[each.piece][static_cast<std::size_t>(each.step) * M + each.channel] += times * each.by;
  const std::vector<std::vector<double>> x = predict_left_out(model, changed, team);
  std::vector<double> result, y_pred(M);
  for (const Moved& each : moved) {
    model.measure(x[each.piece].data() + static_cast<std::size_t>(each.step) * N, y_pred.data());
    result.push_back(y_pred[each.channel]);
  }
  return result;
}

}  // namespace

double measure_leak(const model::LearnedModel<float>& model, std::span<const SeriesView> all,
                    ThreadTeam& team, int runs) {
  const std::vector<SeriesView> pieces = first_steps(all, kMostLeakSteps);
  double sum = 0, count = 0;
  for (int run = 0; run < runs; ++run) {
    const std::vector<Moved> moved = moved_in(model, pieces, run, runs);
    if (moved.empty()) continue;
    const std::vector<double> up = predictions(model, pieces, moved, 1, team);
    const std::vector<double> down = predictions(model, pieces, moved, -1, team);
    for (std::size_t i = 0; i < moved.size(); ++i) sum += (up[i] - down[i]) / (2 * moved[i].by);
    count += static_cast<double>(moved.size());
  }
  return count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace kalmia::infer
