#include "model/ensemble.hpp"

#include <gtest/gtest.h>

#include "model/learned_cases.hpp"
#include "support/ensembles.hpp"

namespace kalmia::model {
namespace {

TEST(Ensemble, OneMemberAsItComesIsNotCombined) {
  const auto made = test::static_case(1).make<float>();
  Ensemble ensemble = test::ensemble_of(*made);
  EXPECT_FALSE(ensemble.is_combined());
  EXPECT_EQ(&ensemble.first(), made.get());
  EXPECT_EQ(ensemble.trained_smoother(), "");
  ensemble.calibration.emplace();
  EXPECT_TRUE(ensemble.is_combined());
  ensemble.calibration.reset();
  ensemble.members.push_back(ensemble.members.front());
  EXPECT_TRUE(ensemble.is_combined());
}

}  // namespace
}  // namespace kalmia::model
