#include "infer/two_sided_run.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "infer/infer_cases.hpp"
#include "kalmia/error.hpp"
#include "support/encoders.hpp"
#include "support/model_reference.hpp"

namespace kalmia::test {
namespace {

using infer::SeriesView;
using model::SmootherKind;

constexpr int N = 4, M = 2;
constexpr SmootherKind kKinds[] = {SmootherKind::Recurrent, SmootherKind::Recursive,
                                   SmootherKind::RecursiveAlternative};

std::unique_ptr<model::LearnedModel<float>> smoother(
    SmootherKind kind, std::uint64_t seed, nn::EncoderKind encoder = nn::EncoderKind::Gru) {
  std::unique_ptr<model::LearnedModel<float>> model = network_case(2, seed, encoder).make<float>();
  give_smoother(*model, seed + 1, kind);
  return model;
}

using Series = std::vector<double>;

std::vector<Series> random_series(const std::vector<int>& lengths, std::uint64_t seed) {
  RandomStream random(seed, "pieces");
  std::vector<Series> all;
  for (const int steps : lengths) {
    Series& y = all.emplace_back();
    for (int i = 0; i < M * steps; ++i)
      y.push_back(random.uniform() < 0.2 ? std::nan("") : 80 * random.normal());
  }
  return all;
}

std::vector<SeriesView> pieces_of(const std::vector<Series>& all) {
  std::vector<SeriesView> pieces;
  for (const Series& y : all) pieces.push_back({y.data(), static_cast<int>(y.size()) / M});
  return pieces;
}

struct Result {
  struct One {
    std::vector<double> x_pred, P_pred, x, P, nll;
    bool operator==(const One&) const = default;
  };
  std::vector<One> series;

