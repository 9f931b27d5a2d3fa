#include "kalmia/reproduce.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/scratch_folder.hpp"

namespace kalmia {
namespace {

ReproduceOptions small_run() {
  ReproduceOptions options;
  options.experiment = "linear";
  options.sizes = {256, 64};
  options.seeds = 2;
  options.methods = {"raw", "kalman-first-order", "kalman-optimal"};
  options.validation = 128;
  options.test = 512;
  options.threads = 2;
  return options;
}

std::string file_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Reproduce, GivesARowForEveryMethodSizeAndSeed) {
  const Reproduction result = reproduce(small_run());
  EXPECT_TRUE(result.complete);
  ASSERT_EQ(result.rows.size(), 12u);
  EXPECT_EQ(result.rows[0].method, "raw");
  EXPECT_EQ(result.rows[0].n, 64);
  EXPECT_EQ(result.rows[3].n, 256);
  EXPECT_EQ(result.rows[3].seed, 2u);
  EXPECT_EQ(result.rows[11].method, "kalman-optimal");
  EXPECT_EQ(result.summary.size(), 6u);
  ASSERT_TRUE(result.smoother_check);
  EXPECT_LT(result.smoother_check->mean_difference, 1e-9);
  // Noisy, truth, and two methods.
  ASSERT_EQ(result.trajectories.size(), 4u);
  for (const ReproduceTrajectory& each : result.trajectories)
    EXPECT_EQ(each.values.size(), 800u) << each.name;
}

TEST(Reproduce, AFolderKeepsEverythingAndNothingIsRunTwice) {
  const ScratchFolder folder;
  ReproduceOptions options = small_run();
  options.out = folder.file("deep/results");
  const Reproduction first = reproduce(options);
  EXPECT_EQ(first.resumed, 0);
  const std::string rows = file_text(options.out + "/rows.csv");
  EXPECT_EQ(rows, first.to_csv());
  const Reproduction again = reproduce(options);
  EXPECT_EQ(again.resumed, 8);
  EXPECT_EQ(again.to_csv(), rows);
  EXPECT_EQ(file_text(options.out + "/trajectories.csv").substr(0, 40),
            "step,noisy_y1,noisy_y2,truth_y1,truth_y2");
  const auto json = nlohmann::json::parse(file_text(options.out + "/rows.json"));
  EXPECT_EQ(json["rows"].size(), 12u);
  // Begun anew, with the same figures.
  options.fresh = true;
  EXPECT_EQ(reproduce(options).resumed, 0);
}

TEST(Reproduce, AFolderOfAnotherExperimentIsRefused) {
  const ScratchFolder folder;
  ReproduceOptions options = small_run();
  options.out = folder.file("results");
  options.methods = {"raw"};
  (void)reproduce(options);
  options.experiment = "lorenz";
  EXPECT_THROW((void)reproduce(options), ConfigError);
  EXPECT_NE(file_text(options.out + "/rows.csv").find("raw"), std::string::npos);
}

TEST(Reproduce, CanBeStoppedOnTheWay) {
  const Reproduction result =
      reproduce(small_run(), [](const ReproduceProgress& now) { return now.finished < 3; });
  EXPECT_FALSE(result.complete);
  EXPECT_LT(result.rows.size(), 12u);
  EXPECT_NE(result.to_text().find("stopped on the way"), std::string::npos);
}

TEST(ReproduceOptions, FillInThePapersSizes) {
  ReproduceOptions options;
  options.experiment = "lorenz";
  ReproduceOptions full = options.resolved();
  EXPECT_EQ(full.sizes, (std::vector<int>{128, 512, 2048, 8192, 32768, 131072}));
  EXPECT_EQ(full.seeds, 3);
  EXPECT_EQ(full.validation, 16384);
  EXPECT_EQ(full.test, 32768);
  options.experiment = "linear";
  EXPECT_EQ(options.resolved().seeds, 5);
  options.quick = true;
  EXPECT_EQ(options.resolved().seeds, 1);
  options.seeds = 2;
  EXPECT_EQ(options.resolved().seeds, 2);
}

TEST(ReproduceOptions, QuickRunsLeaveOutWhatIsSlowUnlessItIsNamed) {
  ReproduceOptions options;
  options.experiment = "lorenz";
  EXPECT_TRUE(options.resolved().methods.empty());
  options.quick = true;
  const std::vector<std::string> quick = options.resolved().methods;
  EXPECT_EQ(quick.size() + 1, reproduce_methods("lorenz").size());
  EXPECT_EQ(std::ranges::count(quick, "polynomial-fused"), 0);
  options.methods = {"polynomial-fused"};
  EXPECT_EQ(options.resolved().methods, options.methods);
}

TEST(ReproduceOptions, AllThatIsWrongIsNamed) {
  ReproduceOptions options = small_run();
  options.sizes = {5, 200000};
  options.test = 3;
  options.threads = -1;
  try {
    (void)options.resolved();
    FAIL();
  } catch (const ConfigError& e) {
    const std::string text = e.what();
    for (const char* part : {"sizes = 5,", "sizes = 200000,", "test = 3,", "threads = -1,"})
      EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  options = small_run();
  options.methods = {"kalman-optimum"};
  EXPECT_THROW((void)options.resolved(), ConfigError);
  options = small_run();
  options.experiment = "audio";
  EXPECT_THROW((void)options.resolved(), ConfigError);
}

}  // namespace
}  // namespace kalmia
