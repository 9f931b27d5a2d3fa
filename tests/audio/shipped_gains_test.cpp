#include "audio/shipped_gains.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kalmia::test {
namespace {

TEST(ShippedGains, AreForSpeechAt16000Samples) {
  const auto model = audio::shipped_gains();
  EXPECT_EQ(model->sizes().window, 512);
  double sum = 0;
  for (const float p : model->parameters()) sum += std::abs(p);
  EXPECT_GT(sum, 0);
}

}  // namespace
}  // namespace kalmia::test
