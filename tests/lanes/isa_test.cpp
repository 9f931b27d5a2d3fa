#include "lanes/isa.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kalmia/error.hpp"

namespace kalmia::lanes {
namespace {

constexpr Isa kAll[] = {Isa::Portable, Isa::Avx2, Isa::Avx512};

// Each test leaves the choice as it found it.
class IsaChoice : public ::testing::Test {
 protected:
  void TearDown() override { use_best_isa(); }
};

TEST_F(IsaChoice, NamesGoThereAndBack) {
  for (const Isa isa : kAll) EXPECT_EQ(isa_from_name(isa_name(isa)), isa);
  EXPECT_EQ(isa_name(Isa::Avx512), "avx512");
}

TEST_F(IsaChoice, AnUnknownNameIsRefusedWithTheNamesThatExist) {
  try {
    isa_from_name("AVX512");
    FAIL() << "no exception";
  } catch (const ConfigError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("\"AVX512\""), std::string::npos) << text;
    for (const Isa isa : kAll) EXPECT_NE(text.find(isa_name(isa)), std::string::npos) << text;
  }
}

TEST_F(IsaChoice, ThePortableOneIsAlwaysThereAndTheListAscends) {
  const std::vector<Isa> isas = available_isas();
  ASSERT_FALSE(isas.empty());
  EXPECT_EQ(isas.front(), Isa::Portable);
  EXPECT_TRUE(std::is_sorted(isas.begin(), isas.end()));
  EXPECT_EQ(std::adjacent_find(isas.begin(), isas.end()), isas.end());
}

TEST_F(IsaChoice, StartsWithTheBest) { EXPECT_EQ(current_isa(), available_isas().back()); }

TEST_F(IsaChoice, ForcingOneDoesNotHideTheOthers) {
  const std::vector<Isa> before = available_isas();
  for (const Isa isa : before) {
    force_isa(isa);
    EXPECT_EQ(current_isa(), isa);
    EXPECT_EQ(available_isas(), before);
  }
  force_isa(Isa::Portable);
  use_best_isa();
  EXPECT_EQ(current_isa(), before.back());
}

TEST_F(IsaChoice, WhatTheMachineLacksIsRefusedAndChangesNothing) {
  const std::vector<Isa> isas = available_isas();
  for (const Isa isa : kAll) {
    if (std::find(isas.begin(), isas.end(), isa) != isas.end()) continue;
    EXPECT_THROW(force_isa(isa), ConfigError);
    EXPECT_EQ(current_isa(), isas.back());
  }
}

}  // namespace
}  // namespace kalmia::lanes
