#include "kalmia/error.hpp"

#include <gtest/gtest.h>

#include <exception>
#include <string>

namespace kalmia {
namespace {

template <typename Thrown>
std::string caught_as_error(const std::string& text) {
  try {
    throw Thrown(text);
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Error, CatchesEveryKindAndKeepsTheText) {
  EXPECT_EQ(caught_as_error<ConfigError>("window = 0"), "window = 0");
  EXPECT_EQ(caught_as_error<DataError>("row 3"), "row 3");
  EXPECT_EQ(caught_as_error<NumericalError>("step 311"), "step 311");
}

TEST(Error, KindsAreDistinct) {
  EXPECT_THROW(
      {
        try {
          throw DataError("row 3");
        } catch (const ConfigError&) {
        } catch (const NumericalError&) {
        }
      },
      DataError);
}

}  // namespace
}  // namespace kalmia
