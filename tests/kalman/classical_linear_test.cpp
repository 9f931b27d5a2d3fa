// kalman_filter and rts_smoother against the reference and the dense joint posterior.
#include <gtest/gtest.h>

#include "kalman/classical_cases.hpp"
#include "lanes/isa.hpp"

namespace kalmia::test {
namespace {

class ClassicalLinear : public testing::Test {
 protected:
  void TearDown() override { lanes::use_best_isa(); }
};

TEST_F(ClassicalLinear, MatchesReferenceForAnyNumberOfSeriesLengthsAndMissingData) {
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    for (const int series : {1, 7, 8, 9, 17})
      for (const auto& [N, M] : {std::pair{1, 1}, {3, 2}, {6, 2}, {5, 3}}) {
        SCOPED_TRACE(std::string(lanes::isa_name(isa)) + ", " + std::to_string(series) +
                     " series, N = " + std::to_string(N));
        const reference::DenseSystem system = random_system(N, M, 41);
        Data data(series, 12, M, 0.25, static_cast<std::uint64_t>(series));
        if (series > 1) data.vary_lengths();
        const FilterResult result = rts_smoother(linear_model(system), data.view());
        for (int s = 0; s < series; ++s) {
          reference::Run run = reference::filter(reference_system(system), data.one(s));
          reference::smooth(run);
          expect_run(result, s, run);
        }
        expect_same_bits(kalman_filter(linear_model(system), data.view()), [&] {
          FilterResult filtered = rts_smoother(linear_model(system), data.view());
          filtered.smoothed = {};
          return filtered;
        }());
      }
  }
}

TEST_F(ClassicalLinear, AgreesWithDenseJointPosterior) {
  const reference::DenseSystem system = random_system(3, 2, 42);
  const Data data(3, 8, 2, 0.3, 43);
  const FilterResult result = rts_smoother(linear_model(system), data.view());
  for (int s = 0; s < data.series; ++s) {
    const std::vector<Vector> y = data.one(s);
    expect_moments("filtered", result.filtered, result, s, reference::joint_filtered(system, y),
                   1e-10);
    const std::vector<reference::Gaussian> smoothed = reference::joint_smoothed(system, y);
    expect_moments("smoothed", result.smoothed, result, s, smoothed, 1e-10);
    EXPECT_NEAR(result.log_likelihood[static_cast<std::size_t>(s)],
                reference::joint_log_likelihood(system, y), 1e-9);
    // Smoothing changed something.
    EXPECT_GT(difference(row_of(result.filtered.mean, result, s, 0, 3, 1), smoothed[0].mean), 0.01);
  }
}

// Long enough to settle, with gaps that unsettle single series: steady state must not show.
TEST_F(ClassicalLinear, SettledCovariancesMatchReference) {
  const reference::DenseSystem system = random_system(4, 2, 44);
  for (const lanes::Isa isa : lanes::available_isas()) {
    lanes::force_isa(isa);
    Data data(9, 300, 2, 0, 45);
    data.lengths.assign(9, 300);
    data.lengths[2] = 150;
    for (int k = 120; k < 125; ++k) data.at(3, k, 1) = std::numeric_limits<double>::quiet_NaN();
    data.at(8, 0, 0) = std::numeric_limits<double>::quiet_NaN();
    const FilterResult result = rts_smoother(linear_model(system), data.view());
    // It did settle, left when data were missing, and came back.
    const auto settled = [&](int s, int k) {
      return row_of(result.predicted.covariance, result, s, k, 4, 4) ==
             row_of(result.predicted.covariance, result, s, k + 1, 4, 4);
    };
    EXPECT_FALSE(settled(0, 1));
    EXPECT_TRUE(settled(0, 110));
    EXPECT_TRUE(settled(3, 110));
    EXPECT_FALSE(settled(3, 122));
    EXPECT_TRUE(settled(0, 122));
    EXPECT_TRUE(settled(3, 250));
    for (int s = 0; s < data.series; ++s) {
      reference::Run run = reference::filter(reference_system(system), data.one(s));
      reference::smooth(run);
      expect_run(result, s, run, 1e-10);
    }
  }
}

// Not one bit may depend on threads or on the company a series runs in.
TEST_F(ClassicalLinear, BitsDependNeitherOnThreadsNorOnCompany) {
  const reference::DenseSystem system = random_system(4, 2, 46);
  Data data(19, 200, 2, 0.01, 47);
  data.vary_lengths();
  const LinearModel model = linear_model(system);
  const FilterResult all = rts_smoother(model, data.view());
  for (const int threads : {2, 3, 0}) {
    FilterOptions options;
    options.threads = threads;
    expect_same_bits(rts_smoother(model, data.view(), options), all);
  }
  for (int s = 0; s < data.series; ++s) {
    const MeasurementsView alone{data.values.data() + s * 200 * 2, 1, data.length(s), 2, {}};
    const FilterResult one = rts_smoother(model, alone);
    EXPECT_EQ(one.log_likelihood[0], all.log_likelihood[static_cast<std::size_t>(s)]);
    for (int k = 0; k < data.length(s); ++k) {
      ASSERT_EQ(row_of(one.filtered.covariance, one, 0, k, 4, 4),
                row_of(all.filtered.covariance, all, s, k, 4, 4))
          << "series " << s << " step " << k;
      ASSERT_EQ(row_of(one.smoothed.mean, one, 0, k, 4, 1),
                row_of(all.smoothed.mean, all, s, k, 4, 1));
      ASSERT_EQ(row_of(one.smoothed.covariance, one, 0, k, 4, 4),
                row_of(all.smoothed.covariance, all, s, k, 4, 4));
    }
  }
}

// The design's trap: P - K H P fails here after 370 steps.
TEST_F(ClassicalLinear, LongRunOfTheLinearExperimentKeepsCovariances) {
  const reference::DenseSystem system = linear_experiment();
  Data data(2, 4000, 2, 0, 48);
  for (int k = 0; k < 4000; k += 3)  // the second series never settles
    data.at(1, k, k % 2) = std::numeric_limits<double>::quiet_NaN();
  const FilterResult result = rts_smoother(linear_model(system), data.view());
  for (int s = 0; s < 2; ++s)
    for (int k = 0; k < 4000; ++k)
      for (const Moments* moments : {&result.predicted, &result.filtered, &result.smoothed}) {
        const Matrix P = row_of(moments->covariance, result, s, k, 6, 6);
        ASSERT_EQ(P, P.transpose()) << "step " << k;
        const Vector eigenvalues =
            Eigen::SelfAdjointEigenSolver<Matrix>(P, Eigen::EigenvaluesOnly).eigenvalues();
        ASSERT_GT(eigenvalues(0), 0) << "step " << k;
        ASSERT_LT(eigenvalues(5), 10) << "step " << k;
      }
}

TEST_F(ClassicalLinear, ASeriesWithoutAnyMeasurementIsPredictedOnly) {
  const reference::DenseSystem system = random_system(3, 1, 49);
  const Data data(3, 20, 1, 1.1, 50);
  const FilterResult result = rts_smoother(linear_model(system), data.view());
  EXPECT_EQ(result.log_likelihood, std::vector<double>(3, 0.0));
  for (int s = 0; s < 3; ++s) {
    reference::Run run = reference::filter(reference_system(system), data.one(s));
    reference::smooth(run);
    expect_run(result, s, run, 1e-10);
  }
}

// States without noise make P_pred singular, which the smoother must take.
TEST_F(ClassicalLinear, SmoothsSystemsWithNoiselessStates) {
  reference::DenseSystem system = random_system(2, 1, 51);
  system.F << 0.5, 0.4, 1, 0;  // an AR(2) process in companion form
  system.Q << 0.7, 0, 0, 0;
  system.e.setZero();
  system.H << 1, 0;
  const Data data(1, 15, 1, 0.2, 52);
  system.initial = {Vector::Zero(2), Matrix::Zero(2, 2)};
  const FilterResult singular = rts_smoother(linear_model(system), data.view());
  // The limit of systems with a little noise.
  system.initial.cov = 1e-9 * Matrix::Identity(2, 2);
  system.Q(1, 1) = 1e-9;
  expect_moments("smoothed", singular.smoothed, singular, 0,
                 reference::joint_smoothed(system, data.one(0)), 1e-6);
}

TEST_F(ClassicalLinear, KeepsOnlyWhatIsAskedFor) {
  const LinearModel model = linear_model(random_system(3, 2, 53));
  const Data data(10, 30, 2, 0.1, 54);
  const FilterResult all = rts_smoother(model, data.view());
  FilterOptions options;
  options.predicted = options.filtered = options.covariances = options.innovations = false;
  const FilterResult likelihood = kalman_filter(model, data.view(), options);
  EXPECT_TRUE(likelihood.predicted.mean.empty() && likelihood.filtered.mean.empty());
  EXPECT_TRUE(likelihood.filtered.covariance.empty() && likelihood.innovations.empty());
  EXPECT_EQ(likelihood.log_likelihood, all.log_likelihood);
  const FilterResult means = rts_smoother(model, data.view(), options);
  EXPECT_TRUE(means.smoothed.covariance.empty() && means.filtered.mean.empty());
  EXPECT_TRUE(same_bits(means.smoothed.mean, all.smoothed.mean));
}

TEST_F(ClassicalLinear, TakesEmptyAndSingleStepSeries) {
  const reference::DenseSystem system = random_system(3, 2, 55);
  const LinearModel model = linear_model(system);
  const FilterResult none = rts_smoother(model, {nullptr, 0, 0, 2, {}});
  EXPECT_TRUE(none.log_likelihood.empty());
  const FilterResult empty = rts_smoother(model, {nullptr, 3, 0, 2, {}});
  EXPECT_EQ(empty.log_likelihood, std::vector<double>(3, 0.0));
  const Data data(2, 1, 2, 0, 56);
  const FilterResult one = rts_smoother(model, data.view());
  for (int s = 0; s < 2; ++s) {
    reference::Run run = reference::filter(reference_system(system), data.one(s));
    reference::smooth(run);
    expect_run(one, s, run);
  }
}

TEST_F(ClassicalLinear, ErrorsNameTheMatrixItsSizeAndTheRule) {
  const Data data(1, 3, 2, 0, 57);
  const LinearModel good = linear_model(random_system(3, 2, 58));
  const auto config = [&](auto change) {
    LinearModel model = good;
    change(model);
    return message_of<ConfigError>([&] { kalman_filter(model, data.view()); });
  };
  EXPECT_EQ(config([](LinearModel& m) { m.F.pop_back(); }),
            "F has 8 entries, but it must have 9 (3 x 3, row-major)");
  EXPECT_EQ(config([](LinearModel& m) { m.e.push_back(0); }),
            "e has 4 entries, but it must have 3 (3 x 1, row-major)");
  EXPECT_EQ(config([](LinearModel& m) { m.Q[4] = -1; }),
            "Q[1,1] = -1, but the diagonal of a covariance must be >= 0");
  EXPECT_NE(config([](LinearModel& m) {
              m.P0 = {1, 2, 0, 2, 1, 0, 0, 0, 1};
            }).find("P0 has the eigenvalue -1"),
            std::string::npos);
  EXPECT_NE(config([](LinearModel& m) { m.R[3] = 0; }).find("R[1,1] = 0, but the diagonal"),
            std::string::npos);
  EXPECT_EQ(config([](LinearModel& m) { m.state_dim = 0; }), "state_dim = 0, but it must be >= 1");
  MeasurementsView view = data.view();
  view.meas_dim = 3;
  EXPECT_EQ(message_of<ConfigError>([&] { kalman_filter(good, view); }),
            "measurements have 3 components, but the model's meas_dim is 2");
  const int lengths[] = {4};
  view = data.view();
  view.lengths = lengths;
  EXPECT_EQ(message_of<ConfigError>([&] { kalman_filter(good, view); }),
            "lengths[0] = 4, but it must be in 0..3");
  FilterOptions options;
  options.threads = -1;
  EXPECT_EQ(message_of<ConfigError>([&] { kalman_filter(good, data.view(), options); }),
            "threads = -1, but it must be in 0..1024 (0: all the machine has)");
}

TEST_F(ClassicalLinear, ErrorsAtRunTimeNameStepAndSeries) {
  Data data(20, 10, 2, 0, 59);
  const LinearModel model = linear_model(random_system(3, 2, 60));
  data.at(17, 4, 1) = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(message_of<DataError>([&] { kalman_filter(model, data.view()); }),
            "step 4, series 17, component 1: the measurement is -inf, but it must be finite, or "
            "NaN if missing");
  // P overflows where there are no data to hold it down.
  LinearModel unstable = model;
  for (double& value : unstable.F) value *= 1e60;
  Data gap(20, 10, 2, 0, 61);
  for (int k = 0; k < 10; ++k)
    for (int m = 0; m < 2; ++m)
      if (k > 0 && k < 5) gap.at(13, k, m) = std::numeric_limits<double>::quiet_NaN();
  const std::string message =
      message_of<NumericalError>([&] { kalman_filter(unstable, gap.view()); });
  EXPECT_NE(message.find(": innovation covariance H P H' + R is not positive definite"),
            std::string::npos)
      << message;
}

}  // namespace
}  // namespace kalmia::test
