// A figure of every network model: the paper's Lorenz system with its rough map, learned from 4,096
// noisy steps. Bounds are a tenth above the largest of two or more seeds.
#include <gtest/gtest.h>

#include <ostream>

#include "kalmia/evaluate.hpp"
#include "kalmia/fit.hpp"
#include "kalmia/simulate.hpp"

namespace kalmia {
namespace {

Dataset lorenz(int steps, std::uint64_t seed) {
  SimulateOptions options;
  options.steps = steps;
  options.seed = seed;
  return simulate("lorenz", options);
}

struct Kind {
  const char* name;
  const char* filter;
  const char* smoother;
  int members;
  double filtered, smoothed;  // mean square errors at most, where raw measurements have 0.25
  double covered = 0.9;       // share of the truth within smoothed 95 % bars at least
};

void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

class NetworkFigures : public testing::TestWithParam<Kind> {};

INSTANTIATE_TEST_SUITE_P(
    Kinds, NetworkFigures,
    testing::Values(Kind{"Recursive", "recursive", "linearized", 1, 0.0375, 0.0218},
                    Kind{"Recurrent", "recurrent", "linearized", 1, 0.088, 0.088},
                    Kind{"Fused", "recursive", "fused", 1, 0.0375, 0.0314},
                    Kind{"RecurrentSmoother", "recurrent", "recurrent", 1, 0.095, 0.0597, 0.87},
                    Kind{"RecursiveSmoother", "recursive", "recursive", 1, 0.0375, 0.0362},
                    Kind{"AlternativeSmoother", "recursive", "recursive-alternative", 1, 0.0375,
                         0.0352},
                    Kind{"Members", "recursive", "linearized", 2, 0.037, 0.0217}),
    [](const auto& kind) { return kind.param.name; });

FitOptions options_of(const Kind& kind) {
  FitOptions options;
  options.model.effort = "quick";
  options.model.prior = "lorenz";
  options.model.noise = "0.5";
  options.model.filter = kind.filter;
  options.model.smoother = kind.smoother;
  options.model.keep_smoother = options.model.smoother != "linearized";
  options.model.members = kind.members;
  return options;
}

// Covariances as they are computed.
TEST_P(NetworkFigures, LorenzWithThePapersMap) {
  const Kind kind = GetParam();
  FitOptions options = options_of(kind);
  options.model.calibrate = false;
  const FitResult fitted = fit(lorenz(4096, 1), options);
  EXPECT_TRUE(fitted.summary.networks.kept);
  EXPECT_EQ(fitted.summary.has_smoother(), options.model.keep_smoother);
  const Evaluation e = evaluate(fitted.model, lorenz(8192, 2));
  EXPECT_LT(*e.mse_filtered, kind.filtered);
  EXPECT_LT(*e.mse_smoothed, kind.smoothed);
  EXPECT_GT(*e.coverage95, kind.covered);
  EXPECT_LT(*e.coverage95, 0.97);
}

// A smoothed state follows its own measurement by more than its covariance says where networks read
// it, too. Values that are hidden do not show that, and calibration must not take it for a reason
// to make bars narrower.
TEST(NetworkBars, CalibratedOnesAreHonest) {
  const FitResult fitted =
      fit(lorenz(4096, 1), options_of({"Recursive", "recursive", "linearized", 1, 0.0375, 0.0218}));
  EXPECT_FALSE(fitted.summary.calibration.empty());
  const Evaluation e = evaluate(fitted.model, lorenz(8192, 2));
  EXPECT_GT(*e.coverage95, 0.9);
  EXPECT_LT(*e.coverage95, 0.98);
}

}  // namespace
}  // namespace kalmia
