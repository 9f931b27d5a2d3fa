#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kalmia/error.hpp"
#include "study/whiteness.hpp"

namespace kalmia::study {
namespace {

// Computed with scipy.stats.chi2.sf.
TEST(ChiSquare, HasTheTabulatedTails) {
  struct Golden {
    double value, degrees, tail;
  };
  constexpr Golden kGolden[] = {
      {3.841458820694124, 1, 0.049999999999999892},
      {0.1, 1, 0.75182963404584924},
      {50, 1, 1.5374597944280329e-12},
      {18.307038053275146, 10, 0.050000000000000051},
      {5, 10, 0.89117801891415127},
      {11, 10, 0.35751800242792547},
      {200, 10, 1.6139305336977317e-37},
      {31.41, 20, 0.050005239202315151},
      {1000, 1000, 0.49405285382923964},
      {1100, 1000, 0.014614408126295192},
      {0.001, 3, 0.9999915920809419},
      {1500, 20, 3.9825649431766797e-306},
      {2.5, 0.5, 0.04724670114390913},
  };
  for (const Golden& golden : kGolden)
    EXPECT_NEAR(chi_square_upper_tail(golden.value, golden.degrees) / golden.tail, 1, 1e-12)
        << golden.value << " with " << golden.degrees;
}

// Two degrees: exp(-x/2). One degree: erfc(sqrt(x/2)).
TEST(ChiSquare, HasTheClosedForms) {
  for (double x = 0.01; x < 100; x *= 1.3) {
    EXPECT_NEAR(chi_square_upper_tail(x, 2) / std::exp(-x / 2), 1, 1e-13) << x;
    EXPECT_NEAR(chi_square_upper_tail(x, 1) / std::erfc(std::sqrt(x / 2)), 1, 1e-13) << x;
  }
}

TEST(ChiSquare, KnowsItsEnds) {
  EXPECT_EQ(chi_square_upper_tail(0, 5), 1);
  EXPECT_EQ(chi_square_upper_tail(-3, 5), 1);
  EXPECT_EQ(chi_square_upper_tail(std::numeric_limits<double>::infinity(), 5), 0);
  EXPECT_THROW(chi_square_upper_tail(1, 0), ConfigError);
  EXPECT_THROW(chi_square_upper_tail(1, std::nan("")), ConfigError);
  EXPECT_THROW(chi_square_upper_tail(std::nan(""), 3), ConfigError);
}

}  // namespace
}  // namespace kalmia::study
