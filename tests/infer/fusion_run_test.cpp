#include "infer/fusion_run.hpp"

#include <gtest/gtest.h>

#include "infer/fused_cases.hpp"
#include "kalmia/error.hpp"
#include "support/ensembles.hpp"
#include "support/model_reference.hpp"

namespace kalmia::test {
namespace {

using infer::FusionView;

constexpr int N = 4, M = 2;

std::vector<int> many_lengths() {
  std::vector<int> lengths = {0, 1, 2, 63, 64, 65, 129, 200};
  for (int i = 0; i < 40; ++i) lengths.push_back((i * 37) % 90);
  return lengths;
}

TEST(FusionRun, ManyPiecesGiveWhatEachGivesAlone) {
  const auto model = fused_model(51);
  const FusedSeries data(*model, many_lengths(), 52);
  const std::vector<FusionView> pieces = data.fusion_views();
  const FusedResult one(*model, pieces, 1), two(*model, pieces, 2);
  for (std::size_t s = 0; s < pieces.size(); ++s) {
    SCOPED_TRACE("piece " + std::to_string(s));
    EXPECT_TRUE(one.series[s] == two.series[s]) << "threads";
    if (pieces[s].steps == 0) continue;
    const FusedResult alone(*model, {pieces[s]});
    EXPECT_TRUE(one.series[s] == alone.series[0]);
    // From the end to the beginning, every step once.
    ASSERT_EQ(one.series[s].visits.size(), static_cast<std::size_t>(pieces[s].steps));
    for (int i = 0; i < pieces[s].steps; ++i)
      ASSERT_EQ(one.series[s].visits[static_cast<std::size_t>(i)], pieces[s].steps - 1 - i);
  }
}

// The whole way by naive code: features and centres of the values after a step, last one first.
TEST(FusionRun, MatchesTheNaiveComputation) {
  const auto model = fused_model(53);
  const FusedSeries data(*model, {90, 1, 17}, 54);
  const FusedResult found(*model, data.fusion_views());
  const model::FeatureSpec& features = model->description().features;
  reference::Model naive;
  naive.architecture = &model->smoother()->architecture();
  for (const float p : model->smoother()->parameters()) naive.parameters.push_back(p);
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  naive.H = Eigen::Map<const RowMajor>(model->emission().H().data(), M, N);
  naive.R = Eigen::Map<const RowMajor>(model->emission().R().data(), M, M);
  for (int s = 0; s < 3; ++s) {
    const FusionView piece = data.view(s);
    reference::ModelSequence sequence;
    std::vector<reference::Gaussian> prior;
    std::vector<double> last(M, std::nan(""));
    for (int k = piece.steps - 1; k >= 0; --k) {
      Vector input = Vector::Zero(features.channel_features()), centre(N);
      if (k + 1 < piece.steps) {
        int row = 0;
        for (std::size_t c = 0; c < M; ++c) {
          const double y = piece.y[static_cast<std::size_t>(k + 1) * M + c];
          const bool measured = !std::isnan(y), seen = !std::isnan(last[c]);
          input(row++) = measured && seen ? (y - last[c]) / features.step[c] : 0;
          if (measured) last[c] = y;
          if (features.use_level[c] != 0)
            input(row++) = measured || seen ? (last[c] - features.mean[c]) / features.spread[c] : 0;
          input(row++) = measured ? 1 : 0;
        }
      }
      for (int c = 0; c < M; ++c) {  // position, velocity
        centre(2 * c) = last[static_cast<std::size_t>(c)];
        centre(2 * c + 1) = std::isnan(centre(2 * c)) ? centre(2 * c) : 0;
      }
      sequence.input_fwd.push_back(input.cwiseMin(model::kFeatureLimit)
                                       .cwiseMax(-model::kFeatureLimit)
                                       .cast<float>()
                                       .cast<double>());
      sequence.centre.push_back(centre);
      sequence.y.emplace_back(Eigen::Map<const Vector>(piece.y + k * M, M));
      prior.push_back({Eigen::Map<const Vector>(piece.x_pred + k * N, N),
                       Eigen::Map<const Matrix>(piece.P_pred + k * N * N, N, N)});
    }
    const std::vector<reference::FusedStep> expected = reference::fuse(naive, sequence, prior);
    for (int k = 0; k < piece.steps; ++k) {
      SCOPED_TRACE("piece " + std::to_string(s) + ", step " + std::to_string(k));
      const reference::FusedStep& e = expected[static_cast<std::size_t>(piece.steps - 1 - k)];
      const FusedResult::Series& f = found.series[static_cast<std::size_t>(s)];
      const auto matrix = [&](const std::vector<double>& values, int cols) -> Matrix {
        return Eigen::Map<const Matrix>(step_of(values, k, N * cols).data(), N, cols);
      };
      ASSERT_LE(difference(matrix(f.x_fused, 1), e.fused.mean), 1e-3);
      ASSERT_LE(difference(matrix(f.P_fused, N), e.fused.cov), 1e-3);
      ASSERT_LE(difference(matrix(f.x_smooth, 1), e.smoothed.mean), 1e-3);
      ASSERT_LE(difference(matrix(f.P_smooth, N), e.smoothed.cov), 1e-3);
      ASSERT_NEAR(f.nll[static_cast<std::size_t>(k)], e.nll, 1e-3 * std::max(1.0, e.nll));
    }
  }
}

// Filter and fusion together: the prediction of y[k] from all others is the same, bit for bit,
// whatever y[k] is; others notice it.
TEST(FusionRun, NothingThatPredictsAMeasurementHasSeenIt) {
  const auto model = fused_model(55);
  constexpr int kSteps = 80;
  const std::vector<std::vector<double>> y = FusedSeries::random_series({kSteps}, 56);
  const FusedResult::Series plain =
      FusedResult(*model, FusedSeries(*model, y).fusion_views()).series[0];
  for (int k = 0; k < kSteps; ++k)
    for (const double value : {300.0, std::nan("")}) {
      SCOPED_TRACE("changed " + std::to_string(k));
      std::vector<std::vector<double>> changed = y;
      for (int m = 0; m < M; ++m) changed[0][static_cast<std::size_t>(k * M + m)] = value;
      const FusedResult::Series other =
          FusedResult(*model, FusedSeries(*model, changed).fusion_views()).series[0];
      EXPECT_TRUE(same_bits(step_of(plain.x_fused, k, N), step_of(other.x_fused, k, N)));
      EXPECT_TRUE(same_bits(step_of(plain.P_fused, k, N * N), step_of(other.P_fused, k, N * N)));
      if (std::isnan(value)) {
        EXPECT_EQ(other.nll[static_cast<std::size_t>(k)], 0);
        EXPECT_TRUE(same_bits(step_of(other.x_smooth, k, N), step_of(other.x_fused, k, N)));
        continue;
      }
      EXPECT_FALSE(same_bits(step_of(plain.x_smooth, k, N), step_of(other.x_smooth, k, N)));
      if (k > 0) {
        EXPECT_FALSE(same_bits(step_of(plain.x_fused, k - 1, N), step_of(other.x_fused, k - 1, N)));
      }
      if (k + 1 < kSteps) {
        EXPECT_FALSE(same_bits(step_of(plain.x_fused, k + 1, N), step_of(other.x_fused, k + 1, N)));
      }
    }
}

// With the filter's predictions held, the past plays no part, and the last step has no future.
TEST(FusionRun, ReadsTheFutureAlone) {
  const auto model = fused_model(57);
  constexpr int kSteps = 100, kAt = 40;
  FusedSeries data(*model, {kSteps}, 58);
  const FusedResult::Series plain = FusedResult(*model, data.fusion_views()).series[0];
  EXPECT_TRUE(same_bits(step_of(plain.x_fused, kSteps - 1, N),
                        std::span(data.view(0).x_pred + (kSteps - 1) * N, N)));
  EXPECT_TRUE(same_bits(step_of(plain.P_fused, kSteps - 1, N * N),
                        std::span(data.view(0).P_pred + (kSteps - 1) * N * N, N * N)));
  for (int i = 0; i < kAt * M; ++i) data.y[0][static_cast<std::size_t>(i)] = 5;
  const FusedResult::Series other = FusedResult(*model, data.fusion_views()).series[0];
  for (int k = 0; k < kSteps; ++k) {
    EXPECT_EQ(same_bits(step_of(plain.x_fused, k, N), step_of(other.x_fused, k, N)), k + 1 >= kAt)
        << k;
    EXPECT_EQ(same_bits(step_of(plain.x_smooth, k, N), step_of(other.x_smooth, k, N)), k >= kAt)
        << k;
  }
}

TEST(FusionRun, AnErrorNamesThePieceAndTheStepInTheUsersOrder) {
  const auto model = fused_model(59);
  FusedSeries data(*model, {30, 150, 150, 7}, 60);
  for (const int step : {0, 17, 149}) {
    FilterResult& r = data.pass.moments;
    double* P = r.predicted.covariance.data() + kalman::row_at(r, 2, step, N * N);
    const double before = P[0];
    double& y = data.y[2][static_cast<std::size_t>(step) * M];
    const double value = y;
    y = 1;
    P[0] = -1e9;
    try {
      const FusedResult result(*model, data.fusion_views());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const NumericalError& error) {
      EXPECT_EQ(std::string(error.what()).find("piece 2, step " + std::to_string(step + 1) + ":"),
                0u)
          << error.what();
    }
    P[0] = before;
    y = value;
  }
}

TEST(FusePass, SetsTheSmoothedMomentsOfEverySeries) {
  const auto model = fused_model(61);
  FusedSeries data(*model, {70, 0, 3, 129}, 62);
  ThreadTeam team(2);
  infer::smooth_by_networks(*model, data.views(), data.pass, team,
                            [](int p) { return std::to_string(p); });
  const FusedResult expected(*model, data.fusion_views());
  const FilterResult& r = data.pass.moments;
  for (int s = 0; s < 4; ++s) {
    const FusedResult::Series& e = expected.series[static_cast<std::size_t>(s)];
    if (e.nll.empty()) continue;
    EXPECT_TRUE(
        same_bits(std::span(r.smoothed.mean.data() + kalman::row_at(r, s, 0, N), e.x_smooth.size()),
                  e.x_smooth));
    EXPECT_TRUE(same_bits(
        std::span(r.smoothed.covariance.data() + kalman::row_at(r, s, 0, N * N), e.P_smooth.size()),
        e.P_smooth));
  }
}

// Through the public model, in the user's units.
TEST(FusionRun, TheModelSmoothsWithIt) {
  const auto with_smoother = [](bool fused) {
    std::unique_ptr<model::LearnedModel<float>> learned = network_case(2, 63).make<float>();
    if (fused) give_smoother(*learned, 63);
    return learned;
  };
  const Dataset data = motion_data(2, {60, 1, 5, 100}, 64);
  const Model fused = test::model_of(with_smoother(true));
  const Model linearized = test::model_of(with_smoother(false));
  const Estimates smoothed = fused.smooth(data), filtered = fused.filter(data);
  expect_same_bits(filtered, linearized.filter(data));
  expect_same_bits(smoothed, fused.smooth(data, 2));
  const Estimates other = linearized.smooth(data);
  for (std::size_t s = 0; s < data.series.size(); ++s) {
    const StateEstimates &a = smoothed.series[s], &b = filtered.series[s];
    const int last = data.series[s].steps - 1;
    // Where there is no future the filter has the last word.
    expect_close(step_of(a.mean, last, N), step_of(b.mean, last, N), 1e-9, "mean");
    expect_close(step_of(a.covariance, last, N * N), step_of(b.covariance, last, N * N), 1e-9,
                 "covariance");
    if (last > 0) {
      EXPECT_FALSE(same_bits(a.mean, other.series[s].mean));
    }
  }
}

// A pendulum with a fused smoother: its map reads inputs, its steps differ in length.
struct DrivenPieces {
  std::unique_ptr<model::LearnedModel<float>> model = pendulum_case().make<float>();
  std::vector<double> y, x_pred, P_pred, dt_ratio, u;

