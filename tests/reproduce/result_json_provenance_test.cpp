#include <gtest/gtest.h>

#include "kalmia/instruction_set.hpp"
#include "kalmia/version.hpp"
#include "reproduce/result_json.hpp"

namespace kalmia::reproduction {
namespace {

TEST(Provenance, ABuildIsItsVersionCompilerAndInstructionSet) {
  const Json build = build_json();
  EXPECT_EQ(build["version"], kVersionText);
  EXPECT_FALSE(build["compiler"].get<std::string>().empty());
  for (const std::string& name : instruction_sets()) {
    use_instruction_set(name);
    EXPECT_EQ(build_json()["instruction_set"], name);
  }
}

TEST(Provenance, AJournalsKindIsWhatItsCellsHaveInCommon) {
  ReproduceOptions a;
  a.experiment = "linear";
  a.sizes = {128};
  a.seeds = 1;
  a.threads = 2;
  ReproduceOptions b = a;
  b.sizes = {512};
  b.seeds = 4;
  b.threads = 1;
  b.methods = {"raw"};
  EXPECT_EQ(journal_kind(a), journal_kind(b));
  b.test = 77;
  EXPECT_NE(journal_kind(a), journal_kind(b));
}

TEST(Provenance, TimeIsInUtc) {
  const std::string now = utc_now();
  ASSERT_EQ(now.size(), 20u);
  EXPECT_EQ(now[10], 'T');
  EXPECT_EQ(now.back(), 'Z');
}

}  // namespace
}  // namespace kalmia::reproduction
