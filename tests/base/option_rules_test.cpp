#include "base/option_rules.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kalmia {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Range, HoldsBetweenItsEnds) {
  const Range closed{.least = 1, .largest = 64};
  EXPECT_TRUE(closed.holds(1) && closed.holds(64));
  EXPECT_FALSE(closed.holds(0) || closed.holds(65));
  const Range open{.least = 0, .largest = 0.5, .end = Range::Least::Excluded};
  EXPECT_TRUE(open.holds(1e-300) && open.holds(0.5));
  EXPECT_FALSE(open.holds(0) || open.holds(0.51));
}

TEST(Range, NumbersAreFiniteWhereThereIsNoEnd) {
  const Range any, upward{.least = 0};
  EXPECT_TRUE(any.holds(-1e300) && any.holds(1e300) && upward.holds(0) && upward.holds(1e300));
  for (const double value : {kInfinity, -kInfinity, std::nan("")})
    EXPECT_FALSE(any.holds(value) || upward.holds(value)) << value;
}

TEST(Range, SaysItsRule) {
  constexpr auto kExcluded = Range::Least::Excluded;
  EXPECT_EQ((Range{.least = 1, .largest = 64}.text()), "in 1..64");
  EXPECT_EQ((Range{.least = 0, .largest = 0.5}.text()), "in 0..0.5");
  EXPECT_EQ((Range{.least = 0, .largest = 0.5, .end = kExcluded}.text()),
            "above 0 and at most 0.5");
  EXPECT_EQ((Range{.least = 0, .end = kExcluded}.text()), "above 0");
  EXPECT_EQ(Range{.least = 0}.text(), ">= 0");
  EXPECT_EQ(Range{.largest = 3}.text(), "<= 3");
  EXPECT_EQ(Range{}.text(), "finite");
  EXPECT_EQ(kThreadsRange.text(), "in 0..1024 (0: all the machine has)");
}

const std::vector<Choice> kThree = {{"recursive", "a"}, {"recurrent", "b"}, {"diagonal", "c"}};

TEST(Choices, AreListedAndGuessed) {
  EXPECT_EQ(alternatives(std::vector<Choice>{{"a", ""}}), "a");
  EXPECT_EQ(alternatives(std::vector<Choice>{{"a", ""}, {"b", ""}}), "a or b");
  EXPECT_EQ(alternatives(kThree), "recursive, recurrent or diagonal");
  EXPECT_EQ(did_you_mean("diagnal", kThree), "; did you mean diagonal?");
  EXPECT_EQ(did_you_mean("smooth", kThree), "");
  EXPECT_EQ(name_rule("recursiv", kThree),
            "recursive, recurrent or diagonal; did you mean recursive?");
}

TEST(Choices, AreTheRowsOfATable) {
  struct Row {
    int number;
    std::string_view name, meaning;
  };
  constexpr Row kRows[] = {{1, "one", "the first"}, {2, "two", ""}};
  const std::vector<Choice> choices = choices_in(std::span<const Row>(kRows));
  ASSERT_EQ(choices.size(), 2u);
  EXPECT_EQ(choices[0].name, "one");
  EXPECT_EQ(choices[0].meaning, "the first");
  EXPECT_EQ(choices[1].name, "two");
}

// Some options, as the public headers have them.
struct Some {
  int count = 3;
  double share = 0.5;
  std::vector<int> widths = {8};
  std::string kind = "recursive";
  bool on = false;
  unsigned seed = 1;
};

std::vector<Choice> three() { return kThree; }

template <typename Options, typename Visitor>
void visit_fields(Options& o, Visitor&& visit) {
  visit("count", o.count, "how many", Range{.least = 1, .largest = 9});
  visit("share", o.share, "how much", Range{.least = 0, .largest = 1, .remark = "0: none"});
  visit("widths", o.widths, "how wide", Range{.least = 1, .largest = 64});
  visit("kind", o.kind, "which", &three);
  visit("on", o.on, "whether");
  visit("seed", o.seed, "of what is random");
}

TEST(OptionRules, ARangeIsFoundByTheNameOfItsRow) {
  EXPECT_EQ(range_of<Some>("count").largest, 9);
  EXPECT_EQ(range_of<Some>("widths").largest, 64);
  EXPECT_EQ(range_of<Some>("seed").largest, Range::kNoEnd);
}

TEST(OptionRules, EveryNumberOutOfItsRangeIsTold) {
  std::vector<std::string> violations;
  add_range_violations(Some{}, "some.", violations);
  EXPECT_TRUE(violations.empty());
  Some wrong;
  wrong.count = 10;
  wrong.share = std::nan("");
  wrong.widths = {0, 8, 65};
  wrong.kind = "no name";  // not a number
  add_range_violations(wrong, "some.", violations);
  EXPECT_EQ(
      violations,
      (std::vector<std::string>{
          "some.count = 10, but it must be in 1..9; left out, it is 3",
          "some.share = nan, but it must be finite and in 0..1 (0: none); left out, it is 0.5",
          "some.widths = 0, but it must be in 1..64",
          "some.widths = 65, but it must be in 1..64"}));
}

}  // namespace
}  // namespace kalmia