  explicit DrivenPieces(int steps) {
    give_smoother(*model, 55);
    RandomStream random(56, "driven");
    for (int k = 0; k < steps; ++k) {
      for (int m = 0; m < 2; ++m) {
        y.push_back(random.uniform() < 0.2 ? std::nan("") : 40 * random.normal());
        x_pred.push_back(40 * random.normal());
        u.push_back(0.3 * random.normal());
      }
      P_pred.insert(P_pred.end(), {900, 10, 10, 1200});
      dt_ratio.push_back(random.uniform(0.5, 2));
    }
  }
  std::vector<double> smoothed() const {
    const FusionView piece{y.data(),        x_pred.data(),
                           P_pred.data(),   static_cast<int>(dt_ratio.size()),
                           dt_ratio.data(), u.data()};
    std::vector<double> x(x_pred.size());
    ThreadTeam team(1);
    infer::run_fusion(
        *model, {&piece, 1}, {.filtered = true}, team,
        [&](int, int last, int count, const infer::LaneMoments& moments) {
          for (int j = 0; j < count; ++j) moments.x_filt(j, 2, x.data() + 2 * (last - j));
        },
        [](int) { return std::string("a piece"); });
    return x;
  }
};

// What is to come tells of the state by way of the steps that lead there: their lengths and inputs.
TEST(FusionRun, ReadsWhatDrivesTheStepsToCome) {
  constexpr int kSteps = 30, kAt = 17;
  const DrivenPieces data(kSteps);
  const std::vector<double> before = data.smoothed();
  const auto check = [&](const DrivenPieces& moved) {
    const std::vector<double> after = moved.smoothed();
    for (std::size_t k = 0; k < kSteps; ++k) {
      const bool changed = after[2 * k] != before[2 * k];
      // Of the step from kAt on: those before it see it, for a while at least.
      if (k >= kAt) {
        EXPECT_EQ(changed, k == kAt) << k;
      }
    }
  };
  for (const std::size_t input : {0, 1}) {
    DrivenPieces moved(kSteps);
    moved.u[2 * kAt + input] += 0.2;
    check(moved);
  }
  DrivenPieces longer(kSteps);
  longer.dt_ratio[kAt + 1] *= 1.5;
  check(longer);
}

}  // namespace
}  // namespace kalmia::test
