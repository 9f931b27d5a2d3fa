#include "model/filters.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kalmia/error.hpp"

namespace kalmia::model {
namespace {

TEST(Filters, NamesAndHeadsGoTogether) {
  ASSERT_GE(filter_table().size(), 2u);
  for (const FilterEntry& entry : filter_table()) {
    EXPECT_EQ(filter_of_name(std::string(entry.name)), entry.head);
    EXPECT_EQ(filter_name(entry.head), entry.name);
  }
  EXPECT_EQ(filter_of_name("recursive"), heads::HeadKind::Recursion);
  EXPECT_EQ(filter_of_name("recurrent"), heads::HeadKind::Direct);
}

TEST(Filters, WhatIsNoFilterIsRefused) {
  EXPECT_THROW(filter_name(heads::HeadKind::Fusion), ConfigError);
  try {
    filter_of_name("kalman");
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("filter = \"kalman\", but it must be recursive"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace kalmia::model
