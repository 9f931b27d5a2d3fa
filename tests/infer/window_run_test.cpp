#include "infer/window_run.hpp"

#include <gtest/gtest.h>

#include "infer/infer_cases.hpp"
#include "infer/lane_fill.hpp"

namespace kalmia::test {
namespace {

using infer::SeriesView;
using infer::WindowRun;

constexpr int N = 4, M = 2;

struct Visit {
  int first = 0, count = 0;
  bool operator==(const Visit&) const = default;
};

// A run of the filter that keeps everything.
struct KeptRun {
  std::unique_ptr<model::LearnedModel<float>> model = network_case(2, 71).make<float>();
  std::vector<std::vector<double>> y;
  std::vector<std::vector<double>> x_pred, P_filt, F, nll;
  std::vector<std::vector<Visit>> visits;
  int starts = 0;  // only read with one thread

  explicit KeptRun(const std::vector<int>& lengths) {
    RandomStream random(72, "pieces");
    for (const int steps : lengths) {
      std::vector<double>& each = y.emplace_back();
      for (int i = 0; i < M * steps; ++i)
        each.push_back(random.uniform() < 0.2 ? std::nan("") : 80 * random.normal());
    }
  }

  void operator()(const std::vector<std::size_t>& chosen, int threads) {
    std::vector<SeriesView> pieces;
    for (const std::size_t s : chosen)
      pieces.push_back({y[s].data(), static_cast<int>(y[s].size() / M)});
    for (auto* all : {&x_pred, &P_filt, &F, &nll}) all->assign(pieces.size(), {});
    visits.assign(pieces.size(), {});
    starts = 0;
    WindowRun<heads::StateGroup<float>> run;
    run.model = model->window();
    run.wanted = {.predicted = true, .filtered = true, .transition = true};
    for (const SeriesView& piece : pieces) run.steps.push_back(piece.steps);
    run.prepare = [&](int steps, int lanes, heads::StateGroup<float>& group) {
      infer::prepare_group(*model, steps, lanes, false, group);
    };
    run.start = [&](std::size_t count) {
      if (threads == 1) ++starts;
      return [&, memory = std::vector<infer::LaneMemory>(count, infer::empty_memory(M))](
                 int i, int lane, int piece, int at, heads::StateGroup<float>& group) mutable {
        infer::fill_step<float>(*model, i, lane, pieces[static_cast<std::size_t>(piece)], at,
                                memory[static_cast<std::size_t>(lane)], nullptr, group);
      };
    };
    run.sink = [&](int piece, int first, int count, const infer::LaneMoments& moments) {
      const auto p = static_cast<std::size_t>(piece);
      visits[p].push_back({first, count});
      std::vector<double> step(N * N);
      const auto add = [&](std::vector<double>& to, std::size_t size) {
        to.insert(to.end(), step.begin(), step.begin() + static_cast<std::ptrdiff_t>(size));
      };
      for (int i = 0; i < count; ++i) {
        moments.x_pred(i, N, step.data());
        add(x_pred[p], N);
        moments.P_filt(i, N, step.data());
        add(P_filt[p], N * N);
        moments.F(i, N, step.data());
        add(F[p], N * N);
        nll[p].push_back(moments.nll(i));
      }
    };
    run.place = [](int piece, int at) {
      return "<" + std::to_string(piece) + " at " + std::to_string(at) + ">";
    };
    ThreadTeam team(threads);
    infer::run_windows(run, team);
  }
};

std::vector<std::size_t> all_of(const KeptRun& run) {
  std::vector<std::size_t> all(run.y.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<int> many_lengths() {
  std::vector<int> lengths = {0, 1, 2, 63, 64, 65, 129, 200};
  for (int i = 0; i < 62; ++i) lengths.push_back((i * 37) % 90);
  return lengths;
}

TEST(WindowRun, ManyPiecesGiveWhatEachGivesAlone) {
  KeptRun one(many_lengths()), two(many_lengths()), alone(many_lengths());
  one(all_of(one), 1);
  two(all_of(two), 2);
  EXPECT_EQ(one.starts, 3);  // 70 pieces in groups of 32
  for (std::size_t s = 0; s < one.y.size(); ++s) {
    SCOPED_TRACE("piece " + std::to_string(s));
    alone({s}, 1);
    for (const auto& [a, b, c] : {std::make_tuple(one.x_pred[s], two.x_pred[s], alone.x_pred[0]),
                                  std::make_tuple(one.P_filt[s], two.P_filt[s], alone.P_filt[0]),
                                  std::make_tuple(one.nll[s], two.nll[s], alone.nll[0])}) {
      EXPECT_TRUE(same_bits(a, b));
      EXPECT_TRUE(same_bits(a, c));
    }
    // F of the first step leads from nowhere.
    const auto steps = [](const std::vector<double>& F) {
      return std::span(F).subspan(std::min<std::size_t>(N * N, F.size()));
    };
    EXPECT_TRUE(same_bits(steps(one.F[s]), steps(two.F[s])));
    EXPECT_TRUE(same_bits(steps(one.F[s]), steps(alone.F[0])));
  }
}

// A series that takes four windows, against one window that holds it all.
TEST(WindowRun, AStateIsCarriedFromWindowToWindow) {
  constexpr int kSteps = 200, kLanes = lanes::kLaneQuantum;
  static_assert(kSteps > 3 * infer::kRunWindow);
  KeptRun run({kSteps});
  run({0}, 1);
  heads::StateGroup<float> group;
  infer::prepare_group(*run.model, kSteps, kLanes, false, group);
  infer::LaneMemory memory = infer::empty_memory(M);
  group.length.assign(kLanes, 0);
  group.fresh.assign(kLanes, 1);
  group.length[0] = kSteps;
  for (int k = 0; k < kSteps; ++k)
    infer::fill_step<float>(*run.model, k, 0, {run.y[0].data(), kSteps}, k, memory, nullptr, group);
  Buffer<double> x_pred(kSteps * N * kLanes), nll(kSteps * kLanes);
  heads::StateWorkspace<float> workspace;
  workspace.prepare(run.model->window(), kSteps, kLanes, false);
  window_forward(run.model->window(), group.view(), group.carry,
                 {.x_pred = x_pred.data(), .nll = nll.data()}, workspace);
  for (std::size_t k = 0; k < kSteps; ++k) {
    EXPECT_EQ(run.nll[0][k], nll[k * kLanes]) << k;
    for (std::size_t n = 0; n < N; ++n)
      EXPECT_EQ(run.x_pred[0][k * N + n], x_pred[(k * N + n) * kLanes]) << k;
  }
}

TEST(WindowRun, TheWindowsOfAPieceComeInOrderAndHoldEveryStepOnce) {
  KeptRun run(many_lengths());
  for (const int threads : {1, 2}) {
    run(all_of(run), threads);
    for (std::size_t s = 0; s < run.y.size(); ++s) {
      int next = 0;
      for (const Visit& visit : run.visits[s]) {
        EXPECT_EQ(visit.first, next);
        EXPECT_GT(visit.count, 0);
        EXPECT_LE(visit.count, infer::kRunWindow);
        next += visit.count;
      }
      EXPECT_EQ(next, static_cast<int>(run.y[s].size() / M));
    }
  }
}

TEST(WindowRun, NoPiecesAndEmptyPieces) {
  KeptRun run({0, 0});
  run({}, 1);
  run({0, 1}, 1);
  EXPECT_TRUE(run.visits[0].empty() && run.visits[1].empty());
}

TEST(WindowRun, AnErrorNamesThePlace) {
  for (const int step : {0, 63, 64, 130}) {
    KeptRun run(many_lengths());
    run.y[7][static_cast<std::size_t>(step * M)] = 1e200;
    for (const int threads : {1, 2}) {
      try {
        run(all_of(run), threads);
        ADD_FAILURE() << "nothing was thrown";
      } catch (const NumericalError& error) {
        EXPECT_EQ(std::string(error.what()).find("<7 at " + std::to_string(step) + ">: "), 0u)
            << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace kalmia::test
