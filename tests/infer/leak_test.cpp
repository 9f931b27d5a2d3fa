#include "infer/leak.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "infer/filter_pass.hpp"
#include "infer/infer_cases.hpp"

namespace kalmia::test {
namespace {

using model::SmootherKind;

std::unique_ptr<model::LearnedModel<float>> smoother(int channels, SmootherKind kind) {
  std::unique_ptr<model::LearnedModel<float>> model = network_case(channels, 91).make<float>();
  give_smoother(*model, 92, kind);
  return model;
}

std::vector<double> random_values(int count, double missing) {
  RandomStream random(93, "values");
  std::vector<double> y;
  for (int i = 0; i < count; ++i)
    y.push_back(random.uniform() < missing ? std::nan("") : 80 * random.normal());
  return y;
}

// Makes what the networks add to the state large, so that there is something to leak.
void strengthen(model::LearnedModel<float>& model) {
  const heads::Architecture& architecture = model.smoother()->architecture();
  std::vector<float> p(model.smoother()->parameters().begin(),
                       model.smoother()->parameters().end());
  const int width = architecture.decoder.widths[architecture.decoder.widths.size() - 2];
  for (int i = 0; i < architecture.state_dim() * width; ++i)
    p[static_cast<std::size_t>(architecture.decoder.weight.back() + architecture.e_row() * width +
                               i)] *= 300;
  model.set_smoother_parameters(p);
}

// One value at a time, and the prediction's place in the state spelled out.
TEST(Leak, IsTheMeanDerivativeOfAPredictionByItsMeasurement) {
  constexpr int K = 50;
  ThreadTeam team(1);
  for (const SmootherKind kind : {SmootherKind::Recursive, SmootherKind::RecursiveAlternative}) {
    const auto model = smoother(1, kind);
    strengthen(*model);
    std::vector<double> y = random_values(K, 0.2);
    const infer::SeriesView piece{y.data(), K};
    const std::span<const infer::SeriesView> pieces(&piece, 1);
    double sum = 0, count = 0;
    for (std::size_t k = 0; k < K; ++k) {
      if (std::isnan(y[k])) continue;
      const double value = y[k];
      const double kStep = 0.2 * std::sqrt(model->emission().R()[0]);
      y[k] = value + kStep;
      const double up = infer::predict_left_out(*model, pieces, team)[0][k * 2];
      y[k] = value - kStep;
      const double down = infer::predict_left_out(*model, pieces, team)[0][k * 2];
      y[k] = value;
      sum += (up - down) / (2 * kStep);
      count += 1;
    }
    const double expected = sum / count;
    EXPECT_GT(std::abs(expected), 1e-3) << "the test's model should leak";
    EXPECT_NEAR(infer::measure_leak(*model, pieces, team, infer::kLeakStride), expected,
                0.02 * std::abs(expected));
  }
}

TEST(Leak, OfFusedAndRecurrentSmoothersIsNone) {
  constexpr int K = 700;
  ThreadTeam team(2);
  for (const SmootherKind kind : {SmootherKind::Fused, SmootherKind::Recurrent}) {
    const auto model = smoother(2, kind);
    const std::vector<double> y = random_values(2 * K, 0.1);
    const infer::SeriesView piece{y.data(), K};
    // What is left is what the other moved values do, whose signs are random.
    EXPECT_NEAR(infer::measure_leak(*model, std::span(&piece, 1), team), 0, 1e-4)
        << smoother_name(kind);
  }
}

TEST(Leak, OfNothingMeasuredIsNotANumber) {
  ThreadTeam team(1);
  const auto model = smoother(1, SmootherKind::Recursive);
  const std::vector<double> y(100, std::nan(""));
  const infer::SeriesView piece{y.data(), 100};
  EXPECT_TRUE(std::isnan(infer::measure_leak(*model, std::span(&piece, 1), team)));
  EXPECT_TRUE(std::isnan(infer::measure_leak(*model, {}, team)));
}

TEST(Leak, DoesNotDependOnThreads) {
  const auto model = smoother(2, SmootherKind::Recursive);
  const std::vector<double> y = random_values(2 * 900, 0.1);
  const infer::SeriesView piece{y.data(), 900};
  ThreadTeam one(1), two(2);
  EXPECT_EQ(infer::measure_leak(*model, std::span(&piece, 1), one),
            infer::measure_leak(*model, std::span(&piece, 1), two));
}

}  // namespace
}  // namespace kalmia::test
