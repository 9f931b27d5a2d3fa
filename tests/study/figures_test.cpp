// The figures of docs/figures.md on a small scale: what the models reach, learned from noisy data
// alone. Bounds leave room for the chance of 16,384 steps, no more.
#include <gtest/gtest.h>

#include "kalmia/evaluate.hpp"
#include "kalmia/fit.hpp"
#include "kalmia/simulate.hpp"

namespace kalmia {
namespace {

constexpr int kTraining = 16384, kTest = 8192;

Dataset simulated(const std::string& system, int steps, std::uint64_t seed,
                  const SpoilOptions& spoiling = {}) {
  SimulateOptions options;
  options.steps = steps;
  options.seed = seed;
  Dataset data = simulate(system, options);
  spoil(data, spoiling, seed);
  return data;
}

FitOptions without_networks(const std::string& prior) {
  FitOptions options;
  options.model.effort = "quick";
  options.model.prior = prior;
  options.model.noise = "0.5";
  options.model.hidden = 0;
  return options;
}

FitOptions lorenz_flow() {
  FitOptions options = without_networks("lorenz");
  options.model.integration.flow = "rk4";
  options.model.integration.substeps = 2;
  return options;
}

// Its constants are learned, from 20 % off.
FitOptions lorenz_equations() {
  FitOptions options = without_networks("system");
  System& s = options.model.system;
  s.states = {"x", "y", "z"};
  s.integration.substeps = 2;
  s.parameters = {{"sigma", 8, true}, {"rho", 33.6, true}, {"beta", 2.1333, true}};
  s.ode = {{"x", "sigma*(y - x)"}, {"y", "x*(rho - z) - y"}, {"z", "x*y - beta*z"}};
  s.measure = {{"y1", "x"}, {"y2", "y"}, {"y3", "z"}};
  return options;
}

Evaluation reached(const FitOptions& options, const Dataset& training, const Dataset& test,
                   int iterations = 0, int horizon = 0) {
  EvaluateOptions scoring;
  scoring.smoothing.iterations = iterations;
  scoring.horizon = horizon;
  return evaluate(fit(training, options).model, test, scoring);
}

void expect_covers(std::optional<double> share) {
  ASSERT_TRUE(share);
  EXPECT_GT(*share, 0.93);
  EXPECT_LT(*share, 0.98);
}

TEST(Figures, LinearSystemWithItsFirstOrderMap) {
  const Evaluation e = reached(without_networks("linear-motion"), simulated("linear", kTraining, 1),
                               simulated("linear", kTest, 2));
  EXPECT_LT(*e.state_mse_filtered, 0.175);
  EXPECT_LT(*e.mse_filtered, 0.185);
}

// So little data that no process noise at all would be the most likely: filters that believe it are
// lost for good, sooner or later.
TEST(Figures, LittleDataStillHaveProcessNoise) {
  const Dataset test = simulated("lorenz", kTest, 99);
  for (const std::uint64_t seed : {1, 5, 15, 16}) {
    SCOPED_TRACE(seed);
    const Dataset training = simulated("lorenz", 128, seed);
    EXPECT_LT(*reached(lorenz_flow(), training, test).state_mse_filtered, 0.02);
    EXPECT_LT(*reached(lorenz_equations(), training, test).state_mse_filtered, 0.02);
  }
}

// The process noise of states that are not measured takes more data to be learned.
TEST(Figures, LinearSystemWithItsFlowIsAsGoodAsCanBe) {
  FitOptions options = without_networks("linear-motion");
  options.model.integration.order = 12;
  options.model.departure = 0;
  const Evaluation e = reached(options, simulated("linear", 4 * kTraining, 1),
                               simulated("linear", 4 * kTest, 2), 0, 10);
  EXPECT_LT(*e.state_mse_filtered, 0.142);
  expect_covers(e.coverage95_filtered);
  expect_covers(e.coverage95);
  for (const ForecastScore& each : e.forecasts) EXPECT_NEAR(*each.coverage95, 0.95, 0.06);
}

TEST(Figures, LorenzWithItsFlow) {
  const Dataset training = simulated("lorenz", kTraining, 1), test = simulated("lorenz", kTest, 2);
  const Evaluation once = reached(lorenz_flow(), training, test, 0, 10);
  EXPECT_LT(*once.state_mse_filtered, 0.0095);
  EXPECT_LT(*once.state_mse_smoothed, 0.0012);
  expect_covers(once.coverage95_filtered);
  expect_covers(once.coverage95);
  for (const ForecastScore& each : once.forecasts) EXPECT_GT(*each.coverage95, 0.90);
  const Evaluation iterated = reached(lorenz_flow(), training, test, 20);
  EXPECT_LT(*iterated.state_mse_smoothed, 0.0006);
}

TEST(Figures, LorenzWithThePapersMapAndALearnedPolynomial) {
  FitOptions options = without_networks("lorenz");
  options.model.departure_degree = 3;
  const Evaluation e =
      reached(options, simulated("lorenz", kTraining, 1), simulated("lorenz", kTest, 2));
  EXPECT_LT(*e.state_mse_filtered, 0.0135);
  EXPECT_LT(*e.state_mse_smoothed, 0.0115);
}

TEST(Figures, LorenzFromAThousandSteps) {
  FitOptions options = without_networks("lorenz");
  options.model.departure_degree = 3;
  const Evaluation e =
      reached(options, simulated("lorenz", 1000, 1), simulated("lorenz", kTest, 2));
  EXPECT_LT(*e.state_mse_filtered, 0.035);
}

TEST(Figures, ConstantsOfLorenzFromAFifthOff) {
  const FitResult fitted = fit(simulated("lorenz", kTraining, 1), lorenz_equations());
  const double truth[] = {10, 28, 8.0 / 3};
  ASSERT_EQ(fitted.summary.static_model.parameters.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_NEAR(fitted.summary.static_model.parameters[i].value / truth[i], 1, 0.01)
        << fitted.summary.static_model.parameters[i].name;
  const Evaluation e = evaluate(fitted.model, simulated("lorenz", kTest, 2));
  EXPECT_LT(*e.state_mse_filtered, 1.2 * 0.0095);
  EXPECT_LT(*e.state_mse_smoothed, 1.2 * 0.0012);
}

TEST(Figures, LorenzWithAThirdOfTheValuesMissing) {
  SpoilOptions spoiling;
  spoiling.missing = 0.3;
  const Evaluation e = reached(lorenz_flow(), simulated("lorenz", kTraining, 1, spoiling),
                               simulated("lorenz", kTest, 2, spoiling));
  EXPECT_LT(*e.state_mse_smoothed, 0.004);
}

TEST(Figures, OutliersCostLittle) {
  FitOptions options = lorenz_flow();
  options.model.tails = "4";
  SpoilOptions spoiling;
  spoiling.outliers = 0.05;
  spoiling.outlier_size = 1.2;
  const Evaluation clean =
      reached(options, simulated("lorenz", kTraining, 1), simulated("lorenz", kTest, 2));
  const Evaluation spoilt = reached(options, simulated("lorenz", kTraining, 1, spoiling),
                                    simulated("lorenz", kTest, 2, spoiling));
  EXPECT_GT(*spoilt.mse_raw, 3);
  EXPECT_LT(*spoilt.state_mse_smoothed, 1.5 * *clean.state_mse_smoothed);
}

}  // namespace
}  // namespace kalmia
