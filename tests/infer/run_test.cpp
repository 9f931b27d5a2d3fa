#include "infer/run.hpp"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "infer/infer_cases.hpp"
#include "support/model_reference.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia::infer {
namespace {

using test::LearnedCase;

constexpr RequestedMoments kEveryMoment{true, true, true};

// Everything a run gives of one piece.
struct PieceRun {
  std::vector<double> x_pred, P_pred, x_filt, P_filt, F, nll;
  std::vector<int> firsts;
};

struct Pieces {
  std::vector<std::vector<double>> y;  // in the model's units
  explicit Pieces(const Dataset& data) {
    for (const Series& series : data.series) y.push_back(series.y);
  }
  std::vector<SeriesView> view(std::size_t M) const {
    std::vector<SeriesView> result;
    for (const auto& each : y) result.push_back({each.data(), static_cast<int>(each.size() / M)});
    return result;
  }
};

// Random walks in the model's units.
Pieces walks(int channels, const std::vector<int>& lengths, std::uint64_t seed) {
  Dataset data = test::motion_data(channels, lengths, seed);
  const model::Units units = test::motion_description(channels).units;
  const auto M = static_cast<std::size_t>(channels);
  for (Series& series : data.series)
    for (std::size_t i = 0; i < series.y.size(); ++i)
      series.y[i] = (series.y[i] - units.y_offset[i % M]) / units.y_scale[i % M];
  return Pieces(data);
}

std::string run_piece_name(int piece) { return "piece " + std::to_string(piece); }

template <typename T>
std::vector<PieceRun> run(const model::LearnedModel<T>& model, std::span<const SeriesView> pieces,
                          int threads = 1, const RequestedMoments& wanted = kEveryMoment) {
  std::vector<PieceRun> runs(pieces.size());
  const int N = model.state_dim();
  ThreadTeam team(threads);
  run_filter(
      model, pieces, wanted, team,
      [&](int piece, int first, int count, const LaneMoments& moments) {
        PieceRun& to = runs[static_cast<std::size_t>(piece)];
        to.firsts.push_back(first);
        const auto append = [](std::vector<double>& array, int size) {
          array.resize(array.size() + static_cast<std::size_t>(size));
          return array.data() + array.size() - size;
        };
        for (int i = 0; i < count; ++i) {
          if (wanted.predicted) {
            moments.x_pred(i, N, append(to.x_pred, N));
            moments.P_pred(i, N, append(to.P_pred, N * N));
          }
          if (wanted.filtered) {
            moments.x_filt(i, N, append(to.x_filt, N));
            moments.P_filt(i, N, append(to.P_filt, N * N));
          }
          if (wanted.transition) moments.F(i, N, append(to.F, N * N));
          to.nll.push_back(moments.nll(i));
        }
      },
      run_piece_name);
  return runs;
}

void expect_same_bits(const PieceRun& a, const PieceRun& b, std::size_t piece) {
  EXPECT_TRUE(test::same_bits(a.x_pred, b.x_pred)) << piece;
  EXPECT_TRUE(test::same_bits(a.P_pred, b.P_pred)) << piece;
  EXPECT_TRUE(test::same_bits(a.x_filt, b.x_filt)) << piece;
  EXPECT_TRUE(test::same_bits(a.P_filt, b.P_filt)) << piece;
  EXPECT_TRUE(test::same_bits(a.nll, b.nll)) << piece;
}

// The specification of the learned models, fed with the features of each step before. A missing
// value that was seen before is predicted, and trusted by how certain it is.
reference::ModelRun reference_run(const model::LearnedModel<double>& model, const LearnedCase& made,
                                  std::span<const double> y) {
  reference::Model spec;
  spec.architecture = &model.architecture();
  spec.parameters = made.parameters;
  const reference::DenseSystem system =
      test::static_system(test::unscaled(test::motion_description(model.meas_dim())));
  spec.H = system.H;
  spec.R = system.R;
  spec.map = [&](const reference::Vector&, double, const reference::Vector&, reference::Matrix& F,
                 reference::Vector& e) {
    F = system.F;
    e.setZero();
  };
  spec.noise = [](const reference::Matrix& F, double dt, const reference::Matrix& L) {
    return reference::flow_noise(test::velocity_matrix(static_cast<int>(F.rows()) / 2),
                                 L * L.transpose(), dt);
  };
  const model::FeatureSpec& features = model.description().features;
  reference::ModelSequence sequence;
  sequence.y = test::vectors(y, model.meas_dim());
  std::vector<double> last(static_cast<std::size_t>(model.meas_dim()), std::nan(""));
  sequence.show = [&](std::size_t k, const reference::Gaussian& before,
                      reference::ModelSequence& all) {
    reference::Vector& input =
        all.input_fwd.emplace_back(reference::Vector::Zero(features.input_dim()));
    reference::Vector& centre =
        all.centre.emplace_back(reference::Vector::Zero(features.state_dim()));
    reference::Vector& trust = all.trust.emplace_back(reference::Vector::Ones(centre.size()));
    if (k == 0) return;
    reference::Vector shown = all.y[k - 1];
    for (int m = 0; m < model.meas_dim(); ++m) {
      if (!std::isnan(shown(m))) continue;
      const auto h = spec.H.row(m);
      const double share =
          h.dot(before.cov * h.transpose()) / std::pow(features.spread[std::size_t(m)], 2);
      trust.segment(2 * m, 2).setConstant(1 - std::min(1.0, share * share));
      if (!std::isnan(last[std::size_t(m)])) shown(m) = h.dot(before.mean);
    }
    features.step_to(shown.data(), last.data(), input.data(), centre.data());
  };
  return reference::run(spec, sequence);
}

TEST(RunFilter, EqualsTheReferenceWhereverWindowsAreCut) {
  for (const int channels : {1, 2}) {
    const LearnedCase made = test::network_case(channels, 51);
    const auto model = made.make<double>();
    const Pieces pieces = walks(channels, {65, 200, 1, 0, 64, 130, 2}, 52);
    const std::vector<PieceRun> runs = run(*model, pieces.view(static_cast<std::size_t>(channels)));
    const auto N = static_cast<std::size_t>(model->state_dim());
    for (std::size_t p = 0; p < runs.size(); ++p) {
      SCOPED_TRACE(run_piece_name(static_cast<int>(p)));
      const reference::ModelRun expected = reference_run(*model, made, pieces.y[p]);
      ASSERT_EQ(runs[p].nll.size(), expected.nll.size());
      for (std::size_t k = 0; k < expected.nll.size(); ++k) {
        const auto close = [&](const std::vector<double>& found, const auto& matrix,
                               const char* what) {
          const auto size = static_cast<std::size_t>(matrix.size());
          test::expect_close({found.data() + k * size, size}, {matrix.data(), size}, 1e-9,
                             what + (" of step " + std::to_string(k)));
        };
        close(runs[p].x_pred, expected.predicted[k].mean, "x_pred");
        close(runs[p].P_pred, expected.predicted[k].cov, "P_pred");
        close(runs[p].x_filt, expected.filtered[k].mean, "x_filt");
        close(runs[p].P_filt, expected.filtered[k].cov, "P_filt");
        ASSERT_NEAR(runs[p].nll[k], expected.nll[k], 1e-8);
      }
      // P_pred = F P_filt F' + L L', so F is not that of another step.
      for (std::size_t k = 1; k < expected.nll.size(); ++k) {
        using RowMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
        const auto n = static_cast<Eigen::Index>(N);
        const RowMatrix F = Eigen::Map<const RowMatrix>(runs[p].F.data() + k * N * N, n, n);
        const reference::Matrix Q =
            expected.predicted[k].cov - F * expected.filtered[k - 1].cov * F.transpose();
        EXPECT_GT(Eigen::SelfAdjointEigenSolver<reference::Matrix>(Q).eigenvalues()(0), 1)
            << "step " << k;
      }
    }
  }
}

// The networks must not see at step k what is measured at k.
TEST(RunFilter, NothingPredictedDependsOnTheMeasurementItPredicts) {
  const auto model = test::network_case(2, 53).make<float>();
  for (const std::size_t changed : {0u, 63u, 64u, 70u, 126u}) {
    Pieces pieces = walks(2, {140}, 54);
    double& value = pieces.y[0][changed * 2];
    value = 20;
    const PieceRun before = run(*model, pieces.view(2)).at(0);
    for (const double other : {70.0, std::nan("")}) {
      value = other;
      const PieceRun after = run(*model, pieces.view(2)).at(0);
      const auto head = [&](const std::vector<double>& array, std::size_t width) {
        return std::span<const double>(array.data(), (changed + 1) * width);
      };
      EXPECT_TRUE(test::same_bits(head(before.x_pred, 4), head(after.x_pred, 4))) << changed;
      EXPECT_TRUE(test::same_bits(head(before.P_pred, 16), head(after.P_pred, 16))) << changed;
      if (changed > 0) {
        EXPECT_TRUE(test::same_bits(std::span<const double>(before.F).subspan(16, changed * 16),
                                    std::span<const double>(after.F).subspan(16, changed * 16)))
            << changed;
      }
      EXPECT_NE(before.x_pred[(changed + 1) * 4], after.x_pred[(changed + 1) * 4]);
      // It does reach the networks: another F.
      EXPECT_NE(before.F[(changed + 1) * 16], after.F[(changed + 1) * 16]);
    }
  }
}

TEST(RunFilter, WindowsOfAPieceComeInOrder) {
  const auto model = test::static_case(1).make<float>();
  const std::vector<int> lengths = {0, 300, 64, 1, 128, 129};
  const std::vector<PieceRun> runs = run(*model, walks(1, lengths, 55).view(1), 2);
  EXPECT_TRUE(runs[0].firsts.empty());
  EXPECT_EQ(runs[1].firsts, (std::vector<int>{0, 64, 128, 192, 256}));
  EXPECT_EQ(runs[2].firsts, (std::vector<int>{0}));
  EXPECT_EQ(runs[3].firsts, (std::vector<int>{0}));
  EXPECT_EQ(runs[4].firsts, (std::vector<int>{0, 64}));
  EXPECT_EQ(runs[5].firsts, (std::vector<int>{0, 64, 128}));
  for (std::size_t p = 0; p < lengths.size(); ++p)
    EXPECT_EQ(runs[p].nll.size(), static_cast<std::size_t>(lengths[p]));
  EXPECT_TRUE(run(*model, std::span<const SeriesView>()).empty());
}

TEST(RunFilter, BitsDependNeitherOnCompanyNorOnThreads) {
  const auto model = test::network_case(2, 56).make<float>();
  std::vector<int> lengths;
  for (int i = 0; i < 75; ++i) lengths.push_back((i * 37) % 150);
  const Pieces pieces = walks(2, lengths, 57);
  const std::vector<SeriesView> view = pieces.view(2);
  const std::vector<PieceRun> one = run(*model, view, 1), two = run(*model, view, 2);
  for (std::size_t p = 0; p < lengths.size(); ++p) {
    expect_same_bits(one[p], two[p], p);
    if (p % 5 == 0) expect_same_bits(one[p], run(*model, {&view[p], 1}).at(0), p);
  }
}

TEST(RunFilter, LikelihoodsComeWithoutMoments) {
  const auto model = test::network_case(2, 58).make<float>();
  const Pieces pieces = walks(2, {100, 20}, 59);
  const std::vector<PieceRun> bare = run(*model, pieces.view(2), 1, {});
  const std::vector<PieceRun> full = run(*model, pieces.view(2), 1, kEveryMoment);
  for (std::size_t p = 0; p < 2; ++p) EXPECT_EQ(bare[p].nll, full[p].nll);
  const std::vector<PieceRun> filtered = run(*model, pieces.view(2), 1, {false, true, false});
  EXPECT_EQ(filtered[0].x_filt, full[0].x_filt);
}

TEST(RunFilter, ABreakdownNamesPieceAndStep) {
  const auto model = test::network_case(2, 60).make<float>();
  Pieces pieces = walks(2, {90, 40, 120, 80}, 61);
  pieces.y[2][2 * 70] = 1e200;
  for (const int threads : {1, 2})
    EXPECT_EQ(message_of<NumericalError>([&] { run(*model, pieces.view(2), threads); }),
              "piece 2, step 71: the likelihood is not finite; the measurements there are beyond "
              "anything the model can follow");
}

}  // namespace
}  // namespace kalmia::infer
