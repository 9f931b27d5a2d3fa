#include "model/smoothers.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kalmia/error.hpp"

namespace kalmia::model {
namespace {

TEST(Smoothers, EveryKindHasOneRowAndANameOfItsOwn) {
  ASSERT_EQ(smoother_table().size(), 4u);
  for (const SmootherEntry& entry : smoother_table()) {
    SCOPED_TRACE(entry.name);
    EXPECT_EQ(&smoother_entry(entry.kind), &entry);
    EXPECT_EQ(find_smoother(std::string(entry.name)), &entry);
    EXPECT_EQ(smoother_of_name(std::string(entry.name)), entry.kind);
    EXPECT_EQ(smoother_name(entry.kind), entry.name);
    EXPECT_TRUE(entry.name.starts_with(entry.method));
  }
}

TEST(Smoothers, TheirNetworksAreValid) {
  for (const SmootherEntry& entry : smoother_table()) {
    SCOPED_TRACE(entry.name);
    heads::ArchitectureOptions options;
    options.state_dim = 2;
    options.meas_dim = options.input_dim = 1;
    entry.set(options);
    EXPECT_NO_THROW(options.validate());
    EXPECT_EQ(options.head, entry.head);
    EXPECT_EQ(options.two_sided, entry.two_sided);
    // What goes from state to state can carry a value to its own prediction.
    EXPECT_EQ(entry.leaks, options.recursive());
  }
}

TEST(Smoothers, AnUnknownNameIsRefusedWithThoseThereAre) {
  EXPECT_EQ(find_smoother("linearized"), nullptr);
  try {
    smoother_of_name("linearized");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_EQ(std::string(error.what()),
              "smoother = \"linearized\", but it must be fused, recurrent, recursive or "
              "recursive-alternative");
  }
}

}  // namespace
}  // namespace kalmia::model