  Result(const model::LearnedModel<float>& model, std::span<const SeriesView> pieces,
         int threads = 1) {
    const int n = model.state_dim();
    for (const SeriesView& piece : pieces) {
      const auto K = static_cast<std::size_t>(piece.steps), rows = static_cast<std::size_t>(n);
      const double kNotSet = 12345;
      series.push_back(
          {std::vector<double>(K * rows, kNotSet), std::vector<double>(K * rows * rows, kNotSet),
           std::vector<double>(K * rows, kNotSet), std::vector<double>(K * rows * rows, kNotSet),
           std::vector<double>(K, kNotSet)});
    }
    ThreadTeam team(threads);
    infer::run_two_sided(
        model, pieces, {.predicted = true, .filtered = true}, team,
        [&](int p, int first, int count, const infer::LaneMoments& moments) {
          One& to = series[static_cast<std::size_t>(p)];
          for (int i = 0; i < count; ++i) {
            const int k = first + i;
            EXPECT_EQ(to.nll[static_cast<std::size_t>(k)], 12345) << "twice";
            moments.x_pred(i, n, to.x_pred.data() + k * n);
            moments.P_pred(i, n, to.P_pred.data() + k * n * n);
            moments.x_filt(i, n, to.x.data() + k * n);
            moments.P_filt(i, n, to.P.data() + k * n * n);
            to.nll[static_cast<std::size_t>(k)] = moments.nll(i);
          }
        },
        [](int p) { return "piece " + std::to_string(p); });
  }
};

TEST(TwoSidedRun, ManyPiecesGiveWhatEachGivesAloneWithAnyThreads) {
  for (const SmootherKind kind : kKinds) {
    const auto model = smoother(kind, 61);
    std::vector<int> lengths = {0, 1, 2, 640, 641, 1300, 65};
    for (int i = 0; i < 40; ++i) lengths.push_back((i * 37) % 90);
    const std::vector<Series> data = random_series(lengths, 62);
    const std::vector<SeriesView> pieces = pieces_of(data);
    const Result one(*model, pieces, 1), two(*model, pieces, 2);
    for (std::size_t s = 0; s < pieces.size(); ++s) {
      SCOPED_TRACE(std::string(smoother_name(kind)) + ", piece " + std::to_string(s));
      EXPECT_TRUE(one.series[s] == two.series[s]) << "threads";
      if (pieces[s].steps == 0) continue;
      const Result alone(*model, std::span(&pieces[s], 1));
      EXPECT_TRUE(one.series[s] == alone.series[0]);
      for (const double nll : one.series[s].nll) ASSERT_NE(nll, 12345);
    }
  }
}

// The whole way by naive code, for a series that is not cut.
TEST(TwoSidedRun, MatchesTheNaiveComputation) {
  for (const SmootherKind kind : kKinds) {
    SCOPED_TRACE(smoother_name(kind));
    const auto model = smoother(kind, 63);
    const std::vector<Series> data = random_series({40}, 64);
    const Result found(*model, pieces_of(data));
    const model::FeatureSpec& features = model->description().features;
    reference::Model naive;
    naive.architecture = &model->smoother()->architecture();
    for (const float p : model->smoother()->parameters()) naive.parameters.push_back(p);
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    naive.H = Eigen::Map<const RowMajor>(model->emission().H().data(), M, N);
    naive.R = Eigen::Map<const RowMajor>(model->emission().R().data(), M, M);
    naive.map = [](const Vector&, double, const Vector&, Matrix& F, Vector& e) {
      F.setIdentity();
      F(0, 1) = F(2, 3) = 1;
      e.setZero();
    };
    naive.noise = [](const Matrix&, double dt, const Matrix& L) {
      return reference::flow_noise(test::velocity_matrix(M), L * L.transpose(), dt);
    };
    constexpr int K = 40;
    const auto y = [&](int k, int c) { return data[0][static_cast<std::size_t>(k * M + c)]; };
    // The value of a channel that is seen nearest to k in one direction, and where.
    const auto nearest = [&](int k, int c, int step) {
      int at = k + step;
      while (at >= 0 && at < K && std::isnan(y(at, c))) at += step;
      return at;
    };
    const auto input = [&](int k, int step) {
      Vector x = Vector::Zero(features.input_dim());
      int row = 0;
      const int now = k + step;
      if (now < 0 || now >= K) return x;
      for (int c = 0; c < M; ++c) {
        const int before = nearest(now, c, step);
        const bool measured = !std::isnan(y(now, c)), seen = before >= 0 && before < K;
        const double last = measured ? y(now, c) : seen ? y(before, c) : std::nan("");
        const auto i = static_cast<std::size_t>(c);
        x(row++) = measured && seen ? (y(now, c) - y(before, c)) / features.step[i] : 0;
        if (features.use_level[i] != 0)
          x(row++) = std::isnan(last) ? 0 : (last - features.mean[i]) / features.spread[i];
        x(row++) = measured ? 1 : 0;
      }
      return x;
    };
    reference::ModelSequence sequence;
    sequence.fresh = true;
    for (int k = 0; k < K; ++k) {
      sequence.input_fwd.push_back(input(k, -1));
      sequence.input_bwd.push_back(input(k, 1));
      sequence.y.push_back(Eigen::Map<const Vector>(data[0].data() + k * M, M));
      Vector centre(N);
      for (int c = 0; c < M; ++c) {
        const int a = nearest(k, c, -1), b = nearest(k, c, 1);
        double value = std::nan("");
        if (a >= 0 && b >= K)
          value = y(a, c);
        else if (a < 0 && b < K)
          value = y(b, c);
        else if (a >= 0)
          value = y(a, c) + (y(b, c) - y(a, c)) * (k - a) / (b - a);
        centre(2 * c) = value;
        centre(2 * c + 1) = std::isnan(value) ? value : 0;
      }
      sequence.centre.push_back(centre);
    }
    const reference::ModelRun expected = reference::run(naive, sequence);
    for (std::size_t k = 0; k < K; ++k) {
      SCOPED_TRACE("step " + std::to_string(k));
      const auto& one = found.series[0];
      expect_close(std::span(one.x_pred).subspan(k * N, N), {expected.predicted[k].mean.data(), N},
                   1e-4, "x_pred");
      expect_close(std::span(one.x).subspan(k * N, N), {expected.filtered[k].mean.data(), N}, 1e-4,
                   "x");
      expect_close(std::span(one.P).subspan(k * N * N, N * N),
                   {expected.filtered[k].cov.data(), N * N}, 1e-4, "P");
    }
  }
}

// What the networks of step k read: inputs up to it forwards, from it on backwards, and the centre.
TEST(TwoSidedRun, WhatIsReadForAStepNeverHoldsItsMeasurement) {
  constexpr int K = 30, kLanes = 16;
  for (const SmootherKind kind : kKinds) {
    const auto model = smoother(kind, 65);
    const int inputs = model->description().features.input_dim();
    std::vector<Series> data = random_series({K}, 66);
    const auto filled = [&](const Series& y) {
      heads::StateGroup<float> group;
      infer::prepare_two_sided_group(*model, K, kLanes, false, group);
      infer::LaneMemory memory = infer::empty_memory(M);
      infer::LaneWindow window;
      window.y = y.data();
      window.steps = K;
      infer::fill_two_sided(*model, 0, window, memory, group);
      return group;
    };
    const heads::StateGroup<float> before = filled(data[0]);
    for (int k = 0; k < K; ++k) {
      Series changed = data[0];
      for (int c = 0; c < M; ++c) changed[static_cast<std::size_t>(k * M + c)] = 500 + c;
      const heads::StateGroup<float> after = filled(changed);
      const auto same = [&](const auto& a, const auto& b, int rows, int from, int to) {
        for (int i = from; i < to; ++i)
          for (int row = 0; row < rows; ++row) {
            const auto at = static_cast<std::size_t>((i * rows + row) * kLanes);
            if (!(a[at] == b[at] || (std::isnan(a[at]) && std::isnan(b[at])))) return false;
          }
        return true;
      };
      EXPECT_TRUE(same(before.input_fwd, after.input_fwd, inputs, 0, k + 1)) << k;
      EXPECT_TRUE(same(before.input_bwd, after.input_bwd, inputs, k, K)) << k;
      EXPECT_TRUE(same(before.centre, after.centre, N, k, k + 1)) << k;
      EXPECT_FALSE(same(before.input_fwd, after.input_fwd, inputs, 0, K) &&
                   same(before.input_bwd, after.input_bwd, inputs, 0, K))
          << k;
    }
  }
}

TEST(TwoSidedRun, ARecurrentPredictionDoesNotDependOnItsMeasurement) {
  for_each_encoder([](nn::EncoderKind encoder) {
    const auto model = smoother(SmootherKind::Recurrent, 67, encoder);
    const std::vector<Series> data = random_series({30}, 68);
    const Result before(*model, pieces_of(data));
    for (int k = 0; k < 30; ++k) {
      std::vector<Series> changed = data;
      for (int c = 0; c < M; ++c) changed[0][static_cast<std::size_t>(k * M + c)] = 500 + c;
      const Result after(*model, pieces_of(changed));
      const auto at = [&](const Result& r) {
        return std::span(r.series[0].x_pred).subspan(static_cast<std::size_t>(k * N), N);
      };
      EXPECT_TRUE(same_bits(at(before), at(after))) << k;
      EXPECT_FALSE(same_bits(before.series[0].x_pred, after.series[0].x_pred)) << k;
    }
  });
}

// What is hidden from the networks still updates the state; nothing that predicts it has seen it,
// not even through the state before.
TEST(TwoSidedRun, AHiddenMeasurementDoesNotReachItsOwnPrediction) {
  constexpr int K = 30;
  for (const SmootherKind kind : kKinds) {
    SCOPED_TRACE(smoother_name(kind));
    const auto model = smoother(kind, 75);
    const std::vector<Series> data = random_series({K}, 76);
    for (int k = 0; k < K; ++k) {
      Series shown = data[0], changed = data[0];
      for (int c = 0; c < M; ++c) {
        shown[static_cast<std::size_t>(k * M + c)] = std::nan("");
        changed[static_cast<std::size_t>(k * M + c)] = 500 + c;
      }
      const auto run = [&](const Series& y, const Series& networks_see) {
        SeriesView piece{y.data(), K};
        piece.shown = networks_see.data();
        return Result(*model, std::span(&piece, 1)).series[0];
      };
      const Result::One before = run(data[0], shown), after = run(changed, shown);
      const auto at = [&](const std::vector<double>& x) {
        return std::span(x).subspan(static_cast<std::size_t>(k * N), N);
      };
      EXPECT_TRUE(same_bits(at(before.x_pred), at(after.x_pred))) << k;
      EXPECT_FALSE(same_bits(at(before.x), at(after.x))) << k;
      if (kind == SmootherKind::Recursive && k > 1) {  // the first state is given
        const Result::One seen = run(changed, changed);
        EXPECT_FALSE(same_bits(at(before.x_pred), at(seen.x_pred))) << k;
      }
    }
  }
}

// Encoders forget: far from the cut a segment gives what the whole series does. The model here
// forgets within tens of steps, as its weights are small.
TEST(TwoSidedRun, SegmentsAgreeWithOneLongRun) {
  constexpr int kLong = 3 * infer::kSegment;
  for (const SmootherKind kind : kKinds) {
    SCOPED_TRACE(smoother_name(kind));
    const auto model = smoother(kind, 69);
    const std::vector<Series> data = random_series({kLong}, 70);
    const Result cut(*model, pieces_of(data));
    // In one window, by the engine itself.
    heads::StateGroup<float> group;
    infer::prepare_two_sided_group(*model, kLong, 16, false, group);
    infer::LaneMemory memory = infer::empty_memory(M);
    infer::fill_two_sided(*model, 0, {.y = data[0].data(), .steps = kLong}, memory, group);
    group.length[0] = kLong;
    heads::StateWorkspace<float> workspace;
    workspace.prepare(model->smoother_window(), kLong, 16, false);
    Buffer<double> x(static_cast<std::size_t>(kLong * N * 16));
    heads::StateMoments moments;
    moments.x_filt = x.data();
    engine::window_forward(model->smoother_window(), group.view(), group.carry, moments, workspace);
    double worst = 0, deviation = 0;
    for (int k = 0; k < kLong; ++k)
      for (int n = 0; n < N; ++n) {
        const auto i = static_cast<std::size_t>(k * N + n);
        worst = std::max(worst, std::abs(cut.series[0].x[i] - x[i * 16]));
        deviation = std::max(
            deviation, std::sqrt(cut.series[0].P[static_cast<std::size_t>((k * N + n) * N + n)]));
      }
    EXPECT_LT(worst, 1e-3 * deviation);
  }
}

// Steps of any length and inputs reach both directions.
TEST(TwoSidedRun, IrregularStepsAndInputsAreRead) {
  const auto model = pendulum_case().make<float>();
  give_smoother(*model, 71, SmootherKind::Recurrent);
  constexpr int K = 20;
  RandomStream random(72, "driven");
  std::vector<double> y, dt, u;
  for (int k = 0; k < K; ++k) {
    dt.push_back(0.5 + random.uniform());
    for (int c = 0; c < 2; ++c) {
      y.push_back(random.normal());
      u.push_back(random.normal());
    }
  }
  const auto run = [&] {
    const SeriesView piece{y.data(), K, dt.data(), u.data()};
    return Result(*model, std::span(&piece, 1)).series[0].x_pred;
  };
  const std::vector<double> before = run();
  const auto changed_from_to = [&](double& value) {
    const double old = value;
    value = 1.7;
    const std::vector<double> after = run();
    value = old;
    int first = K, last = -1;
    for (int k = 0; k < K; ++k)
      for (int n = 0; n < 2; ++n)
        if (after[static_cast<std::size_t>(k * 2 + n)] !=
            before[static_cast<std::size_t>(k * 2 + n)]) {
          first = std::min(first, k);
          last = std::max(last, k);
        }
    return std::pair(first, last);
  };
  EXPECT_EQ(changed_from_to(dt[10]), std::pair(0, K - 1));
  EXPECT_EQ(changed_from_to(u[20]), std::pair(0, K - 1));      // acts from step 10 to 11
  EXPECT_EQ(changed_from_to(u[2 * K - 2]), std::pair(K, -1));  // acts after the end
}

TEST(TwoSidedRun, ASeriesOfOneStepHasTheInitialState) {
  const auto model = smoother(SmootherKind::Recurrent, 73);
  const std::vector<Series> data = {{1, 2}};
  const Result found(*model, pieces_of(data));
  const heads::PackedModel<float>& net = model->smoother()->network();
  for (std::size_t n = 0; n < N; ++n) EXPECT_EQ(found.series[0].x_pred[n], net.initial.e[n]);
}

TEST(TwoSidedRun, BreakdownsAreNamed) {
  const auto model = lorenz_case().make<float>();
  give_smoother(*model, 74, SmootherKind::Recursive);
  std::vector<double> y(3 * 700, 1.0);
  y[3 * 600] = 1e90;
  const SeriesView piece{y.data(), 700};
  ThreadTeam team(1);
  try {
    infer::run_two_sided(
        *model, std::span(&piece, 1), {}, team, [](int, int, int, const infer::LaneMoments&) {},
        [](int) { return std::string("the series"); });
    FAIL() << "nothing was thrown";
  } catch (const NumericalError& error) {
    EXPECT_EQ(std::string(error.what()).find("the series, step 60"), 0u) << error.what();
  }
}

}  // namespace
}  // namespace kalmia::test
