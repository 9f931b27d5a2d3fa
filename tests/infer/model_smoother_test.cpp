// Which smoother a model uses, and iterated smoothing.
#include <gtest/gtest.h>

#include <vector>

#include "infer/infer_cases.hpp"
#include "kalmia/fit.hpp"
#include "kalmia/simulate.hpp"
#include "support/ensembles.hpp"
#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

using test::expect_same_bits;
using test::motion_data;
using test::public_model;

const std::vector<int> kSmootherLengths = {65, 0, 300, 1, 2};

TEST(Model, IteratedSmoothingOfALinearModelSettlesAtOnce) {
  const Dataset data = motion_data(2, kSmootherLengths, 3, 0.2);
  const Model model = public_model(test::static_case(2));
  const Estimates once = model.smooth(data, 1), again = model.smooth(data, 2, {"linearized", 5});
  for (std::size_t s = 0; s < kSmootherLengths.size(); ++s)
    EXPECT_EQ(again.series[s].mean, once.series[s].mean);
}

// With a map that bends, the second pass linearises it where the state was, not where the filter
// thought it was.
TEST(Model, IteratedSmoothingComesNearerToTheTruth) {
  SimulateOptions options;
  options.steps = 2000;
  const Dataset data = simulate("lorenz", options);
  FitOptions fitting;
  fitting.model.effort = "quick";
  fitting.model.prior = "lorenz";
  fitting.model.integration.flow = "rk4";
  fitting.model.integration.substeps = 2;
  fitting.model.noise = "0.5";
  fitting.model.hidden = 0;
  fitting.train.threads = 1;
  const Model model = fit(data, fitting).model;
  const auto error = [&](int iterations) {
    const Estimates found = model.smooth(data, 1, {"linearized", iterations});
    double sum = 0;
    for (std::size_t i = 0; i < found.series[0].mean.size(); ++i) {
      const double d = found.series[0].mean[i] - data.series[0].x[i];
      sum += d * d;
    }
    return sum;
  };
  const double once = error(0), thrice = error(3);
  EXPECT_LT(thrice, 0.9 * once);
  EXPECT_NEAR(error(20), thrice, 0.05 * thrice);
}

TEST(Model, SmoothersThatCannotBeAreRefused) {
  const Dataset data = motion_data(2, {5}, 3, 0);
  const Model model = public_model(test::static_case(2));
  EXPECT_THROW(model.smooth(data, 1, {"backwards", 0}), ConfigError);
  EXPECT_THROW(model.smooth(data, 1, {"fused", 0}), ConfigError);
  EXPECT_THROW(model.smooth(data, 1, {"auto", -1}), ConfigError);
  EXPECT_THROW(model.smooth(data, 1, {"fused", 3}), ConfigError);
  EXPECT_THROW(model.smooth(data, 1, {"recurrent", 0}), ConfigError);
  EXPECT_FALSE(model.leak(data).has_value());
}

Model with_smoother(const test::LearnedCase& made, model::SmootherKind kind) {
  auto learned = made.make<float>();
  test::give_smoother(*learned, 17, kind);
  return test::model_of(std::move(learned));
}

TEST(Model, TheTrainedSmootherIsTheOneThatIsUsed) {
  const Dataset data = motion_data(2, {90, 700}, 28);
  for (const model::SmootherKind kind :
       {model::SmootherKind::Recurrent, model::SmootherKind::Recursive,
        model::SmootherKind::RecursiveAlternative}) {
    const Model model = with_smoother(test::network_case(2, 29), kind);
    const std::string method = kind == model::SmootherKind::Recurrent ? "recurrent" : "recursive";
    const Estimates smoothed = model.smooth(data, 1, {method});
    expect_same_bits(smoothed, model.smooth(data, 2));
    EXPECT_NE(smoothed.series[0].mean, model.smooth(data, 1, {"linearized"}).series[0].mean);
    ASSERT_TRUE(model.leak(data).has_value());
    EXPECT_EQ(message_of<ConfigError>([&] { model.smooth(data, 1, {"fused"}); }),
              "method = \"fused\", but the model has no fused smoother, it has a " +
                  std::string(smoother_name(kind)) + " one; fit it with smoother = fused");
    EXPECT_EQ(message_of<ConfigError>([&] {
                model.smooth(data, 1, {method, 2});
              }),
              "iterations = 2, but only the linearized smoother is iterated");
  }
}

// Networks of a recurrent smoother put out the state without the map; others start from it.
TEST(Model, KnowsWhatSmoothsByTheMap) {
  const Model fused = with_smoother(test::network_case(2, 29), model::SmootherKind::Fused);
  EXPECT_TRUE(fused.smooths_by_map());
  const Model recursive = with_smoother(test::network_case(2, 29), model::SmootherKind::Recursive);
  EXPECT_TRUE(recursive.smooths_by_map({"recursive"}));
  const Model recurrent = with_smoother(test::network_case(2, 29), model::SmootherKind::Recurrent);
  EXPECT_FALSE(recurrent.smooths_by_map());
  EXPECT_FALSE(recurrent.smooths_by_map({"recurrent"}));
  EXPECT_TRUE(recurrent.smooths_by_map({"linearized"}));
  EXPECT_TRUE(recurrent.smooths_by_map({"auto", 2}));
  EXPECT_TRUE(public_model(test::network_case(2, 29)).smooths_by_map());
}

}  // namespace
}  // namespace kalmia
