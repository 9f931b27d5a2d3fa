#include "kalmia/version.hpp"

#include <gtest/gtest.h>

namespace kalmia {
namespace {

TEST(Version, IsTheOneOfTheBuildSystem) {
  EXPECT_EQ(kVersionMajor, KALMIA_CMAKE_MAJOR);
  EXPECT_EQ(kVersionMinor, KALMIA_CMAKE_MINOR);
  EXPECT_EQ(kVersionPatch, KALMIA_CMAKE_PATCH);
  EXPECT_STREQ(kVersionText, KALMIA_CMAKE_VERSION);
}

}  // namespace
}  // namespace kalmia
