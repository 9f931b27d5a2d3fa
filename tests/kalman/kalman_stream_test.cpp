// KalmanStream against kalman_filter.
#include <gtest/gtest.h>

#include "kalman/classical_cases.hpp"

namespace kalmia::test {
namespace {

void expect_bits(std::span<const double> found, const Array& array, int k) {
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double expected = array[static_cast<std::size_t>(k) * found.size() + i];
    ASSERT_TRUE(found[i] == expected || (std::isnan(found[i]) && std::isnan(expected)))
        << "step " << k << " entry " << i << ": " << found[i] << " and " << expected;
  }
}

TEST(KalmanStream, GivesTheBitsOfTheBatchFilter) {
  const LinearModel model = linear_model(random_system(4, 2, 71));
  const Data data(1, 400, 2, 0.005, 72);
  const FilterResult batch = kalman_filter(model, data.view());
  KalmanStream stream(model);
  EXPECT_TRUE(stream.filtered_mean().empty());
  for (int run = 0; run < 2; ++run) {
    double total = 0;
    for (int k = 0; k < 400; ++k) {
      stream.step(std::span(data.values.data() + 2 * k, 2));
      expect_bits(stream.predicted_mean(), batch.predicted.mean, k);
      expect_bits(stream.predicted_covariance(), batch.predicted.covariance, k);
      expect_bits(stream.filtered_mean(), batch.filtered.mean, k);
      expect_bits(stream.filtered_covariance(), batch.filtered.covariance, k);
      expect_bits(stream.innovation(), batch.innovations, k);
      total += stream.last_log_likelihood();
    }
    EXPECT_EQ(stream.steps(), 400u);
    EXPECT_EQ(stream.log_likelihood(), batch.log_likelihood[0]);
    EXPECT_EQ(total, stream.log_likelihood());
    stream.restart();
    EXPECT_EQ(stream.steps(), 0u);
  }
}

TEST(KalmanStream, RefusesWrongAndInfiniteMeasurementsAndGoesOn) {
  const LinearModel model = linear_model(random_system(3, 2, 73));
  const std::vector<double> y = {0.5, -0.5};
  KalmanStream stream(model), undisturbed(model);
  stream.step(y);
  undisturbed.step(y);
  EXPECT_EQ(message_of<ConfigError>([&] { stream.step(std::span(y.data(), 1)); }),
            "y has 1 components, but the model's meas_dim is 2");
  const std::vector<double> infinite = {0.5, std::numeric_limits<double>::infinity()};
  EXPECT_EQ(
      message_of<DataError>([&] { stream.step(infinite); }),
      "step 1, component 1: the measurement is inf, but it must be finite, or NaN if missing");
  stream.step(y);
  undisturbed.step(y);
  EXPECT_EQ(stream.filtered_mean()[0], undisturbed.filtered_mean()[0]);
  EXPECT_EQ(stream.log_likelihood(), undisturbed.log_likelihood());
}

}  // namespace
}  // namespace kalmia::test
