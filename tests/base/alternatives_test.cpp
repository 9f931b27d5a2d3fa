#include "base/alternatives.hpp"

#include <gtest/gtest.h>

namespace kalmia {
namespace {

struct Entry {
  const char* name;
};

TEST(Alternatives, AreListedAsInASentence) {
  const Entry one[] = {{"a"}}, two[] = {{"a"}, {"b"}}, three[] = {{"a"}, {"b"}, {"c"}};
  EXPECT_EQ(alternatives(one), "a");
  EXPECT_EQ(alternatives(two), "a or b");
  EXPECT_EQ(alternatives(three), "a, b or c");
}

}  // namespace
}  // namespace kalmia
