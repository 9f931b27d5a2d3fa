#include "study/truth.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/scratch_folder.hpp"

namespace kalmia::study {
namespace {

using Names = std::vector<std::string>;
using Values = std::vector<double>;

constexpr double kNoTruth = std::numeric_limits<double>::quiet_NaN();

Dataset truth_data(const Names& names, const Values& row) {
  Dataset data;
  data.source = "track.csv";
  data.x_names = names;
  Series& series = data.series.emplace_back();
  series.steps = 1;
  series.x = row;
  return data;
}

// Channels a and b, states a, a_rate, b.
const Measure kMotion = linear_measure(Values{1, 0, 0, 0, 0, 1}, 2);
const Names kMotionStates = {"a", "a_rate", "b"}, kMotionChannels = {"a", "b"};

// Range and bearing of a place: as many channels as states, none of which they are.
Measure range_and_bearing() {
  Measure measure;
  measure.states = measure.channels = 2;
  measure.measured_state = {-1, -1};
  measure.at = [](const double* x, const double*, double* y, double*) {
    y[0] = std::hypot(x[0], x[1]);
    y[1] = std::atan2(x[1], x[0]);
  };
  return measure;
}
const Names kPlaceStates = {"px", "py"}, kPlaceChannels = {"range", "bearing"};

void expect_values(const Values& found, const Values& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(found[i])) << i;
    else
      EXPECT_DOUBLE_EQ(found[i], expected[i]) << i;
  }
}

Truth place_truth(const Names& names, const Values& row) {
  return truth_by_name(truth_data(names, row), kPlaceStates, kPlaceChannels, range_and_bearing());
}

// The defect: truth of the states of a system with as many channels was scored as the channels'.
TEST(Truth, NamesDecideWhereNumbersCannot) {
  const Truth states = place_truth({"true_py", "true_px"}, {4, 3});
  EXPECT_TRUE(states.states && states.channels);
  expect_values(states.x[0], {3, 4});
  expect_values(states.y[0], {5, std::atan2(4, 3)});
  const Truth channels = place_truth({"true_range", "true_bearing"}, {4, 3});
  EXPECT_TRUE(channels.channels);
  EXPECT_FALSE(channels.states);
  expect_values(channels.y[0], {4, 3});
  expect_values(channels.x[0], {kNoTruth, kNoTruth});
  // Both: each is what it says.
  const Truth both =
      place_truth({"true_range", "true_px", "true_bearing", "true_py"}, {9, 3, 8, 4});
  expect_values(both.x[0], {3, 4});
  expect_values(both.y[0], {9, 8});
  // Columns chosen by --truth may go without the prefix.
  expect_values(place_truth({"px", "py"}, {3, 4}).x[0], {3, 4});
  // One state alone says nothing of the range.
  const Truth one = place_truth({"true_px"}, {3});
  EXPECT_TRUE(one.states);
  EXPECT_FALSE(one.channels);
  expect_values(one.x[0], {3, kNoTruth});
}

TEST(Truth, TakesTheModelsColumnsInItsOrder) {
  const Names names = {"true_speed", "true_b", "true_a", "true_a_rate"};
  const Truth all =
      truth_by_name(truth_data(names, {1, 2, 3, 4}), kMotionStates, kMotionChannels, kMotion);
  EXPECT_TRUE(all.states && all.channels);
  expect_values(all.x[0], {3, 4, 2});
  expect_values(all.y[0], {3, 2});
  // Without the rate only the channels are known: no state beside them.
  const Truth channels = truth_by_name(truth_data({"true_b", "true_a"}, {2, 3}), kMotionStates,
                                       kMotionChannels, kMotion);
  EXPECT_FALSE(channels.states);
  expect_values(channels.y[0], {3, 2});
}

TEST(Truth, ChannelsThatAreAllTheStatesAreBoth) {
  const Measure identity = linear_measure(Values{1, 0, 0, 1}, 2);
  for (const Names& names : {Names{"true_a", "true_b"}, Names{"true_1", "true_2"}}) {
    const Truth truth = truth_by_name(truth_data(names, {3, 2}), {"p", "q"}, {"a", "b"}, identity);
    EXPECT_TRUE(truth.states && truth.channels);
    expect_values(truth.x[0], {3, 2});
    expect_values(truth.y[0], {3, 2});
  }
}

TEST(Truth, WithoutNamesTheNumberDecidesWhereItCan) {
  const auto motion = [](const Values& row) {
    Names names;
    for (std::size_t i = 1; i <= row.size(); ++i) names.push_back("true_" + std::to_string(i));
    return truth_by_name(truth_data(names, row), kMotionStates, kMotionChannels, kMotion);
  };
  EXPECT_FALSE(motion({}).channels);
  EXPECT_FALSE(motion({}).states);
  expect_values(motion({3, 2}).y[0], {3, 2});
  EXPECT_FALSE(motion({3, 2}).states);
  expect_values(motion({3, 4, 2}).x[0], {3, 4, 2});
  expect_values(motion({3, 4, 2}).y[0], {3, 2});
  const std::string message = message_of<DataError>([&] { motion({1, 2, 3, 4}); });
  for (const char* part : {"track.csv", "4 columns", "(a, b)", "(a, a_rate, b)", "--truth"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
}

TEST(Truth, AmbiguityIsAnErrorThatNamesTheOption) {
  EXPECT_EQ(message_of<DataError>([] {
              place_truth({"ref_1", "ref_2"}, {3, 4});
            }),
            "track.csv: the truth has 2 columns (ref_1, ref_2), but none is named true_<column> "
            "after a measured column (range, bearing) or true_<state> after a state (px, py), and "
            "their number does not say which they are; name such columns with --truth");
  // A state with the name of a column that measures something else.
  const std::string message = message_of<DataError>([] {
    truth_by_name(truth_data({"true_range"}, {3}), {"range", "py"}, kPlaceChannels,
                  range_and_bearing());
  });
  for (const char* part : {"true_range", "the measured column range", "the state range", "--truth"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
}

TEST(Truth, InOrderGoesByTheNumberAlone) {
  const Dataset two = truth_data({"a", "b"}, {3, 2});
  expect_values(truth_in_order(two, range_and_bearing()).y[0], {3, 2});
  expect_values(truth_in_order(two, linear_measure(Values{2, 0}, 1)).y[0], {6});
  EXPECT_THROW(truth_in_order(two, linear_measure(Values(18), 3)), DataError);
  EXPECT_FALSE(truth_in_order(truth_data({}, {}), kMotion).channels);
}

TEST(LinearMeasure, KnowsTheStatesThatChannelsAre) {
  EXPECT_EQ(kMotion.measured_state, (std::vector<int>{0, 2}));
  EXPECT_FALSE(kMotion.is_identity());
  EXPECT_EQ(linear_measure(Values{2, 0, 1, 1}, 2).measured_state, (std::vector<int>{-1, -1}));
  EXPECT_TRUE(linear_measure(Values{1, 0, 0, 1}, 2).is_identity());
  EXPECT_FALSE(linear_measure(Values{0, 1, 1, 0}, 2).is_identity());
  double y[1], S[1];
  const double x[] = {3, kNoTruth}, P[] = {4, 1, 1, 9};
  linear_measure(Values{2, 0}, 1).at(x, P, y, S);
  EXPECT_EQ(y[0], 6);
  EXPECT_EQ(S[0], 16);
}

}  // namespace
}  // namespace kalmia::study
