#include "train/fit_notes.hpp"

#include <gtest/gtest.h>

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

TEST(FitNotes, SaysWhatIsToKnowOfConstants) {
  const auto constant = [](const char* name, double value, ParameterState state) {
    LearnedParameter made;
    made.name = name;
    made.value = value;
    made.state = state;
    return made;
  };
  using State = ParameterState;
  std::vector<LearnedParameter> learned = {
      constant("gravity", 9.8, State::Determined),     constant("damping", 1e-7, State::AtBound),
      constant("share", 0.9999, State::AtBound),       constant("mass", 2, State::NotIdentifiable),
      constant("length", 0.5, State::NotIdentifiable), constant("rate", 4, State::Unknown),
      constant("still", 3, State::DidNotMove)};
  learned[3].together = {"length"};
  EXPECT_EQ(
      constant_notes(learned),
      (Notes{"constants that did not move from where they began: still (3); the data do not show "
             "them, or the search was lost there: begin elsewhere",
             "constants that sit at a bound: damping (1e-07), share (0.9999); the data want them "
             "beyond it, or do not show them",
             "constants that are not identifiable: the data do not tell mass (2) apart from "
             "length, length (0.5); give their values, or measure what depends on them"}));
  for (LearnedParameter& each : learned) each.state = State::Determined;
  EXPECT_TRUE(constant_notes(learned).empty());
}

}  // namespace
}  // namespace kalmia::train
