#include "train/fit_notes.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "train/train_cases.hpp"

namespace kalmia::train {
namespace {

TEST(FitNotes, RowsAtTheEndAndTimeStepsThatDiffer) {
  Dataset data = dataset_of({{1, 2, 3, 4, kMissing}});
  EXPECT_EQ(data_notes(FitData(data, {})),
            (Notes{"1 row without measurements at the end of a series was not used"}));
  data.series.push_back(data.series[0]);
  EXPECT_EQ(data_notes(FitData(data, {})),
            (Notes{"2 rows without measurements at the ends of series were not used"}));
  data = dataset_of({{1, 2, 3, 4}});
  EXPECT_TRUE(data_notes(FitData(data, {})).empty());
  data.time_kind = TimeKind::Number;
  data.series[0].t = {0, 1, 2, 3.25};
  EXPECT_EQ(data_notes(FitData(data, {})),
            (Notes{"time steps differ (median 1, one differs by 0.25)"}));
}

TEST(FitNotes, SaysWhichConstantsDidNotMoveOrSitAtABound) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<Parameter> began = {{"gravity", 10, true, 0, inf},
                                        {"damping", 0.1, true, 0, inf},
                                        {"share", 0.5, true, 0, 1},
                                        {"offset", 0, true, -inf, inf},
                                        {"still", 3, true, -inf, inf}};
  std::vector<Parameter> ended = began;
  ended[0].value = 9.8;
  ended[1].value = 1e-7;
  ended[2].value = 0.9999;
  ended[3].value = 0.01;
  EXPECT_EQ(
      constant_notes(began, ended),
      (Notes{"constants that did not move from where they began: still (3); the data do not show "
             "them, or the search was lost there: begin elsewhere",
             "constants that sit at a bound: damping (1e-07), share (0.9999); the data want them "
             "beyond it, or do not show them"}));
  ended[1].value = 0.02;
  ended[2].value = 0.6;
  ended[4].value = 3.1;
  EXPECT_TRUE(constant_notes(began, ended).empty());
}

}  // namespace
}  // namespace kalmia::train
