// Model files of every version that is read give what they gave when they were written.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>

#include "kalmia/data.hpp"
#include "kalmia/model.hpp"

namespace kalmia {
namespace {

const std::string kFiles = KALMIA_TEST_FILES "/";

// Estimates of one series against a file of them: means and deviations by columns. Networks in
// float round differently from one instruction set to another.
void expect_estimates(const Estimates& found, const std::string& file) {
  DataOptions columns;
  for (const std::string& name : found.state_names) {
    columns.measure.push_back(name);
    columns.measure.push_back(name + "_std");
  }
  const Dataset expected = read_dataset(kFiles + file, columns);
  const auto N = found.state_names.size();
  const StateEstimates& series = found.series.at(0);
  ASSERT_EQ(expected.series.at(0).steps, series.steps);
  for (std::size_t n = 0; n < N; ++n)
    for (int k = 0; k < series.steps; ++k) {
      const double* row = expected.series[0].y.data() + 2 * (static_cast<std::size_t>(k) * N + n);
      const auto at = static_cast<std::size_t>(k) * N + n;
      const double std = std::sqrt(series.covariance[at * N + n]);
      EXPECT_NEAR(series.mean[at], row[0], 1e-4 * row[1]) << file << ", step " << k;
      EXPECT_NEAR(std, row[1], 1e-4 * row[1]) << file << ", step " << k;
    }
}

struct Kept {
  const char* name;
  const char* data;
};

void PrintTo(const Kept& kept, std::ostream* out) { *out << kept.name; }

class ModelVersions : public testing::TestWithParam<Kept> {};

TEST_P(ModelVersions, GiveWhatTheyGave) {
  const std::string name = GetParam().name;
  const Model model = Model::load(kFiles + name + ".kalmia");
  const Dataset data = read_dataset(kFiles + GetParam().data, model.data_options());
  expect_estimates(model.measured(model.filter(data, 1)), name + "_filter.csv");
  expect_estimates(model.measured(model.smooth(data, 1)), name + "_smooth.csv");
}

INSTANTIATE_TEST_SUITE_P(Kept, ModelVersions,
                         testing::Values(Kept{"version_6_static", "lorenz.csv"},
                                         Kept{"version_6_ensemble", "lorenz.csv"},
                                         Kept{"version_6_recurrent", "sinusoids.csv"},
                                         Kept{"version_7_calibrated", "lorenz_gaps.csv"}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace kalmia
