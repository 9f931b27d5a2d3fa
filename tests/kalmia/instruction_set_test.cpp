#include "kalmia/instruction_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#include "kalmia/fit.hpp"
#include "kalmia/model.hpp"
#include "kalmia/simulate.hpp"
#include "lanes/isa.hpp"

namespace kalmia {
namespace {

// Each test leaves the choice as it found it.
class InstructionSet : public ::testing::Test {
 protected:
  void TearDown() override { use_instruction_set(instruction_sets().back()); }

  static Dataset data() {
    SimulateOptions options;
    options.steps = 60;
    options.series = 5;
    return simulate("lorenz", options);
  }

  // A model with networks, in a file: loaded after the choice, as a program should.
  static std::string model_file() {
    const std::string path =
        (std::filesystem::path(::testing::TempDir()) / "kalmia_instruction_set.kalmia").string();
    FitOptions options;
    options.model.effort = "quick";
    options.model.prior = "lorenz";
    options.model.noise = "0.5";
    options.model.hidden = 20;
    options.train.updates = 5;
    fit(data(), options).model.save(path);
    return path;
  }
};

TEST_F(InstructionSet, PortableIsAlwaysThereAndTheLastOneIsInUse) {
  ASSERT_FALSE(instruction_sets().empty());
  EXPECT_EQ(instruction_sets().front(), "portable");
  EXPECT_EQ(instruction_set(), instruction_sets().back());
}

TEST_F(InstructionSet, IsTheOneThatTheKernelsUse) {
  for (const std::string& name : instruction_sets()) {
    use_instruction_set(name);
    EXPECT_EQ(instruction_set(), name);
    EXPECT_EQ(lanes::isa_name(lanes::current_isa()), name);
  }
}

TEST_F(InstructionSet, ANameThatIsNoneIsRefusedWithThoseThatExist) {
  const std::string before = instruction_set();
  for (const char* name : {"", "sse9", "AVX2"}) {
    try {
      use_instruction_set(name);
      FAIL() << "no exception for \"" << name << "\"";
    } catch (const ConfigError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find('"' + std::string(name) + '"'), std::string::npos) << text;
      EXPECT_NE(text.find("portable, avx2, avx512"), std::string::npos) << text;
    }
  }
  EXPECT_EQ(instruction_set(), before);
}

TEST_F(InstructionSet, WhatIsMissingIsRefusedWithWhatThereIs) {
  const std::vector<std::string> there = instruction_sets();
  for (const char* name : {"avx2", "avx512"}) {
    if (std::find(there.begin(), there.end(), name) != there.end()) continue;
    try {
      use_instruction_set(name);
      FAIL() << "no exception for " << name;
    } catch (const ConfigError& error) {
      EXPECT_NE(std::string(error.what()).find("there is portable"), std::string::npos)
          << error.what();
    }
  }
}

// Networks compute in float: a difference of more than a thousand roundings is no last bit.
TEST_F(InstructionSet, ChangesTheLastBitsAlone) {
  const std::string path = model_file();
  const Estimates best = Model::load(path).smooth(data());
  for (const std::string& name : instruction_sets()) {
    SCOPED_TRACE(name);
    use_instruction_set(name);
    const Estimates chosen = Model::load(path).smooth(data());
    lanes::force_isa(lanes::isa_from_name(name));
    const Estimates forced = Model::load(path).smooth(data());
    ASSERT_EQ(chosen.series.size(), best.series.size());
    for (std::size_t s = 0; s < best.series.size(); ++s) {
      EXPECT_EQ(chosen.series[s].mean, forced.series[s].mean);
      EXPECT_EQ(chosen.series[s].covariance, forced.series[s].covariance);
      for (std::size_t i = 0; i < best.series[s].mean.size(); ++i)
        ASSERT_NEAR(chosen.series[s].mean[i], best.series[s].mean[i],
                    1000 * 6e-8 * std::max(1.0, std::abs(best.series[s].mean[i])));
    }
    if (name == instruction_sets().back()) {
      EXPECT_EQ(chosen.series[0].mean, best.series[0].mean);
    }
  }
  std::filesystem::remove(path);
}

// Weights lie in memory as one instruction set reads them: with another one a model gives its
// estimates or says why not, but never others.
TEST_F(InstructionSet, AModelOfBeforeIsRefusedOrStillRight) {
  if (instruction_sets().size() < 2) GTEST_SKIP() << "this machine has one instruction set";
  const std::string path = model_file();
  const Model model = Model::load(path);
  const Estimates before = model.filter(data());
  int refused = 0;
  for (const std::string& name : instruction_sets()) {
    SCOPED_TRACE(name);
    use_instruction_set(name);
    try {
      const Estimates after = model.filter(data());
      for (std::size_t i = 0; i < before.series[0].mean.size(); ++i)
        ASSERT_NEAR(after.series[0].mean[i], before.series[0].mean[i],
                    1000 * 6e-8 * std::max(1.0, std::abs(before.series[0].mean[i])));
    } catch (const ConfigError& error) {
      ++refused;
      EXPECT_NE(std::string(error.what()).find("another instruction set"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_GT(refused, 0);
  use_instruction_set(instruction_sets().back());
  EXPECT_EQ(model.filter(data()).series[0].mean, before.series[0].mean);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace kalmia
